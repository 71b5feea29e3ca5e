//! The bank's own accounts.

use std::fmt;

use compact_str::{CompactString, format_compact};

use crate::kernel::{AccountNumber, Currency};

/// A role in the chart of accounts. The chart is closed: an account that has none of these roles cannot be posted to.
///
/// Balances have the sign of every account: what the bank has is negative (a debit balance), what it owes or earned is
/// positive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Internal {
    /// Notes and coins in the tills.
    Cash,
    /// Money at the central bank and at correspondents, out of which rails pay and into which they pay in.
    Nostro,
    /// Fees that customers paid.
    FeeIncome,
    /// What the bank refunded and has not got back yet.
    Chargebacks,
    /// What borrowers owe of the principal of their loans.
    LoanPrincipal,
    /// Interest on loans that has accrued and is not paid yet.
    LoanInterest,
    /// Interest that loans have earned.
    InterestIncome,
    /// Interest that savings have earned their holders.
    InterestExpense,
    /// Loans that the bank has given up.
    LoanLosses,
    /// What came with customers of another bank: their money, less their loans, is what that bank has yet to hand over.
    OpeningBalances,
    /// Payments on their way: its balance is the sum of the items that are neither settled nor returned.
    Settlement(Channel),
}

crate::spelled! {
    /// On which side of the books an account stands.
    pub enum Class {
        /// What the bank has, or is owed.
        Asset = "ASSET",
        /// What the bank owes.
        Liability = "LIABILITY",
        /// What the bank has earned.
        Income = "INCOME",
        /// What the bank has spent.
        Expense = "EXPENSE",
    }
}

/// A way out of the bank, or into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Channel {
    /// Transfers to other banks.
    Banks,
    /// A mobile wallet provider, by its code.
    Wallet(CompactString),
    /// A biller, by its code.
    Biller(CompactString),
    /// The acquirer of card payments.
    Cards,
}

/// Codes of providers and billers: what may stand in an account's name.
const LONGEST_CODE: usize = 40;

impl Internal {
    /// On which side of the books it stands.
    #[must_use]
    pub const fn class(&self) -> Class {
        match self {
            Self::Cash
            | Self::Nostro
            | Self::Chargebacks
            | Self::LoanPrincipal
            | Self::LoanInterest
            | Self::OpeningBalances => Class::Asset,
            Self::Settlement(_) => Class::Liability,
            Self::FeeIncome | Self::InterestIncome => Class::Income,
            Self::InterestExpense | Self::LoanLosses => Class::Expense,
        }
    }

    /// Its account in `currency`.
    #[must_use]
    pub fn account(&self, currency: Currency) -> AccountNumber {
        AccountNumber::internal(&format_compact!("{self}"), currency)
    }

    /// The role whose account in `currency` is `account`.
    #[must_use]
    pub fn of(account: &AccountNumber, currency: Currency) -> Option<Self> {
        let role =
            account.as_str().strip_prefix("bank:")?.strip_suffix(currency.as_str())?.strip_suffix(':')?;
        match role {
            "cash" => Some(Self::Cash),
            "nostro" => Some(Self::Nostro),
            "fee_income" => Some(Self::FeeIncome),
            "chargebacks" => Some(Self::Chargebacks),
            "loan_principal" => Some(Self::LoanPrincipal),
            "loan_interest" => Some(Self::LoanInterest),
            "interest_income" => Some(Self::InterestIncome),
            "interest_expense" => Some(Self::InterestExpense),
            "loan_losses" => Some(Self::LoanLosses),
            "opening_balances" => Some(Self::OpeningBalances),
            _ => Channel::of(role.strip_prefix("settlement.")?).map(Self::Settlement),
        }
    }
}

impl Channel {
    fn of(text: &str) -> Option<Self> {
        match text.split_once('.') {
            None if text == "banks" => Some(Self::Banks),
            None if text == "cards" => Some(Self::Cards),
            Some(("wallet", code)) => is_code(code).then(|| Self::Wallet(code.into())),
            Some(("biller", code)) => is_code(code).then(|| Self::Biller(code.into())),
            _ => None,
        }
    }
}

/// Whether `code` can be part of an account's name: upper-case letters, digits, `_` and `-`.
fn is_code(code: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_' || b == b'-';
    (1..=LONGEST_CODE).contains(&code.len()) && code.bytes().all(allowed)
}

impl fmt::Display for Internal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cash => f.write_str("cash"),
            Self::Nostro => f.write_str("nostro"),
            Self::FeeIncome => f.write_str("fee_income"),
            Self::Chargebacks => f.write_str("chargebacks"),
            Self::LoanPrincipal => f.write_str("loan_principal"),
            Self::LoanInterest => f.write_str("loan_interest"),
            Self::InterestIncome => f.write_str("interest_income"),
            Self::InterestExpense => f.write_str("interest_expense"),
            Self::LoanLosses => f.write_str("loan_losses"),
            Self::OpeningBalances => f.write_str("opening_balances"),
            Self::Settlement(channel) => write!(f, "settlement.{channel}"),
        }
    }
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Banks => f.write_str("banks"),
            Self::Cards => f.write_str("cards"),
            Self::Wallet(code) => write!(f, "wallet.{code}"),
            Self::Biller(code) => write!(f, "biller.{code}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_role_is_known_by_its_account() {
        let channels = [
            Channel::Banks,
            Channel::Cards,
            Channel::Wallet("MTN_MOMO".into()),
            Channel::Biller("SBX-1".into()),
        ];
        let roles = [
            Internal::Cash,
            Internal::Nostro,
            Internal::FeeIncome,
            Internal::Chargebacks,
            Internal::LoanPrincipal,
            Internal::LoanInterest,
            Internal::InterestIncome,
            Internal::InterestExpense,
            Internal::LoanLosses,
            Internal::OpeningBalances,
        ];
        for role in roles.into_iter().chain(channels.map(Internal::Settlement)) {
            assert_eq!(Internal::of(&role.account(Currency::NGN), Currency::NGN), Some(role));
        }
    }

    #[test]
    fn what_the_chart_does_not_name_is_no_account() {
        for name in
            ["bank:slush:NGN", "bank:settlement.wallet.:NGN", "bank:settlement.biller.a b:NGN", "1000000008"]
        {
            assert_eq!(Internal::of(&name.into(), Currency::NGN), None, "{name}");
        }
        let cash = Internal::Cash.account(Currency::NGN);
        assert_eq!(Internal::of(&cash, "USD".parse().unwrap()), None);
    }
}
