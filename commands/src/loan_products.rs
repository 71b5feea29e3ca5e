//! Defining the products loans are applied for on, and saying what a loan on them would cost.

use bursar_domain::loan_products::{Cost, LoanProduct, LoanProductCommand, LoanProductError, LoanTerms};
use bursar_domain::loans::{Annuity, Household, Instalment, LoanError, NoSchedule, Verdict, assess};

use crate::owned::CommandError;
use crate::products::ensure;
use crate::{Committed, Context, Journal, Unit};

/// What a new bank offers: code and terms, one file each.
const DEFAULTS: [(&str, &str); 3] = [
    ("LN-PER-001", include_str!("loan_products/LN-PER-001.json")),
    ("LN-PER-002", include_str!("loan_products/LN-PER-002.json")),
    ("LN-BUS-001", include_str!("loan_products/LN-BUS-001.json")),
];

/// Puts a product on offer, or changes its terms for applications from now on.
///
/// # Errors
/// `RATE_OUT_OF_RANGE`, `AMOUNT_OUT_OF_RANGE`, `TENURE_OUT_OF_RANGE`.
pub async fn define(
    journal: &Journal,
    context: Context,
    product_id: &str,
    terms: LoanTerms,
) -> Result<Committed, CommandError> {
    let unit = Unit::new(context).step(product_id, LoanProductCommand::Define(Box::new(terms)));
    Ok(journal.submit(unit).await?)
}

/// Staff: puts a new product on offer, or changes one that is there for applications from now on.
///
/// # Errors
/// `PRODUCT_EXISTS` for a new one; `NOT_FOUND` for a change; what [`define`] refuses.
pub async fn put(
    journal: &Journal,
    context: Context,
    product_id: &str,
    command: LoanProductCommand,
) -> Result<Committed, CommandError> {
    Ok(journal.submit(Unit::new(context).step(product_id, command)).await?)
}

/// Defines the default products that nobody has defined yet. Safe to run on every start and on several servers:
/// a product that exists, changed or not, is left alone.
///
/// # Errors
/// When the store cannot be reached.
pub async fn ensure_defaults(journal: &Journal) -> Result<(), CommandError> {
    let defaults = defaults().map(|(id, terms)| (id, LoanProductCommand::Define(Box::new(terms))));
    ensure::<LoanProduct>(journal, defaults).await
}

fn defaults() -> impl Iterator<Item = (&'static str, LoanTerms)> {
    // A test reads every file, so none is ever skipped.
    DEFAULTS.into_iter().filter_map(|(id, json)| Some((id, serde_json::from_str(json).ok()?)))
}

/// The terms of a product; of one that every bank begins with, those that it begins with.
///
/// # Errors
/// When the store cannot be reached.
pub async fn terms_of(journal: &Journal, id: &str) -> Result<Option<LoanTerms>, CommandError> {
    Ok(match journal.load::<LoanProduct>(id).await?.0 {
        LoanProduct::Defined(terms) => Some(terms),
        LoanProduct::Absent => defaults().find(|(default, _)| *default == id).map(|(_, terms)| terms),
    })
}

/// The terms of a product that can be applied for now.
///
/// # Errors
/// `NOT_FOUND` when there is none of this code, or it was withdrawn.
pub async fn on_offer(journal: &Journal, product_id: &str) -> Result<LoanTerms, CommandError> {
    let (product, _) = journal.load::<LoanProduct>(product_id).await?;
    product.on_offer().ok_or_else(|| CommandError::refused(LoanProductError::Unknown))
}

/// What a loan would cost, and whether somebody could afford it.
#[derive(Debug, Clone)]
pub struct Offer {
    /// The product's terms.
    pub terms: LoanTerms,
    /// What it costs.
    pub cost: Cost,
    /// Its instalments.
    pub schedule: Vec<Instalment>,
    /// Whether it would be lent: affordable, and in the product's range.
    pub verdict: Verdict,
}

/// What `amount` over `months` would cost and whether `household` could afford it. Nothing is recorded.
///
/// # Errors
/// `NOT_FOUND` for the product; `TENURE_OUT_OF_RANGE` for what is no loan at all.
pub async fn calculate(
    journal: &Journal,
    product_id: &str,
    amount: i64,
    months: u32,
    household: Household,
) -> Result<Offer, CommandError> {
    let terms = on_offer(journal, product_id).await?;
    let offer = offer(terms, amount, months, household);
    let no_loan =
        |_: NoSchedule| LoanError::TenureOutOfRange { shortest: 1, longest: bursar_domain::loans::LONGEST };
    offer.map_err(|error| CommandError::refused(no_loan(error)))
}

fn offer(terms: LoanTerms, amount: i64, months: u32, household: Household) -> Result<Offer, NoSchedule> {
    let annuity = Annuity::new(terms.interest_rate, months)?;
    let mut verdict = assess(&annuity, terms.range(), household, amount);
    verdict.eligible &= terms.lasts(months);
    if !terms.lasts(months) {
        verdict.eligible_amount = 0;
    }
    Ok(Offer { cost: terms.cost(amount, months)?, schedule: annuity.schedule(amount)?, terms, verdict })
}

#[cfg(test)]
mod tests {
    use bursar_domain::Aggregate as _;

    use super::*;

    #[test]
    fn every_default_can_be_defined() {
        assert_eq!(defaults().count(), DEFAULTS.len());
        for (id, terms) in defaults() {
            let define = LoanProductCommand::Define(Box::new(terms));
            assert!(LoanProduct::Absent.decide(define).is_ok(), "{id}");
        }
    }
}
