//! Payments: one event each, carrying balanced postings.

mod command;
mod error;
mod event;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use command::{Pay, PaymentCommand};
pub use error::PaymentError;
pub use event::{Completed, PaymentEvent, PaymentKind};

use crate::aggregate::Aggregate;

/// A payment, by its transaction id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Payment {
    /// Not made.
    #[default]
    Absent,
    /// Made, final.
    Completed(Box<Completed>),
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
            (Self::Completed(_), PaymentCommand::Pay(_)) => Err(PaymentError::AlreadyMade),
        }
    }

    fn evolve(&mut self, event: &PaymentEvent) {
        match event {
            PaymentEvent::Completed(completed) => *self = Self::Completed(completed.clone()),
        }
    }
}
