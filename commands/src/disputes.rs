//! Disputes: a payer says that a payment was wrong, staff decide.

use bursar_domain::Amount;
use bursar_domain::disputes::{Dispute, DisputeCommand, DisputeReason, Opened};
use bursar_domain::kernel::{DisputeId, Personal, UserId};
use bursar_domain::ledger::Internal;
use bursar_domain::payments::{Party, Pay, PaymentCommand, PaymentError, PaymentKind};

use crate::owned::{CommandError, NotFound};
use crate::payments;
use crate::transactions::{self, Involved};
use crate::{Committed, Context, Journal, Unit};

/// What a payer complains about.
#[derive(Debug, Clone)]
pub struct Complaint {
    /// What was wrong.
    pub reason: DisputeReason,
    /// How much of the payment, minor units.
    pub amount: Amount,
    /// What happened, in the payer's words.
    pub description: Option<String>,
    /// Names of files that support it.
    pub supporting_documents: Vec<String>,
    /// Where the payer can be called, E.164.
    pub contact_phone: Option<String>,
    /// Where the payer can be written to.
    pub contact_email: Option<String>,
}

bursar_domain::spelled! {
    /// How staff decide.
    pub enum Outcome {
        /// The payer was right and gets the disputed money back from the bank.
        Won = "WON",
        /// The payer was wrong.
        Lost = "LOST",
    }
}

/// Disputes a payment of `owner`'s.
///
/// # Errors
/// `NOT_DISPUTABLE` unless it is an outgoing payment of theirs, `DISPUTE_WINDOW_CLOSED`, `AMOUNT_OUT_OF_RANGE`,
/// `INVALID_STATE` when it was undone, came back or is disputed already.
pub async fn open(
    journal: &Journal,
    context: Context,
    owner: UserId,
    found: Involved,
    complaint: Complaint,
) -> Result<Committed, CommandError> {
    let Involved { id, completed, party, .. } = found;
    if party != Party::Payer {
        return Err(CommandError::refused(PaymentError::NotDisputable { kind: completed.kind }));
    }
    let dispute_id = DisputeId::mint(journal.sources());
    let age = journal.sources().clock.now().duration_since(id.minted_at());
    let amount = complaint.amount;
    let opened = Opened {
        owner,
        transaction_id: id,
        reason: complaint.reason,
        amount,
        currency: completed.currency,
        reference: payments::reference_of(dispute_id),
        description: complaint.description,
        supporting_documents: complaint.supporting_documents,
        contact_phone: complaint.contact_phone.map(Personal::new),
        contact_email: complaint.contact_email.map(Personal::new),
    };
    let unit = Unit::new(context)
        .step(id, PaymentCommand::Dispute { dispute_id, amount, age })
        .create(dispute_id, DisputeCommand::Open(Box::new(opened)));
    Ok(journal.submit(unit).await?)
}

/// Ends a dispute of `owner`'s because they want it no more.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` when it is decided.
pub async fn withdraw(
    journal: &Journal,
    context: Context,
    owner: UserId,
    id: DisputeId,
    reason: Option<String>,
) -> Result<Committed, CommandError> {
    let opened = opened(journal, id).await?;
    let unit = Unit::new(context)
        .step_of(owner, id, DisputeCommand::Withdraw { reason })
        .step(opened.transaction_id, PaymentCommand::EndDispute { dispute_id: id, refunded_by: None });
    Ok(journal.submit(unit).await?)
}

/// Staff: somebody looks into it.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` unless it is pending.
pub async fn start_review(
    journal: &Journal,
    context: Context,
    id: DisputeId,
    note: Option<String>,
) -> Result<Committed, CommandError> {
    Ok(journal.submit(Unit::new(context).step(id, DisputeCommand::StartReview { note })).await?)
}

/// Staff: decides. A payer who was right gets the disputed amount out of the bank's own money, in the same unit; getting it
/// back from whoever was paid is the bank's affair.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` unless it is under review, or when a payment that would be refunded has come back by itself.
pub async fn resolve(
    journal: &Journal,
    context: Context,
    id: DisputeId,
    outcome: Outcome,
    note: Option<String>,
) -> Result<Committed, CommandError> {
    let opened = opened(journal, id).await?;
    let disputed = opened.transaction_id;
    let end = |refunded_by| PaymentCommand::EndDispute { dispute_id: id, refunded_by };
    let unit = match outcome {
        Outcome::Lost => Unit::new(context).step(id, DisputeCommand::Lose { note }).step(disputed, end(None)),
        Outcome::Won => {
            let by = payments::mint(journal);
            let payment = transactions::any(journal, disputed).await?.completed;
            let refund = Pay {
                narration: Some(format!("Refund of {}", payment.reference)),
                undoes: Some(disputed),
                ..Pay::between(
                    PaymentKind::Refund,
                    Internal::Chargebacks.account(payment.currency),
                    payment.source,
                    opened.amount,
                    payment.currency,
                    opened.reference,
                )
            };
            Unit::new(context)
                .step(id, DisputeCommand::Win { refunded_by: by, note })
                .step(disputed, end(Some(by)))
                .create(by, PaymentCommand::Pay(Box::new(refund)))
        }
    };
    Ok(journal.submit(unit).await?)
}

/// How the dispute was begun: that never changes.
async fn opened(journal: &Journal, id: DisputeId) -> Result<Opened, CommandError> {
    let (dispute, _) = journal.load::<Dispute>(&id.to_string()).await?;
    dispute.opened().cloned().ok_or_else(|| CommandError::refused(NotFound("dispute")))
}
