//! PINs of devices: set, changed, and set anew with a code.

use bursar_domain::devices::{DevicesCommand, DevicesError, PinGrounds, check_pin};
use bursar_domain::kernel::{SessionId, UserId, VerificationId};
use bursar_domain::messages::Channel;
use bursar_domain::users::{SessionsEndReason, User, UserError};
use bursar_domain::verifications::{Purpose, VerificationsError};
use bursar_domain::{Aggregate as _, Personal};

use super::{of, tell};
use crate::owned::{CommandError, once};
use crate::passwords::{Password, Passwords};
use crate::sessions::{self, Ending};
use crate::verifications::{Guess, Verifier, Wanted};
use crate::{Committed, Context, Journal, Unit};

/// A PIN in the place of another.
pub struct PinChange {
    /// Of which device.
    pub device_id: String,
    /// The one there is.
    pub current: String,
    /// The one there shall be.
    pub new: String,
    /// The session that goes on.
    pub session: SessionId,
    /// How many others there are.
    pub others: u32,
}

/// A PIN that is to be set with a code.
pub struct WantedReset {
    /// Of which device.
    pub device_id: String,
    /// By which way the code travels.
    pub channel: Channel,
    /// What the owner says their phone number is.
    pub phone_number: Option<String>,
    /// What the owner says their address is.
    pub email: Option<String>,
}

/// The code of a reset, and the PIN it shall set.
pub struct PinConfirmation {
    /// The reset.
    pub reset: VerificationId,
    /// The code.
    pub code: String,
    /// The PIN.
    pub new: String,
    /// The session that goes on.
    pub session: SessionId,
    /// How many others there are.
    pub others: u32,
}

bursar_domain::rejections! {
    /// Why no code is sent.
    pub enum ResetRefused {
        /// Not theirs.
        Mismatch: Unprocessable "IDENTITY_MISMATCH" = "this is not the phone number or address you are known by",
    }
}

/// Sets the first PIN of a device.
///
/// # Errors
/// `WEAK_PIN`; `NOT_FOUND`; `INVALID_STATE`; `PIN_EXISTS`.
pub async fn create_pin(
    journal: &Journal,
    passwords: &Passwords,
    context: Context,
    owner: UserId,
    device_id: String,
    pin: String,
) -> Result<Committed, CommandError> {
    strong(journal, owner, &pin).await?;
    let hash = passwords.hash(Password::typed(pin)).await?;
    let set = DevicesCommand::SetPin { device_id, hash, grounds: PinGrounds::First, seen: 0 };
    Ok(journal.submit(Unit::new(context).step(owner, set)).await?)
}

/// Changes the PIN of a device. The guess at the old one is counted, in a commit of its own, before it is looked at; every
/// other session of the owner's ends.
///
/// # Errors
/// `WEAK_PIN`; `NOT_FOUND`; `INVALID_STATE`; `NO_PIN`; `PIN_LOCKED`; `INVALID_PIN`.
pub async fn change_pin(
    journal: &Journal,
    passwords: &Passwords,
    context: Context,
    owner: UserId,
    change: PinChange,
) -> Result<Committed, CommandError> {
    once(journal, context, async |context| {
        let PinChange { device_id, current, new, session, others } = change;
        let user = strong(journal, owner, &new).await?;
        let count = Context { idempotency: None, expected_version: None, ..context.clone() };
        let guess = DevicesCommand::TryPin { device_id: device_id.clone() };
        journal.submit(Unit::new(count).step(owner, guess)).await?;
        // Read again: what is compared is the PIN that the guess was counted against, or one that came after it.
        let (devices, _) = of(journal, owner).await?;
        let device = devices.get(&device_id).ok_or_else(|| CommandError::refused(DevicesError::Unknown))?;
        let pin = device.pin.as_ref().ok_or_else(|| CommandError::refused(DevicesError::NoPin))?;
        if !passwords.verify(Password::typed(current), pin.hash.get().cloned()).await {
            return Err(CommandError::refused(DevicesError::WrongPin { remaining: pin.remaining_tries() }));
        }
        let hash = passwords.hash(Password::typed(new)).await?;
        let set =
            DevicesCommand::SetPin { device_id, hash, grounds: PinGrounds::Known, seen: pin.generation };
        let unit = Unit::new(context).step(owner, set);
        let ending =
            Ending { reason: SessionsEndReason::PinChanged, except: Some(session), sessions: others };
        let unit = sessions::end_all(unit, owner, &user, ending);
        Ok(journal.submit(tell(unit, journal.sources(), owner, "PIN changed", CHANGED)).await?)
    })
    .await
}

/// What the owner is told.
const CHANGED: &str = "The PIN of a device of yours was changed. If that was not you, call the bank.";

/// Sends a code with which the PIN of a device can be set anew: to the phone or address on file, whatever was said.
///
/// # Errors
/// `IDENTITY_MISMATCH` when what was said is another; `NOT_FOUND`; `INVALID_STATE`; `NO_PIN`; `TOO_MANY_CODES`.
pub async fn reset_pin(
    journal: &Journal,
    verifier: &Verifier,
    context: Context,
    owner: UserId,
    wanted: WantedReset,
) -> Result<Committed, CommandError> {
    let WantedReset { device_id, channel, phone_number, email } = wanted;
    once(journal, context, async |context| {
        let (devices, _) = of(journal, owner).await?;
        // What will be refused with the code is refused without it: the hash is nobody's.
        let set = DevicesCommand::SetPin {
            device_id: device_id.clone(),
            hash: String::new(),
            grounds: PinGrounds::Code,
            seen: 0,
        };
        devices.decide(set).map_err(CommandError::refused)?;
        let (user, _) = journal.load::<User>(&owner.to_string()).await?;
        let person = user.person().ok_or_else(|| CommandError::refused(UserError::Unknown))?;
        let is_theirs = |said: Option<String>, known: &Personal<String>| {
            said.is_none_or(|said| known.get().is_some_and(|known| known.eq_ignore_ascii_case(said.trim())))
        };
        if !is_theirs(phone_number, &person.phone_number) || !is_theirs(email, &person.email) {
            return Err(CommandError::refused(ResetRefused::Mismatch));
        }
        let known = match channel {
            Channel::Email => &person.email,
            Channel::Sms | Channel::Push => &person.phone_number,
        };
        let destination =
            known.get().cloned().ok_or_else(|| CommandError::refused(ResetRefused::Mismatch))?;
        let issue =
            verifier.issue(Wanted { purpose: Purpose::PinReset, channel, destination, bound_to: device_id });
        Ok(journal.submit(Unit::new(context).step(owner, issue)).await?)
    })
    .await
}

/// Sets the PIN of a device with a code. Every other session of the owner's ends.
///
/// # Errors
/// `WEAK_PIN`; `NOT_FOUND`; `INVALID_STATE`; `INVALID_CODE`.
pub async fn confirm_pin(
    journal: &Journal,
    passwords: &Passwords,
    verifier: &Verifier,
    context: Context,
    owner: UserId,
    confirmation: PinConfirmation,
) -> Result<Committed, CommandError> {
    once(journal, context, async |context| {
        let PinConfirmation { reset, code, new, session, others } = confirmation;
        let user = strong(journal, owner, &new).await?;
        let newest = verifier.newest(owner, Purpose::PinReset).await?;
        let issued = newest.map(|newest| newest.issued).filter(|issued| issued.id == reset);
        let device_id = issued.ok_or_else(|| CommandError::refused(VerificationsError::Unknown))?.bound_to;
        let guess = Guess {
            user: owner,
            purpose: Purpose::PinReset,
            id: Some(reset),
            bound_to: &device_id,
            code: &code,
        };
        let unit = verifier.check(context, guess).await?;
        let hash = passwords.hash(Password::typed(new)).await?;
        let unit =
            unit.step(owner, DevicesCommand::SetPin { device_id, hash, grounds: PinGrounds::Code, seen: 0 });
        let ending = Ending { reason: SessionsEndReason::PinReset, except: Some(session), sessions: others };
        let unit = sessions::end_all(unit, owner, &user, ending);
        Ok(journal.submit(tell(unit, journal.sources(), owner, "PIN reset", CHANGED)).await?)
    })
    .await
}

/// The owner, if the PIN is none that everybody or everybody who knows them tries first.
async fn strong(journal: &Journal, owner: UserId, pin: &str) -> Result<User, CommandError> {
    let (user, _) = journal.load::<User>(&owner.to_string()).await?;
    let birth = user.person().and_then(|person| person.profile.date_of_birth.get()).copied();
    check_pin(pin, birth).map_err(CommandError::refused)?;
    Ok(user)
}
