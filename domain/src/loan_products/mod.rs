//! Loan products: the terms loans are applied for on. Changing one never alters an application or a running loan.

mod command;
mod error;
mod event;
#[cfg(test)]
mod tests;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

pub use command::LoanProductCommand;
pub use error::LoanProductError;
pub use event::LoanProductEvent;

use crate::aggregate::Aggregate;
use crate::kernel::{Currency, fraction, half_even};
use crate::loans::{Annuity, LARGEST, NoSchedule, Range};

crate::spelled! {
    /// Whom a product lends to.
    pub enum LoanType {
        /// A person.
        Personal = "PERSONAL",
        /// Somebody who runs a business.
        Business = "BUSINESS",
    }
}

crate::spelled! {
    /// What a document for an application is.
    pub enum LoanDocumentType {
        /// A passport or national identity card.
        Identity = "IDENTITY",
        /// From the employer, that there is employment.
        EmploymentLetter = "EMPLOYMENT_LETTER",
        /// From the employer, what it pays.
        Payslip = "PAYSLIP",
        /// From another bank.
        BankStatement = "BANK_STATEMENT",
        /// That a business is registered.
        BusinessRegistration = "BUSINESS_REGISTRATION",
        /// The accounts of a business.
        FinancialStatement = "FINANCIAL_STATEMENT",
        /// That taxes are paid.
        TaxClearance = "TAX_CLEARANCE",
        /// Where somebody lives.
        UtilityBill = "UTILITY_BILL",
        /// Whose a collateral is, or what it is worth.
        CollateralEvidence = "COLLATERAL_EVIDENCE",
        /// Anything else.
        Other = "OTHER",
    }
}

/// What a product promises and asks. Sums in minor units of `currency`, rates in percent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoanTerms {
    /// What people read.
    pub name: String,
    /// Whom it lends to.
    pub loan_type: LoanType,
    /// The currency of its loans.
    pub currency: Currency,
    /// The least it lends.
    pub min_amount: i64,
    /// The most it lends.
    pub max_amount: i64,
    /// Percent a year.
    pub interest_rate: Decimal,
    /// The shortest, months.
    pub min_tenure: u32,
    /// The longest, months.
    pub max_tenure: u32,
    /// Percent of the amount, taken when it is paid out.
    pub processing_fee: Decimal,
    /// Percent of the amount, taken when it is paid out.
    pub insurance_fee: Decimal,
    /// Who may have it, in words.
    pub eligibility_criteria: Vec<String>,
    /// What an application is not approved without.
    pub required_documents: Vec<LoanDocumentType>,
    /// Whether somebody must vouch for the borrower.
    #[serde(default)]
    pub guarantor_required: bool,
    /// Whether it can be applied for.
    pub is_active: bool,
}

/// What a loan costs. Minor units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Every month; the last payment may differ.
    pub monthly_payment: i64,
    /// Interest of all months.
    pub total_interest: i64,
    /// Principal and interest of all months.
    pub total_amount: i64,
    /// Taken when it is paid out.
    pub processing_fee: i64,
    /// Taken when it is paid out.
    pub insurance_fee: i64,
}

impl LoanTerms {
    /// The amounts that it lends.
    #[must_use]
    pub const fn range(&self) -> Range {
        Range { least: self.min_amount, most: self.max_amount }
    }

    /// Whether it lends for so many months.
    #[must_use]
    pub fn lasts(&self, months: u32) -> bool {
        (self.min_tenure..=self.max_tenure).contains(&months)
    }

    /// What `amount` costs over `months`.
    ///
    /// # Errors
    /// [`NoSchedule`] for what is no loan at all; whether it is in the product's range is another question.
    pub fn cost(&self, amount: i64, months: u32) -> Result<Cost, NoSchedule> {
        let annuity = Annuity::new(self.interest_rate, months)?;
        let total_interest = annuity.schedule(amount)?.iter().map(|row| row.interest).sum();
        Ok(Cost {
            monthly_payment: annuity.payment(amount),
            total_interest,
            total_amount: amount.saturating_add(total_interest),
            processing_fee: share(amount, self.processing_fee),
            insurance_fee: share(amount, self.insurance_fee),
        })
    }
}

/// `percent` of `amount`, half to even.
fn share(amount: i64, percent: Decimal) -> i64 {
    let (percent, scale) = fraction(percent);
    let share = half_even(i128::from(amount) * percent, scale * 100);
    // At most the amount.
    share.and_then(|share| i64::try_from(share).ok()).unwrap_or(amount)
}

/// A loan product, by its code (`LN-PER-001`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum LoanProduct {
    /// Not defined yet.
    #[default]
    Absent,
    /// On offer, or withdrawn when its terms say so.
    Defined(LoanTerms),
}

impl LoanProduct {
    /// The terms of a product that can be applied for now.
    #[must_use]
    pub fn on_offer(self) -> Option<LoanTerms> {
        match self {
            Self::Defined(terms) if terms.is_active => Some(terms),
            Self::Defined(_) | Self::Absent => None,
        }
    }
}

impl Aggregate for LoanProduct {
    const TYPE: &'static str = "loan_product";
    type Command = LoanProductCommand;
    type Event = LoanProductEvent;
    type Error = LoanProductError;

    fn decide(&self, command: LoanProductCommand) -> Result<Vec<LoanProductEvent>, LoanProductError> {
        let terms = match (self, command) {
            (Self::Absent, LoanProductCommand::Change(_)) => return Err(LoanProductError::Unknown),
            (Self::Defined(_), LoanProductCommand::Create(_)) => return Err(LoanProductError::Exists),
            (Self::Absent, LoanProductCommand::Define(terms) | LoanProductCommand::Create(terms))
            | (Self::Defined(_), LoanProductCommand::Define(terms) | LoanProductCommand::Change(terms)) => {
                terms
            }
        };
        check(&terms)?;
        match self {
            // Defining what is already so is not news.
            Self::Defined(current) if *current == *terms => Ok(Vec::new()),
            Self::Absent | Self::Defined(_) => Ok(vec![LoanProductEvent::Defined(terms)]),
        }
    }

    fn evolve(&mut self, event: &LoanProductEvent) {
        match event {
            LoanProductEvent::Defined(terms) => *self = Self::Defined((**terms).clone()),
        }
    }
}

fn check(terms: &LoanTerms) -> Result<(), LoanProductError> {
    if !(1..=terms.max_amount).contains(&terms.min_amount) || terms.max_amount > LARGEST {
        return Err(LoanProductError::AmountOutOfRange);
    }
    if terms.min_tenure > terms.max_tenure {
        return Err(LoanProductError::TenureOutOfRange);
    }
    for months in [terms.min_tenure, terms.max_tenure] {
        Annuity::new(terms.interest_rate, months).map_err(|error| match error {
            NoSchedule::Months => LoanProductError::TenureOutOfRange,
            NoSchedule::Rate | NoSchedule::Principal => LoanProductError::RateOutOfRange,
        })?;
    }
    let fee = |rate: Decimal| (Decimal::ZERO..=Decimal::ONE_HUNDRED).contains(&rate) && rate.scale() <= 6;
    let both = terms.processing_fee.checked_add(terms.insurance_fee).unwrap_or(Decimal::MAX);
    if [terms.processing_fee, terms.insurance_fee, both].into_iter().all(fee) {
        Ok(())
    } else {
        Err(LoanProductError::RateOutOfRange)
    }
}
