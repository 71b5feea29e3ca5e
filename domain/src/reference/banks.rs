//! Other banks.

use serde::Deserialize;

use super::{Entry, Reference};

crate::spelled! {
    /// What kind of licence a bank has.
    pub enum BankType {
        /// Commercial bank.
        Commercial = "COMMERCIAL",
        /// Non-interest (Islamic) bank.
        NonInterest = "NON_INTEREST",
        /// Merchant bank.
        Merchant = "MERCHANT",
        /// Microfinance bank.
        Microfinance = "MICROFINANCE",
        /// Primary mortgage bank.
        Mortgage = "MORTGAGE",
        /// Mobile money operator.
        MobileMoney = "MOBILE_MONEY",
        /// Payment service bank.
        PaymentServiceBank = "PAYMENT_SERVICE_BANK",
        /// Finance company.
        FinanceCompany = "FINANCE_COMPANY",
        /// Rural bank.
        Rural = "RURAL",
        /// Savings and loans company.
        SavingsAndLoans = "SAVINGS_AND_LOANS",
    }
}

/// A bank. The field names are those of the dataset's columns.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Bank {
    /// Routes payments to it.
    pub bank_code: String,
    /// Its name.
    pub bank_name: String,
    /// Its licence.
    pub bank_type: BankType,
    /// ISO 3166-1 alpha-2.
    pub country: String,
    /// The shorter code that people know, where there is one.
    pub cbn_code: Option<String>,
    /// Whether it can be paid to.
    pub is_active: bool,
}

impl Bank {
    /// How long a transfer to it takes from a bank in the country `home`, in words.
    #[must_use]
    pub fn processing_time(&self, home: &str) -> &'static str {
        // Instant payment schemes are national; abroad it is correspondent banks and their working days.
        if self.country == home { "Within minutes" } else { "1 to 3 working days" }
    }
}

crate::rejections! {
    /// Why money cannot be sent to a bank.
    pub enum BankError {
        /// No bank of that code.
        Unknown: NotFound "NOT_FOUND" = "no such bank",
        /// It takes no payments at present.
        NotOffered: Unprocessable "NOT_OFFERED" = "this bank cannot be paid to at present",
    }
}

impl Reference {
    /// The bank that money can be sent to under `code`: its own, or the shorter one that people know.
    ///
    /// # Errors
    /// `NOT_FOUND`, `NOT_OFFERED`.
    pub fn payable_bank(&self, code: &str) -> Result<&Bank, BankError> {
        let known = || self.banks.iter().find(|bank| bank.cbn_code.as_deref() == Some(code));
        let bank = self.banks.get(code).or_else(known).ok_or(BankError::Unknown)?;
        if bank.is_active { Ok(bank) } else { Err(BankError::NotOffered) }
    }
}

impl Entry for Bank {
    fn code(&self) -> &str {
        &self.bank_code
    }

    fn name(&self) -> &str {
        &self.bank_name
    }
}
