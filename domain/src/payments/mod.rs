//! Payments: one event moves the money, carrying balanced postings. A payment that leaves the bank is then on its way,
//! until its rail says that it has arrived or come back.
//!
//! ```text
//!   Absent --pay--> Made                                   inside the bank: final
//!          '------> Clearing --settle--> Settled           outside: debited, in the settlement account of the rail
//!                       |----return----> Returned          credited again
//!   Made, Clearing ----reverse---------> Reversed          by a transaction of its own
//! ```

mod command;
mod error;
mod event;
mod outside;
#[cfg(test)]
mod tests;
mod undo;

use serde::{Deserialize, Serialize};

pub use command::{Party, Pay, PaymentCommand};
pub use error::PaymentError;
pub use event::{CLEAR, Cause, Cleared, Completed, Movement, OfLoan, PaymentEvent, PaymentKind, Refund};
pub use outside::Outside;
pub use undo::{DISPUTE_DAYS, REVERSAL_MINUTES};

use crate::aggregate::Aggregate;
use crate::kernel::{AccountNumber, Amount, DisputeId, TransactionId, UserId};
use crate::ledger::{Bond, Hold, Internal, Postings, Tie};

/// A payment, by its transaction id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Payment {
    /// Not made.
    #[default]
    Absent,
    /// Made inside the bank.
    Made(Box<Made>),
    /// Debited or credited, and on its way.
    Clearing(Box<Made>),
    /// It has arrived.
    Settled(Box<Made>),
    /// It came back.
    Returned(Box<Made>),
    /// Undone.
    Reversed(Box<Made>),
}

/// A payment that was made, and what was said about it since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// How it was made.
    pub completed: Completed,
    /// The complaint that is open, and how much it is about.
    pub dispute: Option<(DisputeId, Amount)>,
    /// The account that the complaint binds.
    pub dispute_tie: Option<Tie>,
    /// What was given back after disputes, minor units.
    pub refunded: i64,
    /// The transaction that undid it.
    pub reversed_by: Option<TransactionId>,
}

impl Payment {
    /// How it was made, in whatever state it is.
    #[must_use]
    pub const fn made(&self) -> Option<&Made> {
        match self {
            Self::Absent => None,
            Self::Made(made)
            | Self::Clearing(made)
            | Self::Settled(made)
            | Self::Returned(made)
            | Self::Reversed(made) => Some(made),
        }
    }

    /// Its state as the interface spells it.
    #[must_use]
    pub const fn state(&self) -> &'static str {
        match self {
            Self::Absent => "ABSENT",
            Self::Made(_) => "COMPLETED",
            Self::Clearing(_) => "CLEARING",
            Self::Settled(_) => "SETTLED",
            Self::Returned(_) => "RETURNED",
            Self::Reversed(_) => "REVERSED",
        }
    }

    /// Whether it left the bank: on its way or arrived, and neither come back nor undone.
    #[must_use]
    pub const fn has_left(&self) -> bool {
        match self {
            Self::Clearing(made) | Self::Settled(made) => !made.completed.kind.funds(),
            Self::Absent | Self::Made(_) | Self::Returned(_) | Self::Reversed(_) => false,
        }
    }

    /// What it has in the settlement account of its channel: the account and the sum, minor units, negative for money that
    /// has yet to come in. Nothing once it has arrived, come back or been undone.
    #[must_use]
    pub const fn open_item(&self) -> Option<(&AccountNumber, i64)> {
        let Self::Clearing(made) = self else { return None };
        let paid = &made.completed;
        let minor = paid.amount.minor();
        Some(if paid.kind.funds() { (&paid.source, -minor) } else { (&paid.destination, minor) })
    }

    const fn refuse(&self) -> PaymentError {
        match self {
            Self::Absent => PaymentError::Unknown,
            _ => PaymentError::InvalidState { state: self.state() },
        }
    }

    fn with(mut self, change: impl FnOnce(&mut Made)) -> Self {
        match &mut self {
            Self::Absent => {}
            Self::Made(made)
            | Self::Clearing(made)
            | Self::Settled(made)
            | Self::Returned(made)
            | Self::Reversed(made) => change(made),
        }
        self
    }

    fn into_made(self) -> Option<Box<Made>> {
        match self {
            Self::Absent => None,
            Self::Made(made)
            | Self::Clearing(made)
            | Self::Settled(made)
            | Self::Returned(made)
            | Self::Reversed(made) => Some(made),
        }
    }
}

impl Aggregate for Payment {
    const TYPE: &'static str = "payment";
    type Command = PaymentCommand;
    type Event = PaymentEvent;
    type Error = PaymentError;

    fn decide(&self, command: PaymentCommand) -> Result<Vec<PaymentEvent>, PaymentError> {
        match (self, command) {
            (Self::Absent, PaymentCommand::Pay(pay)) => {
                Ok(vec![PaymentEvent::Completed(Box::new(pay.check()?))])
            }
            (_, PaymentCommand::Pay(_)) => Err(PaymentError::AlreadyMade),
            (Self::Clearing(made), PaymentCommand::Settle) => {
                Ok(vec![PaymentEvent::Settled(Box::new(made.settle()))])
            }
            (Self::Clearing(made), PaymentCommand::Return { reason }) => {
                Ok(vec![PaymentEvent::Returned(Box::new(made.come_back(reason)))])
            }
            // A rail that answers twice says nothing new.
            (Self::Settled(_), PaymentCommand::Settle)
            | (Self::Returned(_), PaymentCommand::Return { .. }) => Ok(Vec::new()),
            (_, PaymentCommand::Settle | PaymentCommand::Return { .. }) => Err(self.refuse()),
            (_, PaymentCommand::Reverse { by, party, age, reason }) => {
                self.check_reversal(party, age)?;
                let tie = match self {
                    Self::Clearing(made) => made.untied(),
                    _ => None,
                };
                Ok(vec![PaymentEvent::Reversed { by, reason, tie }])
            }
            (_, PaymentCommand::Dispute { dispute_id, amount, age }) => {
                self.check_dispute(amount, age)?;
                let payer = self.made().map(|made| made.completed.source.clone());
                let tie = payer.map(|account| Tie::new(account, Bond::Dispute));
                Ok(vec![PaymentEvent::Disputed { dispute_id, amount, tie }])
            }
            (_, PaymentCommand::EndDispute { dispute_id, refunded_by }) => {
                let amount = self.disputed(dispute_id)?;
                // Money that came back by itself is not given back once more.
                if refunded_by.is_some() && matches!(self, Self::Returned(_)) {
                    return Err(self.refuse());
                }
                let refund = refunded_by.map(|by| Refund { by, amount });
                let tie = self.made().and_then(|made| made.dispute_tie.as_ref()).map(Tie::end);
                Ok(vec![PaymentEvent::DisputeEnded { dispute_id, refund, tie }])
            }
        }
    }

    fn evolve(&mut self, event: &PaymentEvent) {
        let before = std::mem::take(self);
        *self = match event {
            PaymentEvent::Completed(completed) => {
                let made = Made {
                    completed: (**completed).clone(),
                    dispute: None,
                    dispute_tie: None,
                    refunded: 0,
                    reversed_by: None,
                };
                let state = if completed.kind.clears() { Self::Clearing } else { Self::Made };
                state(Box::new(made))
            }
            PaymentEvent::Settled(_) => before.into_made().map_or(Self::Absent, Self::Settled),
            PaymentEvent::Returned(_) => before.into_made().map_or(Self::Absent, Self::Returned),
            PaymentEvent::Reversed { by, .. } => {
                let undone = before.with(|made| made.reversed_by = Some(*by)).into_made();
                undone.map_or(Self::Absent, Self::Reversed)
            }
            PaymentEvent::Disputed { dispute_id, amount, tie } => before.with(|made| {
                made.dispute = Some((*dispute_id, *amount));
                made.dispute_tie.clone_from(tie);
            }),
            PaymentEvent::DisputeEnded { refund, .. } => before.with(|made| {
                (made.dispute, made.dispute_tie) = (None, None);
                made.refunded += refund.map_or(0, |refund| refund.amount.minor());
            }),
        };
    }

    fn owner(&self) -> Option<UserId> {
        self.made().and_then(|made| made.completed.payer)
    }
}

impl Made {
    /// The rail has paid out of the bank's money, or paid into it.
    fn settle(&self) -> Cleared {
        let payment = &self.completed;
        let nostro = Internal::Nostro.account(payment.currency);
        let postings = if payment.kind.funds() {
            Postings::transfer(&nostro, &payment.source, payment.amount, payment.currency)
        } else {
            Postings::transfer(&payment.destination, &nostro, payment.amount, payment.currency)
        };
        Cleared {
            reference: payment.reference.clone(),
            reason: None,
            release: self.release(),
            tie: self.untied(),
            postings,
        }
    }

    /// The money goes back where it came from, and the fee with it. What a dispute gave back already is the bank's.
    fn come_back(&self, reason: String) -> Cleared {
        let payment = &self.completed;
        let currency = payment.currency;
        let (income, chargebacks) =
            (Internal::FeeIncome.account(currency), Internal::Chargebacks.account(currency));
        let mut postings = Postings::default();
        for (from, to, minor) in [
            (&payment.destination, &payment.source, payment.amount.minor() - self.refunded),
            (&payment.destination, &chargebacks, self.refunded),
            (&income, &payment.source, payment.fee.map_or(0, Amount::minor)),
        ] {
            // Nothing to give back is no line.
            if let Ok(amount) = Amount::try_from(minor) {
                postings = postings.and(from, to, amount, currency);
            }
        }
        Cleared {
            reference: payment.reference.clone(),
            reason: Some(reason),
            release: self.release(),
            tie: self.untied(),
            postings,
        }
    }

    /// The account that was bound while it was on its way.
    fn untied(&self) -> Option<Tie> {
        self.completed.tie.as_ref().map(Tie::end)
    }

    /// What a funding had reserved.
    fn release(&self) -> Option<Hold> {
        let payment = &self.completed;
        payment
            .kind
            .funds()
            .then(|| Hold { account: payment.destination.clone(), change: -payment.amount.minor() })
    }
}
