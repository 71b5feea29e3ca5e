//! Defining the products accounts are opened on.

use bursar_domain::loan_products::{LoanProduct, LoanProductCommand, LoanTerms};
use bursar_domain::products::{Product, ProductCommand, ProductTerms};
use bursar_domain::{Aggregate, Command, Metadata, Rejection, State};

use crate::keys::due_key;
use crate::owned::CommandError;
use crate::{Committed, Context, Journal, Unit};

/// What a new bank offers: code and terms, one file each.
const DEFAULTS: [(&str, &str); 4] = [
    ("CUR-001", include_str!("products/CUR-001.json")),
    ("CUR-002", include_str!("products/CUR-002.json")),
    ("SAV-001", include_str!("products/SAV-001.json")),
    ("TSV-001", include_str!("products/TSV-001.json")),
];

/// Puts a product on offer, or changes its terms for accounts opened from now on.
///
/// # Errors
/// `RATE_OUT_OF_RANGE`, `LIMIT_OUT_OF_RANGE`.
pub async fn define(
    journal: &Journal,
    context: Context,
    product_id: &str,
    terms: ProductTerms,
) -> Result<Committed, CommandError> {
    let unit = Unit::new(context).step(product_id, ProductCommand::Define(Box::new(terms)));
    Ok(journal.submit(unit).await?)
}

/// Staff: puts a new product on offer, or changes one that is there for accounts opened from now on.
///
/// # Errors
/// `PRODUCT_EXISTS` for a new one; `NOT_FOUND` for a change; `RATE_OUT_OF_RANGE`, `LIMIT_OUT_OF_RANGE`.
pub async fn put(
    journal: &Journal,
    context: Context,
    product_id: &str,
    command: ProductCommand,
) -> Result<Committed, CommandError> {
    Ok(journal.submit(Unit::new(context).step(product_id, command)).await?)
}

/// Products as a file holds them, by code.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    /// Those that accounts are opened on.
    pub accounts: Vec<(String, ProductTerms)>,
    /// Those that loans are applied for on.
    pub loans: Vec<(String, LoanTerms)>,
}

/// Everything that is wrong with the terms of these products: the list, the place in it, and why.
#[must_use]
pub fn faults(products: &Catalogue) -> Vec<(&'static str, usize, Box<dyn Rejection>)> {
    let mut faults: Vec<(&'static str, usize, Box<dyn Rejection>)> = Vec::new();
    for (n, (_, terms)) in products.accounts.iter().enumerate() {
        if let Err(error) = Product::Absent.decide(ProductCommand::Define(Box::new(terms.clone()))) {
            faults.push(("accountProducts", n, Box::new(error)));
        }
    }
    for (n, (_, terms)) in products.loans.iter().enumerate() {
        if let Err(error) = LoanProduct::Absent.decide(LoanProductCommand::Define(Box::new(terms.clone()))) {
            faults.push(("loanProducts", n, Box::new(error)));
        }
    }
    faults
}

/// Defines all of these products or none of them. What is so already is not news; products that are not named stay as they are.
///
/// # Errors
/// The first of [`faults`].
pub async fn import(
    journal: &Journal,
    context: Context,
    products: Catalogue,
) -> Result<Committed, CommandError> {
    let mut unit = Unit::new(context);
    for (id, terms) in products.accounts {
        unit = unit.step(id, ProductCommand::Define(Box::new(terms)));
    }
    for (id, terms) in products.loans {
        unit = unit.step(id, LoanProductCommand::Define(Box::new(terms)));
    }
    Ok(journal.submit(unit).await?)
}

/// Defines the default products that nobody has defined yet. Safe to run on every start and on several servers:
/// a product that exists, changed or not, is left alone.
///
/// # Errors
/// When the store cannot be reached.
pub async fn ensure_defaults(journal: &Journal) -> Result<(), CommandError> {
    let defaults = defaults().map(|(id, terms)| (id, ProductCommand::Define(Box::new(terms))));
    ensure::<Product>(journal, defaults).await
}

/// The terms of a product; of one that every bank begins with, those that it begins with.
///
/// # Errors
/// When the store cannot be reached.
pub async fn terms_of(journal: &Journal, id: &str) -> Result<Option<ProductTerms>, CommandError> {
    Ok(match journal.load::<Product>(id).await?.0 {
        Product::Defined(terms) => Some(terms),
        Product::Absent => defaults().find(|(default, _)| *default == id).map(|(_, terms)| terms),
    })
}

/// Gives each of these first commands to an aggregate that nothing has happened to yet; the others are left alone.
///
/// # Errors
/// When the store cannot be reached.
pub(crate) async fn ensure<A>(
    journal: &Journal,
    defaults: impl Iterator<Item = (&'static str, <A as Aggregate>::Command)>,
) -> Result<(), CommandError>
where
    A: Aggregate + TryFrom<State>,
    <A as Aggregate>::Command: Into<Command>,
{
    for (id, command) in defaults {
        if journal.load::<A>(id).await?.1 > 0 {
            continue;
        }
        let due = format!("{}:{id}", A::TYPE);
        let actor = format!("system:{}s", A::TYPE);
        let context = Context {
            idempotency: Some(due_key(&due)),
            metadata: Metadata::by(actor, due),
            ..Context::default()
        };
        journal.submit(Unit::new(context).step(id, command)).await?;
    }
    Ok(())
}

fn defaults() -> impl Iterator<Item = (&'static str, ProductTerms)> {
    // A test reads every file, so none is ever skipped.
    DEFAULTS.into_iter().filter_map(|(id, json)| Some((id, serde_json::from_str(json).ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_can_be_defined() {
        assert_eq!(defaults().count(), DEFAULTS.len());
        for (id, terms) in defaults() {
            assert!(Product::Absent.decide(ProductCommand::Define(Box::new(terms))).is_ok(), "{id}");
        }
    }
}
