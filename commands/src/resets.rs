//! Setting a password without the old one: asking for it, mailing the token, using it.
//!
//! ```text
//!   request(name) --> resets.requested, whoever has the name or nobody     the same answer, the same work
//!                         '--> SendReset --> verifications.issued           somebody has it: the token goes by mail
//!   confirm(token, password) --> password set, every session over, the owner told
//! ```

use bursar_domain::kernel::{UserId, add_seconds};
use bursar_domain::messages::{Category, Channel, MessagesCommand};
use bursar_domain::resets::{Requested, Resets, ResetsCommand, SEND_RESET};
use bursar_domain::users::{SessionsEndReason, User, UserCommand};
use bursar_domain::verifications::{Policy, Purpose, Verification, VerificationStatus};
use bursar_domain::{Rejection, RejectionKind};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use crate::keys::{Keys, ResetToken};
use crate::messages::notice;
use crate::owned::CommandError;
use crate::passwords::{Password, Passwords};
use crate::processes::{Done, Task, Work, context};
use crate::sessions::{self, Ending};
use crate::users::{self, normalised_email};
use crate::verifications::{Verifier, Wanted};
use crate::{Committed, Context, Journal, Unit};

/// Asks for a new password for whoever has the name.
///
/// # Errors
/// `TOO_MANY_RESETS` (429), whether or not anybody has it.
pub async fn request(
    journal: &Journal,
    keys: &Keys,
    context: Context,
    name: &str,
    policy: Policy,
) -> Result<Committed, CommandError> {
    let name = normalised_email(name);
    let user = users::by_email(journal, keys, &name).await?;
    let at = journal.sources().clock.now();
    let request = Requested { user, at, expires_at: add_seconds(at, policy.lifetime) };
    let ask = ResetsCommand::Request { request, a_day: policy.a_day };
    Ok(journal.submit(Unit::new(context).step(keys.reset_name(&name), ask)).await?)
}

/// A token and the password it is to set.
pub struct NewPassword {
    /// What came by mail.
    pub token: ResetToken,
    /// The password.
    pub password: Password,
    /// How many sessions end, as far as the read side knows.
    pub sessions: u32,
}

/// Sets a password with a token, and ends every session.
///
/// # Errors
/// `INVALID_TOKEN`, for a token that is used, too old, or not the newest.
pub async fn confirm(
    journal: &Journal,
    passwords: &Passwords,
    verifier: &Verifier,
    mut context: Context,
    new: NewPassword,
) -> Result<Committed, CommandError> {
    let NewPassword { token, password, sessions } = new;
    let id = token.user;
    let newest = verifier.newest(id, Purpose::PasswordReset).await?;
    let now = journal.sources().clock.now();
    let counts = |newest: &Verification| {
        newest.issued.id == token.verification && newest.status(now) == VerificationStatus::Pending
    };
    // Before a password is hashed; the unit decides.
    if !newest.as_ref().is_some_and(counts) {
        return sessions::repeated(journal, context, id, InvalidToken).await;
    }
    let (user, _) = journal.load::<User>(&id.to_string()).await?;
    let hash = passwords.hash(password).await?;
    context.metadata.actor = id.to_string().into();
    let unit = verifier.redeem(context, &token).step(id, UserCommand::SetPassword { hash });
    let ending = Ending { reason: SessionsEndReason::PasswordReset, except: None, sessions };
    let unit = told(sessions::end_all(unit, id, &user, ending), journal, id);
    Ok(journal.submit(unit).await.map_err(sessions::in_other_words(&TOKEN_REFUSALS, InvalidToken))?)
}

/// What a verification answers when a token does not count.
const TOKEN_REFUSALS: [&str; 2] = ["NOT_FOUND", "INVALID_STATE"];

/// Adds the news that the password is another one.
pub(crate) fn told(unit: Unit, journal: &Journal, user: UserId) -> Unit {
    let body = "Your password was changed, and every other session was ended. If it was not you, call the bank at once.";
    let news = notice(journal.sources(), Category::Security, "Your password was changed", body.to_owned());
    unit.step(user, MessagesCommand::Post(Box::new(news)))
}

/// The token is used, too old, not the newest, or none of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the token is not valid any more; ask for a new one")]
pub struct InvalidToken;

impl Rejection for InvalidToken {
    fn code(&self) -> &'static str {
        "INVALID_TOKEN"
    }

    fn kind(&self) -> RejectionKind {
        RejectionKind::Unprocessable
    }
}

/// Issues the token that was asked for, if there is somebody to send it to.
pub struct SendReset {
    journal: Journal,
    verifier: Verifier,
}

impl SendReset {
    /// The task.
    #[must_use]
    pub const fn new(journal: Journal, verifier: Verifier) -> Self {
        Self { journal, verifier }
    }

    async fn issue(&self, work: &Work) -> Result<Done, CommandError> {
        let (resets, version) = self.journal.load::<Resets>(&work.subject).await?;
        let request = resets.last.filter(|request| work.now < request.expires_at);
        let Some(user) = request.and_then(|request| request.user) else { return Ok(Done::Finished) };
        let (known, _) = self.journal.load::<User>(&user.to_string()).await?;
        let email = known.person().and_then(|person| person.email.get()).cloned();
        let Some(destination) = email else { return Ok(Done::Finished) };
        let wanted = Wanted {
            purpose: Purpose::PasswordReset,
            channel: Channel::Email,
            destination,
            bound_to: String::new(),
        };
        let context = context(SEND_RESET, &work.subject, &version.to_string());
        let issued = self.journal.submit(Unit::new(context).step(user, self.verifier.issue(wanted))).await;
        match issued.map_err(CommandError::from) {
            // Enough for today.
            Err(error) if error.code() == Some("TOO_MANY_CODES") => Ok(Done::Finished),
            other => other.map(|_| Done::Finished),
        }
    }
}

impl Task for SendReset {
    fn name(&self) -> &'static str {
        SEND_RESET
    }

    fn run<'a>(&'a self, work: &'a Work) -> BoxFuture<'a, Result<Done, CommandError>> {
        self.issue(work).boxed()
    }
}
