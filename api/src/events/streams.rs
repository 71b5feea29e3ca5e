//! One follower a server, however many people listen: it asks the database once for all of them.
//!
//! ```text
//!   journal moves --> the read model "events" has it --> whose of those who listen? --> said once, to each listener
//! ```
//!
//! Whoever joins is told where the follower is, reads up to there from the log, and hears from there on: nothing is
//! missed and nothing comes twice. Whoever does not keep up is let go, and goes on later from the last event they have.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bursar_commands::Journal;
use bursar_domain::Position;
use bursar_domain::kernel::UserId;
use bursar_domain::webhooks::published;
use bursar_projections::Freshness;
use bursar_projections::events::{of_owner, of_owners};
use sqlx::PgPool;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use crate::problem::Problem;

/// Events that a listener may be behind before they are let go.
const BEHIND: usize = 256;
/// Events read at once while somebody catches up.
const PAGE: i64 = 500;
/// How long events are gathered before they are said.
const GATHER: Duration = Duration::from_millis(50);
/// How long the read model gets to follow, when somebody comes, and when they listen.
const PATIENCE: Duration = Duration::from_secs(2);
const LONG_PATIENCE: Duration = Duration::from_secs(10);
/// The read model that says whose events are whose.
const MODEL: &[&str] = &["events"];

/// An event as it is said.
#[derive(Debug, Clone)]
pub struct Said {
    /// Its place in the log.
    pub position: Position,
    /// Its name.
    pub event_type: &'static str,
    /// What is said, as JSON in one line.
    pub data: Arc<str>,
}

/// Everybody who listens at this server. Cheap to clone.
#[derive(Clone)]
pub struct Streams(Arc<Inner>);

struct Inner {
    journal: Journal,
    pool: PgPool,
    freshness: Freshness,
    most: usize,
    most_each: usize,
    listeners: Mutex<Listeners>,
    closed: watch::Sender<bool>,
}

#[derive(Default)]
struct Listeners {
    /// What is up to here has been said.
    last: Position,
    joined: HashMap<UserId, Vec<Listener>>,
    /// Streams that are open, by who opened them.
    seats: HashMap<UserId, usize>,
}

struct Listener {
    after: Position,
    sender: mpsc::Sender<Said>,
}

/// The right to one stream; given back when it is dropped.
pub struct Seat {
    streams: Streams,
    caller: UserId,
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut listeners = self.streams.listeners();
        if let Some(taken) = listeners.seats.get_mut(&self.caller) {
            *taken = taken.saturating_sub(1);
            if *taken == 0 {
                listeners.seats.remove(&self.caller);
            }
        }
    }
}

impl Streams {
    /// Nobody listens yet. `most` streams at once, `most_each` of one caller.
    #[must_use]
    pub fn new(
        journal: Journal,
        pool: PgPool,
        freshness: Freshness,
        (most, most_each): (usize, usize),
    ) -> Self {
        let listeners = Listeners { last: *journal.head().borrow(), ..Listeners::default() };
        Self(Arc::new(Inner {
            journal,
            pool,
            freshness,
            most,
            most_each,
            listeners: Mutex::new(listeners),
            closed: watch::Sender::new(false),
        }))
    }

    /// Follows the log until everything is closed.
    #[must_use]
    pub fn start(&self) -> JoinHandle<()> {
        let this = self.clone();
        tokio::spawn(async move {
            let (mut head, mut closed) = (this.0.journal.head(), this.closed());
            loop {
                tokio::select! {
                    moved = head.changed() => if moved.is_err() { return },
                    _ = closed.wait_for(|closed| *closed) => return,
                }
                tokio::time::sleep(GATHER).await;
                let to = *head.borrow_and_update();
                if this.say(to).await.is_err() {
                    // What was not said now would never be: they all come back for it.
                    this.listeners().joined.clear();
                }
                metrics::gauge!("bursar_event_streams").set(this.open());
            }
        })
    }

    /// Ends all streams.
    pub fn close(&self) {
        self.0.closed.send_replace(true);
        self.listeners().joined.clear();
    }

    /// Becomes true when all streams are to end.
    #[must_use]
    pub fn closed(&self) -> watch::Receiver<bool> {
        self.0.closed.subscribe()
    }

    fn open(&self) -> f64 {
        let open: usize = self.listeners().seats.values().sum();
        f64::from(u32::try_from(open).unwrap_or(u32::MAX))
    }

    fn listeners(&self) -> MutexGuard<'_, Listeners> {
        self.0.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A seat for one more stream of a caller's.
    ///
    /// # Errors
    /// 429 when they have as many as anybody may have; 503 when the server has.
    pub fn seat(&self, caller: UserId) -> Result<Seat, Problem> {
        let mut listeners = self.listeners();
        if *self.0.closed.borrow() || listeners.seats.values().sum::<usize>() >= self.0.most {
            return Err(Problem::unavailable("this server has no room for another stream", 5));
        }
        let taken = listeners.seats.entry(caller).or_default();
        if *taken >= self.0.most_each {
            return Err(Problem::throttled(5));
        }
        *taken += 1;
        Ok(Seat { streams: self.clone(), caller })
    }

    /// A person's events after a position, a page of them, and the position that they reach to: `through`, or less when
    /// there are more.
    ///
    /// # Errors
    /// 503, when they cannot be read, or not yet.
    pub async fn page(
        &self,
        owner: UserId,
        after: Position,
        through: Position,
    ) -> Result<(Vec<Said>, Position), Problem> {
        let late = |_| Problem::unavailable("what was written is not readable yet", 1);
        self.0.freshness.wait(MODEL, through, PATIENCE).await.map_err(late)?;
        let positions = of_owner(&self.0.pool, owner, after, through, PAGE).await?;
        let whole = i64::try_from(positions.len()).is_ok_and(|found| found >= PAGE);
        let reached = positions.last().copied().filter(|_| whole).unwrap_or(through.max(after));
        Ok((self.read(&positions).await?, reached))
    }

    /// Hears a person's events from now on: those after the position answered.
    pub fn join(&self, owner: UserId) -> (Position, mpsc::Receiver<Said>) {
        let (sender, receiver) = mpsc::channel(BEHIND);
        let mut listeners = self.listeners();
        let after = listeners.last;
        // Who joins when everything is closed hears that at once.
        if !*self.0.closed.borrow() {
            listeners.joined.entry(owner).or_default().push(Listener { after, sender });
        }
        (after, receiver)
    }

    /// Says what is in the log by now and was not said before to those who listen.
    async fn say(&self, to: Position) -> Result<(), Problem> {
        let (from, owners) = {
            let mut listeners = self.listeners();
            // Whoever joins from here on reads up to `to` by themselves.
            let from = std::mem::replace(&mut listeners.last, to);
            (from, listeners.joined.keys().map(UserId::to_string).collect::<Vec<_>>())
        };
        if owners.is_empty() || from >= to {
            return Ok(());
        }
        let late = |_| Problem::unavailable("what was written is not readable yet", 1);
        self.0.freshness.wait(MODEL, to, LONG_PATIENCE).await.map_err(late)?;
        let theirs = of_owners(&self.0.pool, &owners, from, to).await?;
        let mut positions: Vec<Position> = theirs.iter().map(|(_, position)| *position).collect();
        positions.dedup();
        let said: HashMap<Position, Said> =
            self.read(&positions).await?.into_iter().map(|said| (said.position, said)).collect();
        let mut listeners = self.listeners();
        for (owner, position) in theirs {
            let (Some(said), Some(joined)) = (said.get(&position), listeners.joined.get_mut(&owner)) else {
                continue;
            };
            joined.retain(|listener| {
                listener.after >= position || listener.sender.try_send(said.clone()).is_ok()
            });
        }
        listeners.joined.retain(|_, joined| {
            joined.retain(|listener| !listener.sender.is_closed());
            !joined.is_empty()
        });
        Ok(())
    }

    async fn read(&self, positions: &[Position]) -> Result<Vec<Said>, Problem> {
        if positions.is_empty() {
            return Ok(Vec::new());
        }
        let events = self.0.journal.at(positions).await?;
        let said = events.iter().filter_map(|event| {
            let published = published(event)?;
            let data = serde_json::to_string(&published).ok()?.into();
            Some(Said { position: event.position, event_type: published.event_type, data })
        });
        Ok(said.collect())
    }
}
