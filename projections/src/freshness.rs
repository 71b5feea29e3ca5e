//! How far the read models are, and waiting until they are far enough.

use std::sync::Arc;
use std::time::Duration;

use bursar_domain::Position;
use tokio::sync::{Notify, watch};

use crate::catalogue::catalogue;
use crate::read_model::ParkedRows;
use crate::runner::Checkpoint;

/// Knows how far each read model has followed the log, as far as this process has heard.
#[derive(Debug, Clone)]
pub struct Freshness {
    pub(crate) applied: watch::Receiver<Arc<[Checkpoint]>>,
    /// Tells the runner that somebody waits, so that it does not gather a larger batch.
    pub(crate) hurry: Arc<Notify>,
}

/// A read model has not reached the wanted position in time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the read model has not reached position {wanted} yet")]
pub struct Lagging {
    /// The position waited for.
    pub wanted: Position,
    /// How far the slowest of the models is.
    pub reached: Position,
}

/// What a read model is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelState {
    /// Following the log.
    Following,
    /// It met an event it cannot take, and waits for a restart of the server or a rebuild.
    Parked {
        /// The position of the event.
        position: Position,
        /// Why it cannot be taken.
        reason: String,
    },
}

/// How far a read model is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelStatus {
    /// Its name.
    pub name: &'static str,
    /// The last event its tables contain.
    pub position: Position,
    /// The last event of the log.
    pub head: Position,
    /// Events between the two.
    pub lag: i64,
    /// What it is doing.
    pub state: ModelState,
    /// The row sets it has left behind; the others go on.
    pub parked: Vec<ParkedRows>,
}

impl Freshness {
    /// How long a reader waits for its own writes.
    pub const PATIENCE: Duration = Duration::from_secs(2);

    /// Returns as soon as `models` (all of them when none is named) contain the event at `position`.
    ///
    /// # Errors
    /// [`Lagging`] when one of them is parked before it, or does not get there in `patience`.
    pub async fn wait(&self, models: &[&str], position: Position, patience: Duration) -> Result<(), Lagging> {
        let lagging = |reached| Lagging { wanted: position, reached };
        match slowest(&self.applied.borrow(), models, position) {
            Slowest::There => return Ok(()),
            Slowest::Parked(reached) => return Err(lagging(reached)),
            Slowest::OnItsWay(_) => self.hurry.notify_one(),
        }
        let mut applied = self.applied.clone();
        let settled = applied.wait_for(|now| !matches!(slowest(now, models, position), Slowest::OnItsWay(_)));
        // Whether it settled, ran out of time or the runner has stopped: the last word is the state now.
        drop(tokio::time::timeout(patience, settled).await);
        match slowest(&self.applied.borrow(), models, position) {
            Slowest::There => Ok(()),
            Slowest::Parked(reached) | Slowest::OnItsWay(reached) => Err(lagging(reached)),
        }
    }
}

impl Freshness {
    /// The first event that one of `models` (all of them when none is named) could not take and that concerns `user`: what
    /// they would read is older than they think.
    #[must_use]
    pub fn parked(&self, models: &[&str], user: &str) -> Option<Position> {
        let applied = self.applied.borrow();
        let asked = |name: &str| models.is_empty() || models.contains(&name);
        let parked = catalogue().iter().zip(applied.iter()).filter(|(entry, _)| asked(entry.name));
        let parked = parked.flat_map(|(_, at)| &at.parked);
        parked.filter(|rows| rows.owners.iter().any(|owner| owner == user)).map(|rows| rows.position).min()
    }
}

enum Slowest {
    There,
    Parked(Position),
    OnItsWay(Position),
}

fn slowest(applied: &[Checkpoint], models: &[&str], wanted: Position) -> Slowest {
    let asked = |name: &str| models.is_empty() || models.contains(&name);
    let slowest = catalogue()
        .iter()
        .zip(applied)
        .filter(|(entry, at)| asked(entry.name) && at.position < wanted)
        // A parked model decides, however far it is: waiting does not help.
        .min_by_key(|(_, at)| (at.poison.is_none(), at.position));
    match slowest {
        None => Slowest::There,
        Some((_, at)) if at.poison.is_some() => Slowest::Parked(at.position),
        Some((_, at)) => Slowest::OnItsWay(at.position),
    }
}
