//! What a person's second factors can be asked.

use jiff::Timestamp;

use super::Passed;
use crate::kernel::{EnrolmentId, SessionId};

/// Commands to a person's second factors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MfaCommand {
    /// Give an app a secret; one that was given before and not confirmed is void.
    EnrolTotp {
        /// Its id, minted by the use case.
        id: EnrolmentId,
    },
    /// The app has shown a right code.
    ConfirmTotp {
        /// Which.
        id: EnrolmentId,
        /// The time step of the code.
        step: i64,
    },
    /// Ask for no codes of an app any more.
    RemoveTotp {
        /// The time step of the code that was shown.
        step: i64,
    },
    /// Ask for codes by short message. Stands in the unit that confirms the first.
    EnrolSms,
    /// Ask for none any more.
    RemoveSms,
    /// Count a try. Committed before the code is looked at, so that tries made at once are all counted.
    Try {
        /// The session it is made in.
        session: SessionId,
        /// Now.
        at: Timestamp,
    },
    /// The code was right. Stands in the unit that begins the session.
    Pass(Passed),
}
