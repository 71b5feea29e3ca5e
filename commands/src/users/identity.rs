//! Proving who somebody is: a register knows them, and they have the phone that is on file.

use bursar_domain::Personal;
use bursar_domain::kernel::{SessionId, UserId, VerificationId};
use bursar_domain::messages::{Category, Channel, MessagesCommand};
use bursar_domain::users::{IdentityLookup, Person, ProfileCommand, UserError};
use bursar_domain::verifications::{Purpose, Verification, VerificationsError};

use super::{person, same_name};
use crate::identity::{Claimant, Finding, IdentityRegistry};
use crate::keys::{Keys, hex};
use crate::messages::notice;
use crate::owned::{CommandError, once};
use crate::verifications::{Guess, Verifier, Wanted};
use crate::{Committed, Context, Journal, Unit};

/// Who asks about their own identity, and in which session: a code counts in the session that asked for it.
#[derive(Debug, Clone, Copy)]
pub struct Asker {
    /// Who.
    pub user: UserId,
    /// Their session.
    pub session: SessionId,
}

/// What somebody says about who they are.
#[derive(Clone)]
pub struct IdentityClaim {
    /// What the register is asked.
    pub claimant: Claimant,
    /// The phone on file, E.164.
    pub phone_number: String,
}

/// Asks the register whether somebody is who they say, and sends a code to the phone on file.
///
/// # Errors
/// `IDENTITY_MISMATCH` when the register or the profile says otherwise; `TOO_MANY_CODES` (429); unavailable when the
/// register does not answer.
pub async fn look_up(
    journal: &Journal,
    keys: &Keys,
    verifier: &Verifier,
    registry: &dyn IdentityRegistry,
    context: Context,
    asker: Asker,
    claim: IdentityClaim,
) -> Result<Committed, CommandError> {
    let IdentityClaim { claimant, phone_number } = claim;
    // What was found then is not asked for again.
    once(journal, context, async |context| {
        let person = person(journal, asker.user).await?;
        let mismatch = || CommandError::refused(UserError::IdentityMismatch);
        if !is_of(&claimant, &person) || person.phone_number.get() != Some(&phone_number) {
            return Err(mismatch());
        }
        let (identity_type, country) = (claimant.identity_type, claimant.country.clone());
        let token = keys.identity_token(asker.user, identity_type.as_str(), &country, &claimant.number);
        let last_four =
            claimant.number.chars().skip(claimant.number.chars().count().saturating_sub(4)).collect();
        match registry.look_up(claimant).await {
            Ok(Finding::Match) => {}
            Ok(Finding::NoMatch) => return Err(mismatch()),
            Err(_) => return Err(CommandError::unavailable()),
        }
        let code = verifier.issue(Wanted {
            purpose: Purpose::Identity,
            channel: Channel::Sms,
            destination: phone_number,
            bound_to: asker.session.to_string(),
        });
        let lookup = IdentityLookup {
            identity_type,
            country,
            token: Personal::new(hex(&token)),
            last_four: Personal::new(last_four),
            verification_id: code.id(),
        };
        let look_up = ProfileCommand::LookUpIdentity(Box::new(lookup));
        Ok(journal.submit(Unit::new(context).step(asker.user, code).step(asker.user, look_up)).await?)
    })
    .await
}

/// Sends a new code in the place of the last one.
///
/// # Errors
/// `NOT_FOUND`; `IDENTITY_MISMATCH` for another phone; `INVALID_STATE`; `RESEND_TOO_SOON`, `TOO_MANY_CODES` (429).
pub async fn resend(
    journal: &Journal,
    verifier: &Verifier,
    context: Context,
    asker: Asker,
    id: VerificationId,
    phone_number: &str,
) -> Result<Committed, CommandError> {
    once(journal, context, async |context| {
        pending(verifier, asker, id, phone_number).await?;
        verifier.resend(context, asker.user, id).await
    })
    .await
}

/// Takes the code: whoever has it and is in the register is who they say.
///
/// # Errors
/// `NOT_FOUND`; `IDENTITY_MISMATCH` for another phone; `INVALID_CODE`; `INVALID_STATE`; `IDENTITY_CHANGED`.
pub async fn confirm(
    journal: &Journal,
    verifier: &Verifier,
    context: Context,
    asker: Asker,
    id: VerificationId,
    phone_number: &str,
    code: &str,
) -> Result<Committed, CommandError> {
    once(journal, context, async |context| {
        pending(verifier, asker, id, phone_number).await?;
        let bound_to = asker.session.to_string();
        let guess =
            Guess { user: asker.user, purpose: Purpose::Identity, id: Some(id), bound_to: &bound_to, code };
        let unit = verifier.check(context, guess).await?;
        let words = "Your identity is verified. Log in again to use all of your bank.".to_owned();
        let told = notice(journal.sources(), Category::Compliance, "Your identity is verified", words);
        let unit = unit
            .step(asker.user, ProfileCommand::VerifyIdentity { verification_id: id })
            .step(asker.user, MessagesCommand::Post(Box::new(told)));
        Ok(journal.submit(unit).await?)
    })
    .await
}

/// The verification that the asker's session began, if its code went to this phone.
async fn pending(
    verifier: &Verifier,
    asker: Asker,
    id: VerificationId,
    phone_number: &str,
) -> Result<Verification, CommandError> {
    let newest = verifier.newest(asker.user, Purpose::Identity).await?;
    let own = newest.filter(|v| v.issued.id == id && v.issued.bound_to == asker.session.to_string());
    let own = own.ok_or_else(|| CommandError::refused(VerificationsError::Unknown))?;
    if own.issued.destination.get().is_none_or(|phone| phone != phone_number) {
        return Err(CommandError::refused(UserError::IdentityMismatch));
    }
    Ok(own)
}

/// Whether names and date of birth are those of the profile, or those it is about to have.
fn is_of(claimant: &Claimant, person: &Person) -> bool {
    let (first_name, last_name) = person.names_to_verify();
    same_name(&claimant.first_name, first_name)
        && same_name(&claimant.last_name, last_name)
        && person.profile.date_of_birth.get() == Some(&claimant.date_of_birth)
}
