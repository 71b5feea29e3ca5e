//! Changing what a person says about themselves, and proving what counts only when it is proven.

use bursar_domain::Personal;
use bursar_domain::kernel::{AvatarId, FileType, UserId, VerificationId};
use bursar_domain::messages::{Category, Channel, MessagesCommand, Recipient};
use bursar_domain::users::{
    Avatar, Person, ProfileCommand, ProfileUpdate, UserError, masked_email, masked_phone,
};
use bursar_domain::verifications::{Purpose, VerificationsError};

use super::identity::Asker;
use super::{EMAIL, person};
use crate::files::{self, Files};
use crate::keys::Keys;
use crate::messages::notice;
use crate::owned::{CommandError, NotFound, once};
use crate::verifications::{Guess, Verifier, Wanted};
use crate::{Committed, Context, Journal, Unit};

/// Changes what differs. A new mailbox or phone gets a code, and the old one is told.
///
/// # Errors
/// `NOT_FOUND`; `TOO_MANY_CODES` (429).
pub async fn update(
    journal: &Journal,
    verifier: &Verifier,
    context: Context,
    asker: Asker,
    update: ProfileUpdate,
) -> Result<Committed, CommandError> {
    let Asker { user, .. } = asker;
    let person = person(journal, user).await?;
    let new = |new: &Option<String>, old: &Personal<String>| new.clone().filter(|new| old.get() != Some(new));
    let email = new(&update.email, &person.email);
    let phone = new(&update.phone_number, &person.phone_number);
    let mut unit = Unit::new(context).step(user, ProfileCommand::Update(Box::new(update)));
    if let Some(email) = email {
        let words = format!(
            "Somebody, we hope you, wants your mail to go to {}. Until that mailbox is confirmed it comes here. If it was \
             not you, change your password and tell us.",
            masked_email(&email)
        );
        unit = unit.step(user, code(verifier, asker, Purpose::Email, email));
        unit =
            unit.step(user, tell(journal, &person, Channel::Email, "Your email address is to change", words));
    }
    if let Some(phone) = phone {
        let words = format!(
            "Somebody, we hope you, wants {} to be your phone number. If it was not you, change your password and tell us.",
            masked_phone(&phone)
        );
        unit = unit.step(user, code(verifier, asker, Purpose::Phone, phone));
        unit = unit.step(user, tell(journal, &person, Channel::Sms, "Your phone number is to change", words));
    }
    Ok(journal.submit(unit).await?)
}

/// Sends a code to the mailbox on file, or to the one that is to take its place.
///
/// # Errors
/// `EMAIL_MISMATCH` for any other; `TOO_MANY_CODES` (429).
pub async fn verify_email(
    journal: &Journal,
    verifier: &Verifier,
    context: Context,
    asker: Asker,
    email: String,
) -> Result<Committed, CommandError> {
    once(journal, context, async |context| {
        let person = person(journal, asker.user).await?;
        let waiting = person.profile.waiting.email.as_ref().and_then(Personal::get);
        if person.email.get() != Some(&email) && waiting != Some(&email) {
            return Err(CommandError::refused(UserError::EmailMismatch));
        }
        let unit = Unit::new(context).step(asker.user, code(verifier, asker, Purpose::Email, email));
        Ok(journal.submit(unit).await?)
    })
    .await
}

/// Takes the code of a mail: the mailbox is theirs, and takes the place of the old one where it is a new one.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_CODE`; `INVALID_STATE`; `EMAIL_TAKEN` when somebody else was faster; `CONTACT_CHANGED`.
pub async fn confirm_email(
    journal: &Journal,
    keys: &Keys,
    verifier: &Verifier,
    context: Context,
    asker: Asker,
    id: VerificationId,
    guess: &str,
) -> Result<Committed, CommandError> {
    let Some((unit, email)) = guessed(journal, verifier, &context, asker, Purpose::Email, id, guess).await?
    else {
        return Ok(journal.submit(Unit::new(context)).await?);
    };
    let (user, person) = (asker.user, person(journal, asker.user).await?);
    let mut unit = unit.step(user, ProfileCommand::ConfirmEmail { email: email.clone() });
    if let Some(old) = person.email.get().filter(|old| **old != email) {
        unit = unit.claim(EMAIL, keys.email_lookup(&email), user, "EMAIL_TAKEN").release(
            EMAIL,
            keys.email_lookup(old),
            user,
        );
        let words =
            format!("Your mail goes to {} from now on, and that is how you log in.", masked_email(&email));
        unit =
            unit.step(user, tell(journal, &person, Channel::Email, "Your email address has changed", words));
    }
    Ok(journal.submit(unit).await?)
}

/// Takes the code of a short message: the phone is theirs, and takes the place of the old one where it is a new one.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_CODE`; `INVALID_STATE`; `CONTACT_CHANGED`.
pub async fn confirm_phone(
    journal: &Journal,
    verifier: &Verifier,
    context: Context,
    asker: Asker,
    id: VerificationId,
    guess: &str,
) -> Result<Committed, CommandError> {
    let Some((unit, phone_number)) =
        guessed(journal, verifier, &context, asker, Purpose::Phone, id, guess).await?
    else {
        return Ok(journal.submit(Unit::new(context)).await?);
    };
    let (user, person) = (asker.user, person(journal, asker.user).await?);
    let words = format!("{} is your phone number from now on.", masked_phone(&phone_number));
    let told = tell(journal, &person, Channel::Sms, "Your phone number has changed", words);
    let is_new = person.phone_number.get() != Some(&phone_number);
    let unit = unit.step(user, ProfileCommand::ConfirmPhone { phone_number });
    Ok(journal.submit(if is_new { unit.step(user, told) } else { unit }).await?)
}

/// The unit of a right guess, and where its code went; none when the request was carried out before.
async fn guessed(
    journal: &Journal,
    verifier: &Verifier,
    context: &Context,
    asker: Asker,
    purpose: Purpose,
    id: VerificationId,
    code: &str,
) -> Result<Option<(Unit, String)>, CommandError> {
    if journal.knows(context).await? {
        return Ok(None);
    }
    let bound_to = asker.session.to_string();
    let guess = Guess { user: asker.user, purpose, id: Some(id), bound_to: &bound_to, code };
    let unit = verifier.check(context.clone(), guess).await?;
    let newest = verifier.newest(asker.user, purpose).await?.filter(|newest| newest.issued.id == id);
    let destination = newest.and_then(|newest| newest.issued.destination.get().cloned());
    let destination = destination.ok_or_else(|| CommandError::refused(VerificationsError::Unknown))?;
    Ok(Some((unit, destination)))
}

/// The step that sends a code to somebody who has yet to prove that they are there.
fn code(
    verifier: &Verifier,
    asker: Asker,
    purpose: Purpose,
    destination: String,
) -> bursar_domain::verifications::VerificationsCommand {
    let channel = if purpose == Purpose::Phone { Channel::Sms } else { Channel::Email };
    verifier.issue(Wanted { purpose, channel, destination, bound_to: asker.session.to_string() })
}

/// The step that tells somebody about a change where they can be reached before it; by mail in any case.
fn tell(
    journal: &Journal,
    person: &Person,
    channel: Channel,
    subject: &str,
    words: String,
) -> MessagesCommand {
    let mut told = notice(journal.sources(), Category::Security, subject, words);
    told.channels.insert(channel);
    told.to = Some(Recipient {
        email: Some(person.email.clone()),
        phone_number: Some(person.phone_number.clone()),
    });
    MessagesCommand::Post(Box::new(told))
}

/// Makes a picture theirs, in the place of any other.
///
/// # Errors
/// `FILE_TYPE_MISMATCH`, `FILE_DAMAGED`, `IMAGE_TOO_LARGE` (422); `AVATAR_CHANGED` when two are set at once.
pub async fn set_avatar(
    journal: &Journal,
    files: &Files,
    context: Context,
    user: UserId,
    file_type: FileType,
    content: Vec<u8>,
) -> Result<Committed, CommandError> {
    once(journal, context, async |context| {
        let old = person(journal, user).await?.profile.avatar;
        let size = u64::try_from(content.len()).unwrap_or(u64::MAX);
        let picture = files.avatar(file_type, content).await?;
        let image = files.put(journal, user, file_type, picture.image).await?;
        let thumbnail = files.put(journal, user, file_type, picture.thumbnail).await?;
        let avatar = Avatar {
            id: AvatarId::mint(journal.sources()),
            image: image.clone(),
            thumbnail: thumbnail.clone(),
            width: picture.width,
            height: picture.height,
            size,
            uploaded_at: journal.sources().clock.now(),
        };
        let over = old.as_ref().map(|old| old.id);
        let mut unit =
            Unit::new(context).step(user, ProfileCommand::SetAvatar { avatar: Box::new(avatar), over });
        for file in old.iter().flat_map(|old| [&old.image, &old.thumbnail]) {
            unit = files::let_go(unit, file, user);
        }
        files.submit(journal, unit, user, &[&image, &thumbnail]).await
    })
    .await
}

/// Their picture.
///
/// # Errors
/// `NOT_FOUND` when they have none.
pub async fn avatar(journal: &Journal, user: UserId) -> Result<Avatar, CommandError> {
    let avatar = person(journal, user).await?.profile.avatar;
    avatar.ok_or_else(|| CommandError::refused(NotFound("avatar")))
}
