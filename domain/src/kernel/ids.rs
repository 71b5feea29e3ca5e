//! Typed ids: a prefix that says what it names, and a UUIDv7 (RFC 9562), whose leading time keeps
//! index pages hot.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Sources;

/// Text that is not an id of the wanted kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an id of this kind")]
pub struct IdError;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "std::borrow::Cow<'_, str>", into = "String")]
        pub struct $name(Uuid);

        impl $name {
            /// What every id of this kind begins with.
            pub const PREFIX: &'static str = concat!($prefix, "_");

            /// When it was minted, UTC, whole milliseconds: the time in a UUIDv7.
            #[must_use]
            pub fn minted_at(self) -> Timestamp {
                let millis = self.0.get_timestamp().map_or(0, |at| {
                    let (seconds, nanos) = at.to_unix();
                    seconds.saturating_mul(1_000).saturating_add(u64::from(nanos / 1_000_000))
                });
                i64::try_from(millis).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok()).unwrap_or_default()
            }

            /// A fresh id, ordered by time.
            #[must_use]
            pub fn mint(sources: &Sources) -> Self {
                Self(super::uuid_v7(sources))
            }

            /// The id of something that can happen only once, always the same: when, and a hash of what.
            #[must_use]
            pub fn of(at: Timestamp, hash: &[u8; 10]) -> Self {
                Self(super::time::uuid_v7_at(at, hash))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}{}", Self::PREFIX, self.0.as_simple())
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                let hex = text.strip_prefix(Self::PREFIX).ok_or(IdError)?;
                // One spelling each: 32 lower-case hex digits, nothing else uuid would accept.
                if hex.len() != 32 || hex.bytes().any(|b| b.is_ascii_uppercase()) {
                    return Err(IdError);
                }
                Uuid::try_parse(hex).map(Self).map_err(|_| IdError)
            }
        }

        impl TryFrom<std::borrow::Cow<'_, str>> for $name {
            type Error = IdError;

            fn try_from(text: std::borrow::Cow<'_, str>) -> Result<Self, IdError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.to_string()
            }
        }
    )*};
}

ids! {
    /// Where somebody lives or works.
    AddressId = "addr";
    /// Somebody a customer pays.
    BeneficiaryId = "ben";
    /// A picture of a person that they chose.
    AvatarId = "avt";
    /// A card, the bank's own or another's.
    CardId = "card";
    /// An application to close an account.
    ClosureId = "cls";
    /// A card of the bank's own that was asked for.
    CardRequestId = "crq";
    /// Evidence that a customer handed in.
    DocumentId = "doc";
    /// Bytes kept outside the log.
    FileId = "file";
    /// Whom to call when something happens to a customer.
    ContactId = "ect";
    /// Where a customer works or worked.
    EmploymentId = "emp";
    /// Somebody next of kin to a customer.
    KinId = "kin";
    /// A loan, from its application on.
    LoanId = "loan";
    /// Somebody who vouches for a loan.
    GuarantorId = "gua";
    /// What secures a loan.
    CollateralId = "col";
    /// A person: customer or staff.
    UserId = "usr";
    /// A login and everything refreshed from it.
    SessionId = "ses";
    /// People who put money by together.
    CommunityId = "com";
    /// Somebody in a community.
    ParticipantId = "par";
    /// That somebody may join a community.
    InvitationId = "inv";
    /// That somebody wants money of a community.
    WithdrawalId = "wdr";
    /// A standing instruction.
    MandateId = "mnd";
    /// A payment that is repeated.
    RecurrenceId = "rec";
    /// A complaint about a payment.
    DisputeId = "dsp";
    /// What a person calls transactions by.
    TagId = "tag";
    /// Something the bank told a customer.
    MessageId = "msg";
    /// An app that shows codes, as the bank knows it.
    EnrolmentId = "enr";
    /// A movement of money.
    TransactionId = "txn";
    /// A code or a link that was sent to somebody.
    VerificationId = "ver";
    /// A request for a certificate (PKCS#10).
    SigningRequestId = "csr";
    /// A certificate of a device.
    CertificateId = "crt";
    /// One certificate in the place of another.
    RotationId = "rot";
    /// A device that changes hands.
    TransferId = "trf";
    /// An address outside the bank that is told what happens in it.
    WebhookId = "whk";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::time::tests::sources;

    #[test]
    fn an_id_reads_back_and_keeps_its_kind() {
        let id = TransactionId::mint(&sources());
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!(id.to_string().parse::<UserId>(), Err(IdError));
        assert_eq!(id.to_string().to_uppercase().parse::<TransactionId>(), Err(IdError));
    }

    #[test]
    fn an_id_knows_when_it_was_minted() {
        let sources = sources();
        let (before, id, after) = (sources.clock.now(), TransactionId::mint(&sources), sources.clock.now());
        assert!(before <= id.minted_at() && id.minted_at() <= after);
    }

    #[test]
    fn later_ids_sort_later() {
        let sources = sources();
        let ids: Vec<_> = (0..100).map(|_| TransactionId::mint(&sources).to_string()).collect();
        assert!(ids.is_sorted());
    }
}
