//! How people come to the bank: by themselves, by a member of staff, or with an account they have had for long.

use bursar_domain::AccountNumber;
use bursar_domain::kernel::UserId;
use bursar_domain::ledger::AccountStatus;
use bursar_domain::messages::{Category, MessagesCommand};
use bursar_domain::users::{
    Person, ProfileCommand, ProfileUpdate, RegisterUser, User, UserError, masked_name, masked_phone,
};
use jiff::civil::Date;

use super::{normalised_email, registration, same_name};
use crate::keys::Keys;
use crate::messages::notice;
use crate::owned::{CommandError, NotFound, once};
use crate::{Committed, Context, Journal};

/// Registers somebody who comes by themselves, and tells them what comes next.
///
/// # Errors
/// `EMAIL_TAKEN` when somebody has the address.
pub async fn sign_up(
    journal: &Journal,
    keys: &Keys,
    context: Context,
    user: RegisterUser,
) -> Result<Committed, CommandError> {
    let (id, unit) = registration(journal, keys, context, user);
    let words =
        "Set a password with \"forgot password\", log in, and verify your identity: then your bank is open.";
    let welcome = notice(journal.sources(), Category::General, "Welcome", words.to_owned());
    Ok(journal.submit(unit.step(id, MessagesCommand::Post(Box::new(welcome)))).await?)
}

/// What somebody says who holds an account and wants to use it digitally.
#[derive(Clone)]
pub struct Holder {
    /// Family name.
    pub last_name: String,
    /// Date of birth.
    pub date_of_birth: Date,
    /// Email address.
    pub email: Option<String>,
    /// E.164.
    pub phone_number: Option<String>,
}

impl Holder {
    fn is(&self, person: &Person) -> bool {
        let phone = self.phone_number.as_ref().is_some_and(|phone| person.phone_number.get() == Some(phone));
        let email = self.email.as_ref().map(|email| normalised_email(email));
        let email = email.is_some_and(|email| person.email.get() == Some(&email));
        same_name(&self.last_name, &person.last_name)
            && person.profile.date_of_birth.get() == Some(&self.date_of_birth)
            && (phone || email)
    }
}

/// Opens the digital bank to the holder of an account. Somebody who uses it already changes only what they say about
/// themselves, and only when they are logged in: `caller`.
///
/// # Errors
/// `IDENTITY_MISMATCH`, in one form for an account that does not exist or is closed, for whoever does not know the holder,
/// and for a holder who uses the digital bank already.
pub async fn onboard(
    journal: &Journal,
    context: Context,
    caller: Option<UserId>,
    number: &AccountNumber,
    holder: &Holder,
    update: ProfileUpdate,
) -> Result<Committed, CommandError> {
    once(journal, context, async |context| {
    let account = journal.ledger_account(number).await?;
    let owner =
        account.filter(|account| account.status != AccountStatus::Closed).and_then(|account| account.owner);
    // Somebody unknown is looked up like everybody else, so that the answer takes no less time.
    let user = owner.unwrap_or_else(|| UserId::mint(journal.sources()));
    let (known, _) = journal.load::<User>(&user.to_string()).await?;
    let is_new = matches!(known, User::Pending(_));
    let recognised = known.person().is_some_and(|person| holder.is(person));
    if owner.is_none() || !recognised || !(is_new || caller == owner) {
        return Err(CommandError::refused(UserError::IdentityMismatch));
    }
    let onboard = ProfileCommand::Onboard { account_number: number.clone(), update: Box::new(update) };
    let mut unit = crate::Unit::new(context).step(user, onboard);
    if is_new {
        let words = "Your account can be used digitally now. Set a password with \"forgot password\" to log in. If it was \
                     not you who asked for it, tell us.";
        let told = notice(journal.sources(), Category::Security, "Digital banking is on", words.to_owned());
        unit = unit.step(user, MessagesCommand::Post(Box::new(told)));
    }
    Ok(journal.submit(unit).await?)
    })
    .await
}

/// What a customer may know of the holder of an account: enough to see whether they are about to pay the right one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glimpse {
    /// Who.
    pub user: UserId,
    /// Their name, masked.
    pub name: String,
    /// Their phone number, masked.
    pub phone_number: String,
    /// Whether they use the digital bank.
    pub is_digital: bool,
}

/// The holder of an account, hardly visible.
///
/// # Errors
/// `NOT_FOUND`.
pub async fn holder_of(journal: &Journal, number: &AccountNumber) -> Result<Glimpse, CommandError> {
    let unknown = || CommandError::refused(NotFound("account"));
    let account = journal.ledger_account(number).await?;
    let owner =
        account.filter(|account| account.status != AccountStatus::Closed).and_then(|account| account.owner);
    let user = owner.ok_or_else(unknown)?;
    let (known, _) = journal.load::<User>(&user.to_string()).await?;
    let person = known.person().ok_or_else(unknown)?;
    let name = [&person.first_name, &person.last_name]
        .map(|name| name.get().map(String::as_str).unwrap_or_default());
    Ok(Glimpse {
        user,
        name: masked_name(&name.join(" ")),
        phone_number: masked_phone(person.phone_number.get().map(String::as_str).unwrap_or_default()),
        is_digital: matches!(known, User::Active(_)),
    })
}
