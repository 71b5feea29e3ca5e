//! Rebuilds: staff have a read model built anew from the log, or compared with it.
//!
//! The stream is named by the read model. What is recorded is who ordered it and when; how far it is and what came of it is
//! kept with the read models, because it can be had again from the log at any time.

mod command;
mod error;
mod event;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use command::RebuildCommand;
pub use error::RebuildError;
pub use event::{Ordered, RebuildEvent};

use crate::aggregate::Aggregate;

/// What was ordered for one read model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rebuild {
    /// The last order.
    pub last: Option<Ordered>,
}

impl Aggregate for Rebuild {
    const TYPE: &'static str = "rebuild";
    type Command = RebuildCommand;
    type Event = RebuildEvent;
    type Error = RebuildError;

    fn decide(&self, command: RebuildCommand) -> Result<Vec<RebuildEvent>, RebuildError> {
        let RebuildCommand::Order { order, is_running } = command;
        if is_running { Err(RebuildError::Running) } else { Ok(vec![RebuildEvent::Ordered(order)]) }
    }

    fn evolve(&mut self, event: &RebuildEvent) {
        let RebuildEvent::Ordered(order) = event;
        self.last = Some(order.clone());
    }
}
