//! Money is an integer count of minor units and a currency. There is no `Add`: every sum is checked.

use std::fmt;
use std::str::FromStr;

use compact_str::CompactString;
use serde::{Deserialize, Serialize};

/// What is wrong with an amount or a currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MoneyError {
    /// Outside `1..=10^15` minor units.
    #[error("an amount is a whole number of minor units from 1 to 1000000000000000")]
    AmountOutOfRange,
    /// Not three upper-case letters (ISO 4217).
    #[error("a currency is three upper-case letters (ISO 4217)")]
    MalformedCurrency,
    /// A sum left the range of `i64`.
    #[error("the sum does not fit into 64 bits")]
    Overflow,
    /// Two currencies in one sum.
    #[error("the currencies differ")]
    CurrencyMismatch,
}

/// An ISO 4217 alphabetic code, upper case.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "CompactString", into = "CompactString")]
pub struct Currency([u8; 3]);

impl Currency {
    /// The Nigerian naira, the currency of the demo bank.
    pub const NGN: Self = Self(*b"NGN");

    /// The code as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // Only `A..=Z` ever gets in, so the fallback is unreachable.
        std::str::from_utf8(&self.0).unwrap_or("XXX")
    }

    /// Decimal places of the minor unit: 2 for kobo and cents. A code that ISO 4217 does not list has 2.
    ///
    /// Source: the list of ISO 4217 codes in force on 2026-02-01 ("currency-codes" dataset, PDDL 1.0). Codes
    /// without a minor unit (metals, units of account, tests) are counted whole.
    #[must_use]
    pub const fn minor_unit(self) -> u8 {
        match &self.0 {
            b"BIF" | b"CLP" | b"DJF" | b"GNF" | b"ISK" | b"JPY" | b"KMF" | b"KRW" | b"PYG" | b"RWF"
            | b"UGX" | b"UYI" | b"VND" | b"VUV" | b"XAF" | b"XOF" | b"XPF" => 0,
            b"XAG" | b"XAU" | b"XBA" | b"XBB" | b"XBC" | b"XBD" | b"XDR" | b"XPD" | b"XPT" | b"XSU"
            | b"XTS" | b"XUA" | b"XXX" => 0,
            b"BHD" | b"IQD" | b"JOD" | b"KWD" | b"LYD" | b"OMR" | b"TND" => 3,
            b"CLF" | b"UYW" => 4,
            _ => 2,
        }
    }

    /// `minor` units as an exact decimal of major units: `-5` is `-0.05` in naira, `-5` in yen, `-0.005` in
    /// Kuwaiti dinar. Wider than one amount, so that sums of them fit.
    #[must_use]
    pub fn decimal(self, minor: i128) -> String {
        let places = usize::from(self.minor_unit());
        let digits = format!("{:0>1$}", minor.unsigned_abs(), places + 1);
        let (whole, fraction) = digits.split_at(digits.len() - places);
        let sign = if minor < 0 { "-" } else { "" };
        if places == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
    }
}

impl TryFrom<&str> for Currency {
    type Error = MoneyError;

    fn try_from(code: &str) -> Result<Self, MoneyError> {
        match code.as_bytes() {
            &[a, b, c] if [a, b, c].iter().all(u8::is_ascii_uppercase) => Ok(Self([a, b, c])),
            _ => Err(MoneyError::MalformedCurrency),
        }
    }
}

impl FromStr for Currency {
    type Err = MoneyError;

    fn from_str(code: &str) -> Result<Self, MoneyError> {
        code.try_into()
    }
}

impl TryFrom<CompactString> for Currency {
    type Error = MoneyError;

    fn try_from(code: CompactString) -> Result<Self, MoneyError> {
        code.as_str().try_into()
    }
}

impl From<Currency> for CompactString {
    fn from(currency: Currency) -> Self {
        Self::new(currency.as_str())
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A signed sum in minor units of one currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Money {
    /// Minor units (kobo, cents); negative when owed.
    pub minor: i64,
    /// Its currency.
    pub currency: Currency,
}

impl Money {
    /// `minor` units of `currency`.
    #[must_use]
    pub const fn new(minor: i64, currency: Currency) -> Self {
        Self { minor, currency }
    }

    /// The sum of two amounts of one currency.
    ///
    /// # Errors
    /// [`MoneyError::CurrencyMismatch`] or [`MoneyError::Overflow`].
    pub fn checked_add(self, other: Self) -> Result<Self, MoneyError> {
        if self.currency != other.currency {
            return Err(MoneyError::CurrencyMismatch);
        }
        let minor = self.minor.checked_add(other.minor).ok_or(MoneyError::Overflow)?;
        Ok(Self { minor, ..self })
    }
}

/// A positive number of minor units, at most 10^15: what a customer may ask to move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "i64", into = "i64")]
pub struct Amount(i64);

impl Amount {
    /// The largest amount one movement may have, in minor units.
    pub const MAX: i64 = 1_000_000_000_000_000;

    /// The amount in minor units, always in `1..=Amount::MAX`.
    #[must_use]
    pub const fn minor(self) -> i64 {
        self.0
    }
}

impl TryFrom<i64> for Amount {
    type Error = MoneyError;

    fn try_from(minor: i64) -> Result<Self, MoneyError> {
        if (1..=Self::MAX).contains(&minor) { Ok(Self(minor)) } else { Err(MoneyError::AmountOutOfRange) }
    }
}

impl From<Amount> for i64 {
    fn from(amount: Amount) -> Self {
        amount.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_sum_is_exact_or_refused(one in any::<i64>(), far in any::<i64>(), near in -2_i64..=2, is_near in any::<bool>()) {
            // As far from the edge as it may be, give or take two.
            let most = if one < 0 { i64::MIN } else { i64::MAX };
            let other = if is_near { (most - one).saturating_add(near) } else { far };
            let sum = Money::new(one, Currency::NGN).checked_add(Money::new(other, Currency::NGN));
            match i64::try_from(i128::from(one) + i128::from(other)) {
                Ok(exact) => prop_assert_eq!(sum, Ok(Money::new(exact, Currency::NGN))),
                Err(_) => prop_assert_eq!(sum, Err(MoneyError::Overflow)),
            }
            prop_assert_eq!(Amount::try_from(one).is_ok(), (1..=Amount::MAX).contains(&one));
        }
    }

    #[test]
    fn an_amount_is_positive_and_bounded() {
        assert!(Amount::try_from(0).is_err());
        assert!(Amount::try_from(-1).is_err());
        assert!(Amount::try_from(Amount::MAX + 1).is_err());
        assert_eq!(Amount::try_from(Amount::MAX).map(Amount::minor), Ok(Amount::MAX));
    }

    #[test]
    fn sums_are_checked() {
        let most = Money::new(i64::MAX, Currency::NGN);
        assert_eq!(most.checked_add(Money::new(1, Currency::NGN)), Err(MoneyError::Overflow));
        let dollar = Money::new(1, Currency(*b"USD"));
        assert_eq!(most.checked_add(dollar), Err(MoneyError::CurrencyMismatch));
    }

    #[test]
    fn major_units_are_exact_in_every_currency() {
        let decimal = |code: &str, minor: i128| Currency::try_from(code).unwrap().decimal(minor);
        for (code, minor, expected) in [
            ("NGN", 0, "0.00"),
            ("NGN", 5, "0.05"),
            ("NGN", -5, "-0.05"),
            ("NGN", 37_500_000, "375000.00"),
            ("NGN", i64::MIN.into(), "-92233720368547758.08"),
            ("JPY", 0, "0"),
            ("JPY", -1250, "-1250"),
            ("KWD", 1, "0.001"),
            ("KWD", 1_234_567, "1234.567"),
            ("UYW", 12, "0.0012"),
            ("XAU", 3, "3"),
            ("USD", i128::from(i64::MAX) * 10, "922337203685477580.70"),
        ] {
            assert_eq!(decimal(code, minor), expected, "{minor} {code}");
        }
    }

    #[test]
    fn a_currency_is_three_capitals() {
        for wrong in ["ngn", "NG", "NGNN", "N1N", "", "ÑGN"] {
            assert!(Currency::try_from(wrong).is_err(), "{wrong}");
        }
    }
}
