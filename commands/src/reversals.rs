//! Undoing a payment: by the payer, by whoever was paid, by the bank.

use std::error::Error;

use bursar_domain::kernel::TransactionId;
use bursar_domain::ledger::LedgerError;
use bursar_domain::payments::{
    Completed, Made, Party, Pay, Payment, PaymentCommand, PaymentError, PaymentKind,
};
use bursar_domain::{AccountNumber, Aggregate as _};

use crate::journal::SubmitError;
use crate::owned::CommandError;
use crate::payments;
use crate::rails::{Instruction, Rails};
use crate::transactions::Involved;
use crate::{Committed, Context, Journal, Unit};

/// Why a payment is undone.
#[derive(Debug, Clone)]
pub struct Reversal {
    /// Why, in the words of whoever wants it.
    pub reason: String,
    /// What the statements say.
    pub narration: Option<String>,
}

/// Gives all of a payment back by a transaction of its own, and its fee; once. A payment on its way is called back from its
/// rail first.
///
/// # Errors
/// `INVALID_STATE`, `NOT_REVERSIBLE`, `REVERSAL_WINDOW_CLOSED`, `INSUFFICIENT_FUNDS` when whoever was paid has not enough
/// left, and what else the ledger refuses.
pub async fn reverse(
    journal: &Journal,
    rails: &Rails,
    context: Context,
    found: Involved,
    wanted: Reversal,
) -> Result<Committed, CommandError> {
    let Involved { id, payment, completed, party } = found;
    let by = payments::mint(journal);
    let age = journal.sources().clock.now().duration_since(id.minted_at());
    let command = PaymentCommand::Reverse { by, party, age, reason: Some(wanted.reason) };
    if let Payment::Clearing(made) = &payment {
        // What the bank would refuse anyway is not called back.
        payment.decide(command.clone()).map_err(CommandError::refused)?;
        recall(journal, rails, id, made).await?;
    }
    let pay = Pay {
        fee: completed.fee,
        narration: wanted.narration.or_else(|| Some(format!("Reversal of {}", completed.reference))),
        undoes: Some(id),
        ..Pay::between(
            PaymentKind::Reversal,
            completed.destination.clone(),
            completed.source.clone(),
            completed.amount,
            completed.currency,
            payments::reference_of(by),
        )
    };
    let unit = Unit::new(context).step(id, command).create(by, PaymentCommand::Pay(Box::new(pay)));
    journal.submit(unit).await.map_err(|error| discreet(error, party, &completed))
}

/// Calls a payment back from its rail. From then on the rail answers that it will not arrive, so that it comes back even if
/// nobody gets to write the reversal.
async fn recall(
    journal: &Journal,
    rails: &Rails,
    id: TransactionId,
    made: &Made,
) -> Result<(), CommandError> {
    let instruction = Instruction::of(id, made, journal.sources().clock.now(), 1);
    let (Some(rail), Some(instruction)) = (rails, instruction) else {
        return Err(CommandError::unavailable());
    };
    match rail.recall(&instruction).await {
        Ok(true) => Ok(()),
        // The rail has paid it out, whether we have heard of it or not.
        Ok(false) => Err(CommandError::refused(PaymentError::InvalidState { state: "SETTLED" })),
        Err(down) => {
            tracing::warn!(payment = %id, "{down}");
            Err(CommandError::unavailable())
        }
    }
}

/// A payer hears of the payee's account that it cannot give the money back, and no more.
fn discreet(error: SubmitError, party: Party, paid: &Completed) -> CommandError {
    let others = party == Party::Payer && paid.kind == PaymentKind::Internal;
    match &error {
        SubmitError::Refused(reason) if others && refused_debit(&**reason) == Some(&paid.destination) => {
            CommandError::refused(PaymentError::PayeeShortOfFunds)
        }
        _ => error.into(),
    }
}

/// The account that the ledger took nothing from.
fn refused_debit<'a>(reason: &'a (dyn Error + 'static)) -> Option<&'a AccountNumber> {
    match reason.downcast_ref::<LedgerError>()? {
        LedgerError::InsufficientFunds { account, .. } | LedgerError::NotActive { account, .. } => {
            Some(account)
        }
        _ => None,
    }
}
