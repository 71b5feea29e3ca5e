//! The process that takes payments to their rail and back.

use std::sync::Arc;

use bursar_domain::cards::CardCommand;
use bursar_domain::kernel::TransactionId;
use bursar_domain::messages::{Category, MessagesCommand, Notice};
use bursar_domain::payments::{CLEAR, Outside, Payment, PaymentCommand};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::{Instruction, Rail, Standing};
use crate::messages::notice;
use crate::owned::CommandError;
use crate::processes::{Done, Task, Work, context, pause};
use crate::{Journal, Unit};

/// Hands payments to the rail until it says what became of them, with the same end-to-end id each time.
pub struct ClearPayments {
    journal: Journal,
    rail: Arc<dyn Rail>,
}

impl ClearPayments {
    /// The task on this rail.
    #[must_use]
    pub fn new(journal: Journal, rail: Arc<dyn Rail>) -> Self {
        Self { journal, rail }
    }

    async fn clear(&self, work: &Work) -> Result<Done, CommandError> {
        let Some(instruction) = instruction(&self.journal, work).await? else { return Ok(Done::Finished) };
        let outcome = match self.rail.submit(&instruction).await {
            // Whether the rail has it is not known; asking again does no harm.
            Err(down) => {
                tracing::warn!(payment = work.subject, attempt = work.attempt, "{down}");
                return Err(CommandError::unavailable());
            }
            Ok(Standing::Pending(until)) => {
                // A rail that keeps saying "at once" is not asked in a tight loop.
                return Ok(Done::Again(until.max(work.now + pause(1))));
            }
            Ok(Standing::Settled) => PaymentCommand::Settle,
            Ok(Standing::Refused(reason)) => PaymentCommand::Return { reason },
        };
        let mut unit = Unit::new(context(CLEAR, &work.subject, "outcome"));
        if let PaymentCommand::Return { .. } = outcome {
            if let Some((card, give_back)) = charge(&instruction) {
                unit = unit.step(card, give_back);
            }
            if let Some(payer) = instruction.payment.payer {
                let news = Box::new(returned(&self.journal, &instruction));
                unit = unit.step(payer, MessagesCommand::Post(news));
            }
        }
        self.journal.submit(unit.step(&work.subject, outcome)).await?;
        Ok(Done::Finished)
    }
}

impl Task for ClearPayments {
    fn name(&self) -> &'static str {
        CLEAR
    }

    fn run<'a>(&'a self, work: &'a Work) -> BoxFuture<'a, Result<Done, CommandError>> {
        self.clear(work).boxed()
    }
}

/// The card that the payment came from, and how it gets back what its limits counted.
fn charge(instruction: &Instruction) -> Option<(&str, CardCommand)> {
    let Outside::Card { card_id, .. } = &instruction.outside else { return None };
    let (transaction_id, amount) = (instruction.end_to_end_id, instruction.payment.amount);
    Some((card_id, CardCommand::ReturnCharge { transaction_id, amount }))
}

/// What the payer is told.
fn returned(journal: &Journal, instruction: &Instruction) -> Notice {
    let payment = &instruction.payment;
    let amount = payment.currency.decimal(payment.amount.minor().into());
    let what = if payment.kind.funds() {
        "The money was not paid to us, and has been taken out of your account again."
    } else {
        "The money is in your account again."
    };
    let body =
        format!("{} {amount}, reference {}, did not arrive. {what}", payment.currency, payment.reference);
    let about = [("transactionId".to_owned(), instruction.end_to_end_id.to_string())].into();
    Notice { about, ..notice(journal.sources(), Category::Payment, "A payment came back", body) }
}

/// The payment as its rail gets it; none when it is no longer on its way.
async fn instruction(journal: &Journal, work: &Work) -> Result<Option<Instruction>, CommandError> {
    let Ok(id) = work.subject.parse::<TransactionId>() else { return Ok(None) };
    let (payment, _) = journal.load::<Payment>(&work.subject).await?;
    let Payment::Clearing(made) = payment else { return Ok(None) };
    Ok(Instruction::of(id, &made, work.now, work.attempt))
}
