//! Account numbers: ten digits with a Luhn check digit for customers, a code for the bank's own.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

use compact_str::CompactString;
use serde::{Deserialize, Serialize};

use super::Entropy;

/// The name of a ledger account.
///
/// A customer's account is ten digits, the last of them a Luhn check digit (ISO/IEC 7812-1), drawn
/// at random so that numbers cannot be walked. One of the bank's own accounts is `bank:<role>:<currency>`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AccountNumber(CompactString);

impl AccountNumber {
    /// A fresh customer account number; the caller makes sure that it is free.
    pub fn draw(entropy: &dyn Entropy) -> Self {
        let mut bytes = [0_u8; 8];
        entropy.fill(&mut bytes);
        // The first digit is never 0, so that spreadsheets keep all ten digits.
        let body = 100_000_000 + u64::from_le_bytes(bytes) % 900_000_000;
        let digits = format!("{body:09}");
        let check = luhn_check_digit(digits.as_bytes());
        Self(compact_str::format_compact!("{digits}{check}"))
    }

    /// One of the bank's own accounts.
    #[must_use]
    pub fn internal(role: &str, currency: super::Currency) -> Self {
        Self(compact_str::format_compact!("bank:{role}:{currency}"))
    }

    /// Whether the bank itself owns it.
    #[must_use]
    pub fn is_internal(&self) -> bool {
        self.0.starts_with("bank:")
    }

    /// What people know an account by, without giving it away to whoever reads over their shoulder.
    #[must_use]
    pub fn last_four(&self) -> &str {
        self.0.get(self.0.len().saturating_sub(4)..).unwrap_or(&self.0)
    }

    /// The number as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Not an account number a customer can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an account number is ten digits, the last one a check digit")]
pub struct MalformedAccountNumber;

impl FromStr for AccountNumber {
    type Err = MalformedAccountNumber;

    /// Reads a customer's account number; the bank's own codes are not accepted from outside.
    fn from_str(text: &str) -> Result<Self, MalformedAccountNumber> {
        let bytes = text.as_bytes();
        let well_formed = bytes.len() == 10
            && bytes.iter().all(u8::is_ascii_digit)
            && luhn_check_digit(&bytes[..9]) == bytes[9] - b'0';
        if well_formed { Ok(Self(CompactString::new(text))) } else { Err(MalformedAccountNumber) }
    }
}

/// The Luhn digit that makes `digits` followed by it valid.
pub(crate) fn luhn_check_digit(digits: &[u8]) -> u8 {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(i, digit)| {
            let value = u32::from(digit - b'0');
            if i % 2 == 0 { value * 2 / 10 + value * 2 % 10 } else { value }
        })
        .sum();
    // `% 10` leaves one digit.
    u8::try_from((10 - sum % 10) % 10).unwrap_or(0)
}

impl Borrow<str> for AccountNumber {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AccountNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Reads a name the log or a table already holds, customer or internal, without checking it again.
impl From<&str> for AccountNumber {
    fn from(stored: &str) -> Self {
        Self(CompactString::new(stored))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::time::tests::Counting;

    #[test]
    fn a_drawn_number_reads_back() {
        let entropy = Counting::default();
        for _ in 0..1000 {
            let number = AccountNumber::draw(&entropy);
            assert_eq!(number.as_str().parse::<AccountNumber>(), Ok(number.clone()));
        }
    }

    #[test]
    fn one_wrong_digit_is_noticed() {
        assert!("7992739871".parse::<AccountNumber>().is_err());
        assert!("bank:cash:NGN".parse::<AccountNumber>().is_err());
        assert!("12345".parse::<AccountNumber>().is_err());
        // The published Luhn example 7992739871 has check digit 3; ours has nine digits before it.
        assert_eq!(luhn_check_digit(b"7992739871"), 3);
    }
}
