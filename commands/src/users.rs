//! Registering people and saying what they may do.

mod identity;
mod onboarding;
mod profile;

use std::collections::BTreeSet;

use bursar_domain::kernel::{Permission, SessionId, UserId};
use bursar_domain::users::{
    EraseUser, Person, RegisterUser, SessionsEndReason, User, UserCommand, UserError,
};
use bursar_domain::{Personal, Rejection, RejectionKind};

use crate::interest::DayEnds;
use crate::keys::Keys;
use crate::owned::CommandError;
use crate::passwords::{Password, Passwords};
use crate::resets;
use crate::sessions::{self, Ending};
use crate::{Committed, Context, Journal, SubmitError, Unit, closures};

pub use identity::{
    Asker, IdentityClaim, confirm as confirm_identity, look_up as look_up_identity,
    resend as resend_identity_code,
};
pub use onboarding::{Glimpse, Holder, holder_of, onboard, sign_up};
pub use profile::{avatar, confirm_email, confirm_phone, set_avatar, update, verify_email};

/// The namespace in which email addresses are claimed.
const EMAIL: &str = "email";

/// The one spelling of an email address: no white space around it, lower case.
#[must_use]
pub fn normalised_email(email: &str) -> String {
    email.trim().to_lowercase()
}

/// Makes a person known to the bank. The id is the stream of the one event.
///
/// # Errors
/// `EMAIL_TAKEN` when somebody has the address.
pub async fn register(
    journal: &Journal,
    keys: &Keys,
    context: Context,
    user: RegisterUser,
) -> Result<Committed, CommandError> {
    Ok(journal.submit(registration(journal, keys, context, user).1).await?)
}

/// Their id, and the unit that makes them known.
fn registration(journal: &Journal, keys: &Keys, context: Context, mut user: RegisterUser) -> (UserId, Unit) {
    user.email = normalised_email(&user.email);
    let id = UserId::mint(journal.sources());
    let lookup = keys.email_lookup(&user.email);
    let register = UserCommand::Register(Box::new(user));
    (id, Unit::new(context).create(id, register).claim(EMAIL, lookup, id, "EMAIL_TAKEN"))
}

/// How an email address is claimed: the namespace, what stands for it, and the code of the refusal.
pub(crate) fn address_claim(keys: &Keys, email: &str) -> (&'static str, [u8; 32], &'static str) {
    (EMAIL, keys.email_lookup(email), "EMAIL_TAKEN")
}

/// Those of `emails`, in their one spelling, that somebody has, by what stands for them.
///
/// # Errors
/// When the store cannot be reached.
pub async fn addresses_taken(
    journal: &Journal,
    lookups: &[[u8; 32]],
) -> Result<std::collections::HashSet<[u8; 32]>, CommandError> {
    Ok(journal.held(EMAIL, lookups).await?)
}

/// The person, whoever they are.
async fn person(journal: &Journal, user: UserId) -> Result<Person, CommandError> {
    let (user, _) = journal.load::<User>(&user.to_string()).await?;
    user.person().cloned().ok_or_else(|| CommandError::refused(UserError::Unknown))
}

/// Whether somebody means the name that is on file: neither case nor white space matter.
fn same_name(said: &str, known: &Personal<String>) -> bool {
    let plain = |name: &str| name.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    known.get().is_some_and(|known| plain(known) == plain(said))
}

/// Who has the email address.
///
/// # Errors
/// When the store cannot be reached.
pub async fn by_email(journal: &Journal, keys: &Keys, email: &str) -> Result<Option<UserId>, CommandError> {
    let lookup = keys.email_lookup(&normalised_email(email));
    let holder = journal.holder(EMAIL, &lookup).await?;
    Ok(holder.and_then(|id| id.parse().ok()))
}

/// Their identity is verified; they may use the bank.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` unless they are pending.
pub async fn activate(journal: &Journal, context: Context, user: UserId) -> Result<Committed, CommandError> {
    Ok(journal.submit(Unit::new(context).step(user, UserCommand::Activate)).await?)
}

/// Sets the password.
///
/// # Errors
/// `NOT_FOUND`.
pub async fn set_password(
    journal: &Journal,
    passwords: &Passwords,
    context: Context,
    user: UserId,
    password: Password,
) -> Result<Committed, CommandError> {
    let hash = passwords.hash(password).await?;
    Ok(journal.submit(Unit::new(context).step(user, UserCommand::SetPassword { hash })).await?)
}

/// A password in the place of another.
pub struct PasswordChange {
    /// The one they have.
    pub current: Password,
    /// The one they want.
    pub new: Password,
    /// The session that asks, which goes on.
    pub session: SessionId,
    /// How many others end, as far as the read side knows.
    pub others: u32,
}

/// Changes a password, and ends every session but the one that asks.
///
/// # Errors
/// `WRONG_PASSWORD`, `PASSWORD_UNCHANGED`; `OVERTAKEN` when the sessions were ended in the meantime.
pub async fn change_password(
    journal: &Journal,
    passwords: &Passwords,
    context: Context,
    user_id: UserId,
    change: PasswordChange,
) -> Result<Committed, CommandError> {
    let (user, _) = journal.load::<User>(&user_id.to_string()).await?;
    let same = change.current.is(&change.new);
    if !passwords.verify(change.current, user.password_hash()).await {
        // A repeat comes with the password that the first time has replaced.
        return sessions::repeated(journal, context, user_id, WrongPassword).await;
    }
    if same {
        return Err(CommandError::refused(PasswordUnchanged));
    }
    let hash = passwords.hash(change.new).await?;
    let ending = Ending {
        reason: SessionsEndReason::PasswordChanged,
        except: Some(change.session),
        sessions: change.others,
    };
    let unit = Unit::new(context).step(user_id, UserCommand::SetPassword { hash });
    let unit = resets::told(sessions::end_all(unit, user_id, &user, ending), journal, user_id);
    Ok(journal.submit(unit).await?)
}

/// The password that should have been the current one is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the current password is wrong")]
pub struct WrongPassword;

impl Rejection for WrongPassword {
    fn code(&self) -> &'static str {
        "WRONG_PASSWORD"
    }

    fn kind(&self) -> RejectionKind {
        RejectionKind::Unprocessable
    }
}

/// The new password is the old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the new password is the one you have")]
pub struct PasswordUnchanged;

impl Rejection for PasswordUnchanged {
    fn code(&self) -> &'static str {
        "PASSWORD_UNCHANGED"
    }

    fn kind(&self) -> RejectionKind {
        RejectionKind::Unprocessable
    }
}

/// Staff: grants permissions beyond a customer's. Sessions begun from now on have them.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` unless the user is active.
pub async fn grant(
    journal: &Journal,
    context: Context,
    user: UserId,
    permissions: BTreeSet<Permission>,
) -> Result<Committed, CommandError> {
    Ok(journal.submit(Unit::new(context).step(user, UserCommand::Grant { permissions })).await?)
}

/// Staff: what somebody may do beyond a customer, from now on; `sessions` is how many they have, which end when something
/// is taken back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StaffChange {
    /// Given; those they have already are passed over.
    pub grant: BTreeSet<Permission>,
    /// Taken back; those they do not have are passed over.
    pub revoke: BTreeSet<Permission>,
    /// Sessions of theirs, as far as the read side knows.
    pub sessions: u32,
}

/// Staff: gives and takes back permissions, all of it or nothing. Taking one back ends the person's sessions.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` unless the user is active.
pub async fn change_staff(
    journal: &Journal,
    context: Context,
    user: UserId,
    change: StaffChange,
) -> Result<Committed, CommandError> {
    let StaffChange { grant, revoke, sessions } = change;
    let unit = Unit::new(context)
        .step(user, UserCommand::Grant { permissions: grant })
        .step(user, UserCommand::Revoke { permissions: revoke, sessions });
    Ok(journal.submit(unit).await?)
}

/// How often an erasure is tried again when the person changes meanwhile.
const ATTEMPTS: usize = 3;

/// Staff: erases a person. The first to ask records the request; when somebody else asks, the person's data key is
/// destroyed in the commit that records it: nothing personal can be read any more, their sessions are over, their email
/// address is free, and their accounts are closed.
///
/// # Errors
/// `NOT_FOUND`; `APPROVER_IS_MAKER`; `INVALID_STATE` once it is done; `ACCOUNT_NOT_EMPTY` and `ACCOUNT_BOUND` while an account
/// has money in it, has earned some, or is needed.
pub async fn erase(
    journal: &Journal,
    keys: &Keys,
    days: &dyn DayEnds,
    context: Context,
    by: UserId,
    user: UserId,
    reason: String,
) -> Result<Committed, CommandError> {
    let (mut attempt, pinned) = (1, context.expected_version.is_some());
    loop {
        let (known, version) = journal.load::<User>(&user.to_string()).await?;
        let accounts = journal.accounts_of(user).await?;
        // What is released below is what the events up to this version say.
        let context =
            Context { expected_version: context.expected_version.or(Some(version)), ..context.clone() };
        let erase = EraseUser { by, reason: reason.clone(), accounts: accounts.clone() };
        let mut unit = Unit::new(context).step(user, UserCommand::Erase(Box::new(erase)));
        if let Some(person) = known.person().filter(|person| person.erasure.is_some_and(|maker| maker != by))
        {
            if let Some(email) = person.email.get() {
                unit = unit.release(EMAIL, keys.email_lookup(email), user);
            }
            for account in &accounts {
                unit = closures::left_behind(journal, days, unit, account).await?;
            }
        }
        match journal.submit(unit).await {
            Err(SubmitError::Refused(reason))
                if reason.code() == "PRECONDITION_FAILED" && !pinned && attempt < ATTEMPTS =>
            {
                attempt += 1;
            }
            outcome => return Ok(outcome?),
        }
    }
}

/// Whether the phone number is the user's: the one that they have proven to have.
///
/// # Errors
/// `PHONE_NOT_YOURS`.
pub async fn own_phone(journal: &Journal, user: UserId, phone: &str) -> Result<(), CommandError> {
    let (user, _) = journal.load::<User>(&user.to_string()).await?;
    let verified = user.person().filter(|person| person.profile.is_phone_verified);
    if verified.is_some_and(|person| person.phone_number.get().is_some_and(|known| known == phone)) {
        Ok(())
    } else {
        Err(CommandError::refused(UserError::ForeignPhone))
    }
}
