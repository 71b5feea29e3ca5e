//! Registering people and saying what they may do.

use std::collections::BTreeSet;

use bursar_domain::kernel::{Permission, UserId};
use bursar_domain::users::{EraseUser, RegisterUser, User, UserCommand, UserError};

use crate::keys::Keys;
use crate::owned::CommandError;
use crate::passwords::{Password, Passwords};
use crate::{Committed, Context, Journal, SubmitError, Unit};

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
    mut user: RegisterUser,
) -> Result<Committed, CommandError> {
    user.email = normalised_email(&user.email);
    let id = UserId::mint(journal.sources());
    let lookup = keys.email_lookup(&user.email);
    let unit = Unit::new(context).create(id, UserCommand::Register(Box::new(user))).claim(
        EMAIL,
        lookup,
        id,
        "EMAIL_TAKEN",
    );
    Ok(journal.submit(unit).await?)
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

/// How often an erasure is tried again when the person changes meanwhile.
const ATTEMPTS: usize = 3;

/// Staff: erases a person. The first to ask records the request; when somebody else asks, the person's data key is
/// destroyed in the commit that records it: nothing personal can be read any more, their sessions are over, and their
/// email address is free.
///
/// # Errors
/// `NOT_FOUND`; `APPROVER_IS_MAKER`; `INVALID_STATE` once it is done.
pub async fn erase(
    journal: &Journal,
    keys: &Keys,
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
        let erase = EraseUser { by, reason: reason.clone(), accounts };
        let mut unit = Unit::new(context).step(user, UserCommand::Erase(Box::new(erase)));
        let person = known.person().filter(|person| person.erasure.is_some_and(|maker| maker != by));
        if let Some(email) = person.and_then(|person| person.email.get()) {
            unit = unit.release(EMAIL, keys.email_lookup(email), user);
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

/// Whether the phone number is the one the user is known by.
///
/// # Errors
/// `PHONE_NOT_YOURS`.
pub async fn own_phone(journal: &Journal, user: UserId, phone: &str) -> Result<(), CommandError> {
    let (user, _) = journal.load::<User>(&user.to_string()).await?;
    let known = user.person().and_then(|person| person.phone_number.get());
    if known.is_some_and(|known| known == phone) {
        Ok(())
    } else {
        Err(CommandError::refused(UserError::ForeignPhone))
    }
}
