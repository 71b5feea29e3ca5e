//! Opening accounts, freezing them, and telling whose they are.

mod rest;
mod statements;

use bursar_domain::accounts::{Account, AccountCommand, Configure, Notifications, OpenAccount, SavingsPlan};
use bursar_domain::kernel::UserId;
use bursar_domain::ledger::LedgerError;
use bursar_domain::messages::{Category, Channel, MessagesCommand};
use bursar_domain::payments::{Pay, PaymentCommand, PaymentKind};
use bursar_domain::products::{AccountType, Product, ProductTerms};
use bursar_domain::savings::{NewContributions, NewPlan, PlanCommand};
use bursar_domain::users::User;
use bursar_domain::{AccountNumber, Amount, Currency};

pub use rest::WatchSilence;
pub use statements::SendStatements;

use crate::journal::Holding;
use crate::messages::notice;
use crate::owned::{CommandError, NotFound, Owned};
use crate::payments;
use crate::{Committed, Context, Journal, Unit};

/// How many numbers are drawn before giving up. One in 900 million is taken per account there is.
const DRAWS: usize = 8;

/// What a customer asks for when opening an account.
#[derive(Debug, Clone)]
pub struct NewAccount {
    /// The name on it; the product's when absent.
    pub name: Option<String>,
    /// The product's code.
    pub product_id: String,
    /// Must be the product's; absent, it is.
    pub account_type: Option<AccountType>,
    /// Must be the product's.
    pub currency: Currency,
    /// What it is opened with, and the caller's account that pays it.
    pub initial_deposit: Option<(Amount, Owned<Holding>)>,
    /// The plan of a target savings account.
    pub plan: Option<SavingsPlan>,
    /// The caller's account that the plan saves from; without one nothing is saved by itself.
    pub saves_from: Option<Owned<Holding>>,
}

/// Opens an account for `owner` and pays the initial deposit into it: both or neither.
///
/// # Errors
/// `NOT_FOUND` for an unknown product, `CURRENCY_MISMATCH`, what the product and the ledger refuse.
pub async fn open(
    journal: &Journal,
    context: &Context,
    owner: UserId,
    request: NewAccount,
) -> Result<Committed, CommandError> {
    let (product, _) = journal.load::<Product>(&request.product_id).await?;
    let Product::Defined(terms) = product else {
        return Err(CommandError::refused(NotFound("product")));
    };
    let mut taken = None;
    for _ in 0..DRAWS {
        let number = AccountNumber::draw(&*journal.sources().entropy);
        let unit = opening(journal, context, owner, &request, &terms, &number)?;
        match journal.submit(unit).await.map_err(CommandError::from) {
            Err(error) if error.code() == Some("ACCOUNT_EXISTS") => taken = Some(error),
            answer => return answer,
        }
    }
    Err(taken.unwrap_or_else(|| CommandError::refused(NotFound("free account number"))))
}

fn opening(
    journal: &Journal,
    context: &Context,
    owner: UserId,
    request: &NewAccount,
    terms: &ProductTerms,
    number: &AccountNumber,
) -> Result<Unit, CommandError> {
    let mismatch = |account: &str, expected, actual| {
        let account = account.into();
        Err(CommandError::refused(LedgerError::CurrencyMismatch { account, expected, actual }))
    };
    if request.currency != terms.currency {
        return mismatch(&request.product_id, terms.currency, request.currency);
    }
    if let Some(source) = request.saves_from.as_ref().filter(|source| source.currency != terms.currency) {
        return mismatch(source.number.as_str(), source.currency, terms.currency);
    }
    let open = AccountCommand::Open(Box::new(OpenAccount {
        owner,
        name: request.name.clone().unwrap_or_else(|| terms.name.clone()),
        product_id: request.product_id.clone(),
        product: terms.clone(),
        account_type: request.account_type.unwrap_or(terms.account_type),
        initial_deposit: request.initial_deposit.as_ref().map(|(amount, _)| amount.minor()),
        plan: request.plan.clone(),
    }));
    let unit = Unit::new(context.clone()).create(number, open);
    let unit = match planned(journal, owner, request) {
        Some(plan) => unit.create(number, PlanCommand::Begin(Box::new(plan))),
        None => unit,
    };
    let Some((amount, source)) = &request.initial_deposit else { return Ok(unit) };
    let id = payments::mint(journal);
    let (source, reference) = (source.number.clone(), payments::reference_of(id));
    let deposit = Pay {
        payer: Some(owner),
        narration: Some("Initial deposit".to_owned()),
        ..Pay::between(PaymentKind::Own, source, number.clone(), *amount, request.currency, reference)
    };
    Ok(unit.create(id, PaymentCommand::Pay(Box::new(deposit))))
}

/// What the account saves by itself, and until when.
fn planned(journal: &Journal, owner: UserId, request: &NewAccount) -> Option<NewPlan> {
    let plan = request.plan.as_ref()?;
    let amount = plan.amount.and_then(|minor| Amount::try_from(minor).ok());
    let contributions = match (&request.saves_from, amount, plan.frequency) {
        (Some(source), Some(amount), Some(frequency)) => {
            Some(NewContributions { source: source.number.clone(), amount, frequency })
        }
        _ => None,
    };
    let matures_at = plan.maturity_date;
    if contributions.is_none() && matures_at.is_none() {
        return None;
    }
    Some(NewPlan { owner, contributions, matures_at, now: journal.sources().clock.now() })
}

/// The account `number`, if `owner` holds it.
///
/// # Errors
/// `NOT_FOUND` when it does not exist or is somebody else's; the two cannot be told apart.
pub async fn owned(
    journal: &Journal,
    owner: UserId,
    number: &AccountNumber,
) -> Result<Owned<Holding>, CommandError> {
    let holding = journal.owned_account(owner, number).await?;
    holding
        .map(|holding| Owned::new(owner, holding))
        .ok_or_else(|| CommandError::refused(NotFound("account")))
}

/// Sets up an account of `owner`'s.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` once it is closed; `PLAN_NOT_ALLOWED` unless it is target savings.
pub async fn configure(
    journal: &Journal,
    context: Context,
    owner: UserId,
    number: &AccountNumber,
    configure: Configure,
) -> Result<Committed, CommandError> {
    let command = AccountCommand::Configure(Box::new(configure));
    Ok(journal.submit(Unit::new(context).step_of(owner, number, command)).await?)
}

/// Tells the holder of an account, by the ways that they have chosen for it, in the unit of what it is about. Whoever was
/// erased is told nothing.
pub(crate) async fn telling(
    journal: &Journal,
    unit: Unit,
    number: &AccountNumber,
    subject: &str,
    body: String,
) -> Result<Unit, CommandError> {
    let (account, _) = journal.load::<Account>(number.as_str()).await?;
    let Some(contract) = account.contract() else { return Ok(unit) };
    let (holder, _) = journal.load::<User>(&contract.owner.to_string()).await?;
    if holder.person().is_none() {
        return Ok(unit);
    }
    let Notifications { email, sms, push } = contract.settings.notifications;
    let ways = [(email, Channel::Email), (sms, Channel::Sms), (push, Channel::Push)];
    let mut notice = notice(journal.sources(), Category::Account, subject, body);
    notice.channels = ways.into_iter().filter_map(|(wanted, way)| wanted.then_some(way)).collect();
    notice.about.insert("accountNumber".to_owned(), number.to_string());
    Ok(unit.step(contract.owner, MessagesCommand::Post(Box::new(notice))))
}

/// Staff: lets no money leave the account.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` unless it is active.
pub async fn freeze(
    journal: &Journal,
    context: Context,
    number: &AccountNumber,
    reason: String,
) -> Result<Committed, CommandError> {
    let unit = Unit::new(context).step(number, AccountCommand::Freeze { reason });
    Ok(journal.submit(unit).await?)
}

/// Staff: lets money leave the account again.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` unless it is frozen.
pub async fn unfreeze(
    journal: &Journal,
    context: Context,
    number: &AccountNumber,
    reason: String,
) -> Result<Committed, CommandError> {
    let unit = Unit::new(context).step(number, AccountCommand::Unfreeze { reason });
    Ok(journal.submit(unit).await?)
}

/// Staff: lets money leave again from an account that nobody has used for long.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` unless it is dormant.
pub async fn reactivate(
    journal: &Journal,
    context: Context,
    number: &AccountNumber,
    reason: String,
) -> Result<Committed, CommandError> {
    let unit = Unit::new(context).step(number, AccountCommand::Reactivate { reason });
    let words = "Your account can be used again.".to_owned();
    let unit = telling(journal, unit, number, "Your account can be used again", words).await?;
    Ok(journal.submit(unit).await?)
}
