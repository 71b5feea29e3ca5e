//! Values that have one spelling each: the same in the interface, in events and in tables.

/// An enum declared with [`spelled!`](crate::spelled).
pub trait Spelled: Copy + Eq + Send + Sync + 'static {
    /// Every value, in the order of declaration.
    const ALL: &'static [Self];
    /// How each of them is spelled, in the same order.
    const SPELLINGS: &'static [&'static str];

    /// How it is spelled.
    fn spelling(self) -> &'static str;
}

/// Text that spells none of the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected one of: {}", .0.join(", "))]
pub struct Unspelled(pub &'static [&'static str]);

/// Declares an enum whose values are spelled as given, for serde, [`Display`](std::fmt::Display),
/// [`FromStr`](std::str::FromStr) and `as_str`.
#[macro_export]
macro_rules! spelled {
    ($(#[$about:meta])* pub enum $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$about])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
        )]
        pub enum $name {$(
            $(#[$doc])*
            #[serde(rename = $text)]
            $variant,
        )*}

        impl $name {
            /// Its spelling in the interface, in events and in tables.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {$(Self::$variant => $text,)*}
            }
        }

        impl $crate::kernel::Spelled for $name {
            const ALL: &'static [Self] = &[$(Self::$variant),*];
            const SPELLINGS: &'static [&'static str] = &[$($text),*];

            fn spelling(self) -> &'static str {
                self.as_str()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::kernel::Unspelled;

            fn from_str(text: &str) -> Result<Self, $crate::kernel::Unspelled> {
                match text {
                    $($text => Ok(Self::$variant),)*
                    _ => Err($crate::kernel::Unspelled(<Self as $crate::kernel::Spelled>::SPELLINGS)),
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::AccountStatus;

    #[test]
    fn every_value_reads_back_from_its_one_spelling() {
        for (value, text) in AccountStatus::ALL.iter().zip(AccountStatus::SPELLINGS) {
            assert_eq!(text.parse(), Ok(*value));
            assert_eq!(serde_json::to_string(value).unwrap(), format!("{text:?}"));
        }
        let unknown = "active".parse::<AccountStatus>().unwrap_err();
        assert_eq!(unknown.to_string(), "expected one of: ACTIVE, FROZEN, DORMANT, CLOSED");
    }
}
