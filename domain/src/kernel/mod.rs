//! The words every noun uses: money, ids, time, personal data, refusals.

mod account_number;
mod calendar;
mod file;
mod ids;
mod money;
mod origin;
mod permission;
mod personal;
mod rejection;
mod rounding;
mod series;
mod spelled;
pub(crate) mod time;

pub use account_number::AccountNumber;
pub(crate) use account_number::luhn_check_digit;
pub use calendar::{Calendar, Frequency, NoSuchDay};
pub use compact_str::CompactString as Text;
pub use file::{FileError, FileType, LARGEST_FILE, StoredFile};
pub use ids::{
    AddressId, AvatarId, BeneficiaryId, CardId, CardRequestId, CertificateId, ClosureId, CollateralId,
    CommunityId, ContactId, DisputeId, DocumentId, EmploymentId, EnrolmentId, FileId, GuarantorId, IdError,
    InvitationId, KinId, LoanId, MandateId, MessageId, ParticipantId, RecurrenceId, RotationId, SessionId,
    SigningRequestId, TagId, TransactionId, TransferId, UserId, VerificationId, WebhookId, WithdrawalId,
};
pub use money::{Amount, Currency, Money, MoneyError};
pub use origin::Origin;
pub use permission::Permission;
pub use personal::Personal;
pub use rejection::{Rejection, RejectionKind};
pub use rounding::{fraction, half_even};
pub use series::{FAILURES_TO_PAUSE, PauseReason, Run, Series, SeriesError, SeriesStatus, Step};
pub use spelled::{Spelled, Unspelled};
pub use time::{
    Clock, Entropy, Sources, add_seconds, end_of_day, micros, midnight, month_start, seconds_until, utc_date,
    uuid_v7,
};
