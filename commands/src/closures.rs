//! Closing accounts: customers ask, staff decide, other staff do it.
//!
//! What may not be is refused where it would happen: the ledger neither closes an account that something needs nor one that is
//! not empty. A payment in the meantime changes the balance, and the closing is made anew.

use bursar_domain::accounts::AccountCommand;
use bursar_domain::closures::{Closure, ClosureCommand, ClosureError, Completed, Requested, Swept};
use bursar_domain::kernel::{ClosureId, UserId};
use bursar_domain::ledger::{AccountStatus, LedgerError};
use bursar_domain::mandates::{Mandate, MandateCommand};
use bursar_domain::payments::{Pay, PaymentCommand, PaymentKind};
use bursar_domain::savings::{Plan, PlanCommand};
use bursar_domain::{AccountNumber, Aggregate as _, Amount, Personal};
use jiff::Timestamp;

use crate::accounts::telling;
use crate::interest::{self, DayEnds};
use crate::journal::{Holding, SubmitError};
use crate::keys::sha256;
use crate::owned::{CommandError, NotFound, Owned, once};
use crate::payments;
use crate::{Committed, Context, Journal, Unit};

/// The namespace in which an account has one open application.
const OPEN: &str = "closure";
/// How often a closing is made anew because money has moved in the meantime.
const TRIES: usize = 5;

/// What a customer says about closing an account.
#[derive(Debug, Clone)]
pub struct NewClosure {
    /// Why.
    pub reason: String,
    /// When it should be, if it matters.
    pub preferred_date: Option<Timestamp>,
    /// Which account of theirs gets what is left.
    pub transfer_account: Option<Owned<Holding>>,
    /// What else they say.
    pub comments: Option<String>,
}

/// Asks for an account of the caller's to be closed.
///
/// # Errors
/// `CLOSURE_OPEN` while there is an application; `INVALID_STATE` unless it is active; `EARLY_CLOSURE_NOT_ALLOWED`;
/// `ACCOUNT_BOUND` while a payment is on its way, a loan is owed or a dispute is open; `SAME_ACCOUNT`, `CURRENCY_MISMATCH` for
/// the account that gets what is left.
pub async fn apply(
    journal: &Journal,
    context: Context,
    account: &Owned<Holding>,
    new: NewClosure,
) -> Result<Committed, CommandError> {
    if let Some(other) = &new.transfer_account {
        if other.number == account.number {
            return Err(CommandError::refused(ClosureError::SameAccount));
        }
        if other.currency != account.currency {
            return Err(CommandError::refused(LedgerError::CurrencyMismatch {
                account: account.number.clone(),
                expected: account.currency,
                actual: other.currency,
            }));
        }
    }
    let id = ClosureId::mint(journal.sources());
    let requested = Requested {
        owner: account.owner(),
        account: account.number.clone(),
        reason: new.reason,
        preferred_date: new.preferred_date,
        transfer_account: new.transfer_account.map(|other| other.number.clone()),
        comments: new.comments.map(Personal::new),
    };
    let now = journal.sources().clock.now();
    let unit = Unit::new(context)
        .step_of(account.owner(), &account.number, AccountCommand::Leave { now })
        .create(id, ClosureCommand::Request(Box::new(requested)))
        .claim(OPEN, hash(&account.number), id, "CLOSURE_OPEN");
    Ok(journal.submit(unit).await?)
}

/// Takes the open application of an account of the caller's back.
///
/// # Errors
/// `NOT_FOUND` when there is none.
pub async fn cancel(
    journal: &Journal,
    context: Context,
    account: &Owned<Holding>,
) -> Result<Committed, CommandError> {
    // By then nothing was open any more.
    once(journal, context, async |context| {
        let open = journal.holder(OPEN, &hash(&account.number)).await?;
        let id: ClosureId = open
            .and_then(|id| id.parse().ok())
            .ok_or_else(|| CommandError::refused(NotFound("application")))?;
        let unit = Unit::new(context).step_of(account.owner(), id, ClosureCommand::Cancel);
        Ok(journal.submit(unit.release(OPEN, hash(&account.number), id)).await?)
    })
    .await
}

/// Staff: an account is to be closed, by somebody else; its holder is told.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` unless it is pending; `SAME_PERSON` for the customer.
pub async fn approve(
    journal: &Journal,
    context: Context,
    by: UserId,
    id: ClosureId,
    note: Option<String>,
) -> Result<Committed, CommandError> {
    let requested = requested(journal, id).await?.1;
    let unit = Unit::new(context).step(id, ClosureCommand::Approve { by, note });
    let words = format!("Your account ending in {} will be closed.", requested.account.last_four());
    let unit = telling(journal, unit, &requested.account, "Your account will be closed", words).await?;
    Ok(journal.submit(unit).await?)
}

/// Staff: an account is not to be closed; its holder is told why.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` once it is over; `SAME_PERSON` for the customer.
pub async fn reject(
    journal: &Journal,
    context: Context,
    by: UserId,
    id: ClosureId,
    reason: String,
) -> Result<Committed, CommandError> {
    let requested = requested(journal, id).await?.1;
    let words = format!("Your account ending in {} stays open: {reason}", requested.account.last_four());
    let unit = Unit::new(context).step(id, ClosureCommand::Reject { by, reason }).release(
        OPEN,
        hash(&requested.account),
        id,
    );
    let unit = telling(journal, unit, &requested.account, "Your account stays open", words).await?;
    Ok(journal.submit(unit).await?)
}

/// Staff: closes an account that somebody else has approved to close. In one unit what it has earned is paid, what is left is
/// paid out, and what it was told to pay is cancelled.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` unless it is approved, or when the account cannot be used; `SAME_PERSON` for the customer and
/// for who approved it; `ACCOUNT_BOUND`; `TRANSFER_ACCOUNT_REQUIRED`, `ACCOUNT_OVERDRAWN`; what the ledger says of the account
/// that gets what is left.
pub async fn finalize(
    journal: &Journal,
    context: Context,
    days: &dyn DayEnds,
    by: UserId,
    id: ClosureId,
    note: Option<String>,
) -> Result<Committed, CommandError> {
    // Answered as then: nothing is left in the account now.
    once(journal, context, async |context| {
        let mut lost = None;
        for _ in 0..TRIES {
            let (closure, requested) = requested(journal, id).await?;
            let completed = Completed { by, note: note.clone(), swept: None };
            // Who may not, or not now, does not hear about the money.
            closure
                .decide(ClosureCommand::Finalize(Box::new(completed.clone())))
                .map_err(CommandError::refused)?;
            let unit = closing(journal, days, Unit::new(context.clone()), id, &requested, completed).await?;
            match journal.submit(unit).await {
                Err(SubmitError::Refused(reason)) if is_lost_race(reason.code()) => {
                    lost = Some(SubmitError::Refused(reason));
                }
                outcome => return Ok(outcome?),
            }
        }
        Err(lost.map_or_else(CommandError::unavailable, CommandError::from))
    })
    .await
}

/// Money has moved since the balance was read, or the interest was posted.
fn is_lost_race(code: &str) -> bool {
    matches!(code, "ACCOUNT_NOT_EMPTY" | "INSUFFICIENT_FUNDS" | "INVALID_STATE")
}

/// The unit of a closing: the account's interest posted, its balance paid out, what ends with it, its holder told.
async fn closing(
    journal: &Journal,
    days: &dyn DayEnds,
    unit: Unit,
    id: ClosureId,
    requested: &Requested,
    completed: Completed,
) -> Result<Unit, CommandError> {
    let number = &requested.account;
    let account = journal.ledger_account(number).await?;
    let account = account.ok_or_else(|| CommandError::refused(NotFound("account")))?;
    let (unit, earned) = interest::settle(journal, days, unit, number).await?;
    let balance = account.balance.saturating_add(earned);
    let swept = match Amount::try_from(balance) {
        Ok(amount) => {
            let none = ClosureError::NoTransferAccount { balance };
            let to = requested.transfer_account.clone().ok_or_else(|| CommandError::refused(none))?;
            Some(Swept { transaction_id: payments::mint(journal), amount, currency: account.currency, to })
        }
        Err(_) if balance < 0 => {
            return Err(CommandError::refused(ClosureError::Overdrawn { balance }));
        }
        Err(_) => None,
    };
    let sweep = swept.clone();
    let mut unit = unit.step(id, ClosureCommand::Finalize(Box::new(Completed { swept, ..completed })));
    if let Some(Swept { transaction_id, amount, currency, to }) = sweep {
        let reference = payments::reference_of(transaction_id);
        let pay = Pay {
            payer: Some(requested.owner),
            narration: Some(format!("Closing of account ending in {}", number.last_four())),
            ..Pay::between(PaymentKind::Closure, number.clone(), to, amount, currency, reference)
        };
        unit = unit.create(transaction_id, PaymentCommand::Pay(Box::new(pay)));
    }
    let unit = ended(journal, unit, number, Some(id)).await?.release(OPEN, hash(number), id);
    let words = format!("Your account ending in {} is closed.", number.last_four());
    telling(journal, unit, number, "Your account is closed", words).await
}

/// Adds the end of an account, and of what it was told to save and to pay.
async fn ended(
    journal: &Journal,
    mut unit: Unit,
    number: &AccountNumber,
    closure_id: Option<ClosureId>,
) -> Result<Unit, CommandError> {
    let (plan, _) = journal.load::<Plan>(number.as_str()).await?;
    if plan.saving().is_some() {
        unit = unit.step(number, PlanCommand::End);
    }
    for mandate in journal.mandates_over(number).await? {
        let (state, _) = journal.load::<Mandate>(&mandate).await?;
        let cancel = MandateCommand::Cancel { reason: Some("The account was closed".to_owned()) };
        // Those that are over stay as they are.
        if state.decide(cancel.clone()).is_ok() {
            unit = unit.step(mandate, cancel);
        }
    }
    Ok(unit.step(number, AccountCommand::Close { closure_id }))
}

/// Adds the end of an account whose holder is erased: nobody would ever take out what somebody pays in. An application to
/// close it is over. Whether it is empty, and nothing needs it, is what the ledger says when the unit is decided.
///
/// # Errors
/// `ACCOUNT_NOT_EMPTY` while it has earned something that is not paid yet.
pub(crate) async fn left_behind(
    journal: &Journal,
    days: &dyn DayEnds,
    unit: Unit,
    number: &AccountNumber,
) -> Result<Unit, CommandError> {
    let account = journal.ledger_account(number).await?;
    if account.is_none_or(|account| account.status == AccountStatus::Closed) {
        return Ok(unit);
    }
    let (mut unit, earned) = interest::settle(journal, days, unit, number).await?;
    if earned > 0 {
        return Err(CommandError::refused(LedgerError::NotEmpty { account: number.clone() }));
    }
    let open = journal.holder(OPEN, &hash(number)).await?;
    if let Some(id) = open.and_then(|id| id.parse::<ClosureId>().ok()) {
        unit = unit.step(id, ClosureCommand::Cancel).release(OPEN, hash(number), id);
    }
    ended(journal, unit, number, None).await
}

/// The application, whoever's it is.
async fn requested(journal: &Journal, id: ClosureId) -> Result<(Closure, Requested), CommandError> {
    let (closure, _) = journal.load::<Closure>(&id.to_string()).await?;
    let requested = closure.requested().cloned();
    let requested = requested.ok_or_else(|| CommandError::refused(ClosureError::Unknown))?;
    Ok((closure, requested))
}

fn hash(number: &AccountNumber) -> [u8; 32] {
    sha256(number.as_str().as_bytes())
}
