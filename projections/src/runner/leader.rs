//! The process that holds the lock takes all models through the log, batch by batch.

use std::slice;
use std::sync::Arc;
use std::time::Duration;

use bursar_domain::{Kind, Position, Recorded};
use futures_util::FutureExt as _;
use sqlx::{Connection, PgConnection};
use tokio::time::{Instant, sleep_until};

use super::checkpoints::{Checkpoint, Step, advance, read};
use super::fold::refusal;
use super::{Runner, fold};
use crate::catalogue::{Entry, catalogue};
use crate::log::{self, BATCH, Batch};
use crate::read_model::{Model, Poison};
use crate::rebuild::{refused, sweep};

/// How long events gather before they are written, unless a reader waits for them.
const GATHER: Duration = Duration::from_millis(50);
/// The same when a batch had [`BUSY`] events or more. Each row is then written once for many of them: at 16,000
/// payments a second between 1,000 accounts this saves a quarter of what the read side costs Postgres.
const GATHER_BUSY: Duration = Duration::from_millis(250);
const BUSY: usize = 250;
/// How often log and checkpoints are looked at when nobody tells us anything.
const POLL: Duration = Duration::from_secs(1);
/// How often what interrupted rebuilds have left is looked for.
const SWEEP: Duration = Duration::from_secs(3_600);

/// A model and how far it is.
struct Follower {
    entry: &'static Entry,
    model: Box<dyn Model>,
    at: Checkpoint,
    /// Events its next batch may hold; halved when the database refuses it, to find the event that is to blame.
    limit: usize,
}

pub(super) struct Leader<'r> {
    runner: &'r mut Runner,
    followers: Vec<Follower>,
    /// A model has left rows behind and is to go on at once.
    left_behind: bool,
}

/// What one round over all models came to.
struct Round {
    /// Events looked at.
    seen: usize,
    /// There is more to do at once.
    more: bool,
}

/// Why a batch was not written.
enum Failure {
    /// The database is away or the log cannot be read.
    Database(sqlx::Error),
    /// The database refuses what one model asks of it.
    Model(usize, sqlx::Error),
}

impl Failure {
    /// Sorts an error of the model with index `i`: the model is at fault when the database is well and refuses.
    fn of(i: usize, e: sqlx::Error) -> Self {
        if refused(&e) { Self::Model(i, e) } else { Self::Database(e) }
    }
}

impl From<sqlx::Error> for Failure {
    fn from(e: sqlx::Error) -> Self {
        Self::Database(e)
    }
}

impl<'r> Leader<'r> {
    /// Parked models get another chance: the server may have been repaired since.
    pub(super) async fn new(runner: &'r mut Runner, db: &mut PgConnection) -> sqlx::Result<Self> {
        let followers = catalogue()
            .iter()
            .zip(read(db).await?)
            .map(|(entry, at)| {
                let mut model = (entry.fresh)();
                model.forget(&at.mask());
                Follower { entry, model, at: Checkpoint { poison: None, ..at }, limit: BATCH }
            })
            .collect();
        Ok(Self { runner, followers, left_behind: false })
    }

    /// Leads until told to stop, or until the database fails.
    pub(super) async fn lead(&mut self, db: &mut PgConnection) -> sqlx::Result<()> {
        tracing::info!("this process runs the projections");
        let (mut next_poll, mut next_sweep) = (Instant::now(), Instant::now());
        while !*self.runner.stopped.borrow() {
            let began = Instant::now();
            self.runner.head.mark_unchanged();
            if began >= next_poll {
                self.adopt(db).await?;
                next_poll = began + POLL;
            }
            if began >= next_sweep {
                sweep(db).boxed().await?;
                next_sweep = began + SWEEP;
            }
            let round = self.round(db).await?;
            self.publish();
            if !round.more {
                let gather = if round.seen < BUSY { GATHER } else { GATHER_BUSY };
                self.gather(began + gather, next_poll).await;
            }
        }
        Ok(())
    }

    /// Waits for events, and then until `full` for more of them.
    async fn gather(&mut self, full: Instant, next_poll: Instant) {
        let runner = &mut *self.runner;
        let events = async {
            // When the journal is gone its sender is too; then only the poll is left.
            if runner.head.changed().await.is_err() {
                sleep_until(next_poll).await;
            }
            sleep_until(full).await;
        };
        tokio::select! {
            () = events => {}
            () = runner.hurry.notified() => {}
            () = sleep_until(next_poll) => {}
            _ = runner.stopped.wait_for(|stopped| *stopped) => {}
        }
    }

    /// One batch for each group of models at the same position.
    async fn round(&mut self, db: &mut PgConnection) -> sqlx::Result<Round> {
        let mut round = Round { seen: 0, more: false };
        let mut positions: Vec<(Position, usize)> =
            self.following().map(|f| (f.at.position, f.limit)).collect();
        positions.sort_unstable();
        positions.dedup();
        for (i, &(after, limit)) in positions.iter().enumerate() {
            // A group never passes the next one, so that they meet and go on as one.
            let upto = positions[i + 1..].iter().map(|&(next, _)| next).find(|&next| next > after);
            let group: Vec<usize> = (0..self.followers.len())
                .filter(|&j| {
                    let f = &self.followers[j];
                    f.at.poison.is_none() && f.at.position == after && f.limit == limit
                })
                .collect();
            match self.step(db, &group, (after, upto.unwrap_or(Position::MAX)), limit).await {
                Ok(seen) => {
                    round.seen += seen;
                    round.more |= seen == limit || (upto.is_some() && seen > 0);
                }
                Err(Failure::Database(e)) => return Err(e),
                Err(Failure::Model(culprit, e)) => {
                    self.blame(db, culprit, limit, e.to_string()).boxed().await?;
                    round.more = true;
                }
            }
        }
        round.more |= std::mem::take(&mut self.left_behind);
        Ok(round)
    }

    fn following(&self) -> impl Iterator<Item = &Follower> {
        self.followers.iter().filter(|follower| follower.at.poison.is_none())
    }

    /// Takes the models of `group` through one batch. Returns how many events there were.
    async fn step(
        &mut self,
        db: &mut PgConnection,
        group: &[usize],
        range: (Position, Position),
        limit: usize,
    ) -> Result<usize, Failure> {
        let began = Instant::now();
        let mut wanted: Vec<Kind> =
            group.iter().flat_map(|&i| self.followers[i].entry.reads).copied().collect();
        wanted.sort_unstable();
        wanted.dedup();
        let batch = log::read(db, &self.runner.codec, &wanted, range, limit).await?;
        if batch.seen == 0 {
            return Ok(0);
        }
        let written = self.write(db, group, &batch).await;
        if !matches!(written, Ok(true)) {
            group.iter().for_each(|&i| self.followers[i].forget());
            if matches!(written, Ok(false)) {
                self.adopt(db).await?;
            }
        }
        written?;
        metrics::counter!("bursar_projection_events_total").increment(batch.seen as u64);
        metrics::histogram!("bursar_projection_batch_seconds").record(began.elapsed().as_secs_f64());
        Ok(batch.seen)
    }

    /// Folds and writes, all models in one transaction. False when a rebuild came in between.
    async fn write(
        &mut self,
        db: &mut PgConnection,
        group: &[usize],
        batch: &Batch,
    ) -> Result<bool, Failure> {
        let mut steps = Vec::with_capacity(group.len());
        for &i in group {
            steps.push(self.followers[i].take(db, batch).boxed().await.map_err(|e| Failure::of(i, e))?);
        }
        let mut tx = db.begin().await?;
        if !advance(&mut tx, &steps).await? {
            tx.rollback().await?;
            return Ok(false);
        }
        for &i in group {
            self.followers[i].model.save(&mut tx).await.map_err(|e| Failure::of(i, e))?;
        }
        tx.commit().await?;
        for (&i, step) in group.iter().zip(steps) {
            let follower = &mut self.followers[i];
            follower.at.position = step.to;
            follower.limit = (follower.limit * 2).min(BATCH);
            self.left_behind |= !step.parked.is_empty();
            step.parked.iter().for_each(|poison| follower.left_behind(poison));
            if let Some(poison) = step.poison {
                follower.park(poison);
            }
        }
        if self.left_behind {
            // Who is concerned stands in the table.
            self.adopt(db).await?;
        }
        Ok(true)
    }

    /// The database refused what one model asked. Smaller and smaller batches lead to the event they come from;
    /// its row sets are parked there, or the model when nobody knows them; the others go on.
    async fn blame(
        &mut self,
        db: &mut PgConnection,
        culprit: usize,
        limit: usize,
        reason: String,
    ) -> sqlx::Result<()> {
        let follower = &mut self.followers[culprit];
        follower.limit = limit / 2;
        if follower.limit > 0 {
            return Ok(());
        }
        follower.limit = BATCH;
        let (from, at) = (follower.at.clone(), follower.at.position);
        let wanted = follower.entry.reads;
        let batch = log::read(db, &self.runner.codec, wanted, (at, at + 1), 1).await?;
        let refused = refused_rows(follower, batch.events.first(), &reason);
        let nobody_knows = Poison { position: at + 1, reason, row_sets: Vec::new(), concerns: Vec::new() };
        let (poison, parked) = match refused {
            Some(refused) => (None, vec![refused]),
            None => (Some(nobody_knows), Vec::new()),
        };
        let step = Step { model: follower.entry.name, from, to: at, poison, parked };
        if advance(db, slice::from_ref(&step)).await? {
            let follower = &mut self.followers[culprit];
            step.parked.iter().for_each(|poison| follower.left_behind(poison));
            match step.poison {
                Some(poison) => follower.park(poison),
                None => self.adopt(db).await?,
            }
        }
        Ok(())
    }

    /// Takes the checkpoints as a rebuild has left them.
    async fn adopt(&mut self, db: &mut PgConnection) -> sqlx::Result<()> {
        for (follower, at) in self.followers.iter_mut().zip(read(db).await?) {
            let is_replaced = at.generation != follower.at.generation || at.position != follower.at.position;
            if is_replaced {
                tracing::info!(model = follower.entry.name, at.position, "the read model was replaced");
            }
            if is_replaced || at.parked != follower.at.parked {
                follower.at = at;
                follower.forget();
            }
        }
        Ok(())
    }

    fn publish(&self) {
        let head = *self.runner.head.borrow();
        for follower in &self.followers {
            let lag = head.saturating_sub(follower.at.position).max(0);
            let model = follower.entry.name;
            metrics::gauge!("bursar_projection_lag_events", "model" => model).set(lag as f64);
            let parked = follower.at.parked.len() as f64;
            metrics::gauge!("bursar_projection_parked_row_sets", "model" => model).set(parked);
        }
        let now: Arc<[Checkpoint]> = self.followers.iter().map(|follower| follower.at.clone()).collect();
        self.runner.published.send_replace(now);
    }
}

/// The rows that an event is refused for, when there are any that are not parked yet.
fn refused_rows(follower: &Follower, event: Option<&Recorded>, reason: &str) -> Option<Poison> {
    let poison = refusal(follower.model.as_ref(), event?, reason, None);
    let mask = follower.at.mask();
    poison.row_sets.iter().any(|set| !mask.hides(set)).then_some(poison)
}

impl Follower {
    /// Folds `batch`. At an event that some row sets cannot take it stops, and leaves them behind: the next step goes on from
    /// there without them, and their rows contain everything before it.
    async fn take(&mut self, db: &mut PgConnection, batch: &Batch) -> sqlx::Result<Step> {
        let Self { entry, model, at, .. } = self;
        let (mask, range) = (at.mask(), (at.position, batch.upto));
        let outcome = fold(db, entry, (model.as_mut(), &mask), batch, range).await?;
        let (poison, parked) = match outcome.poison {
            Some(poison) if !poison.row_sets.is_empty() => (None, vec![poison]),
            poison => (poison, Vec::new()),
        };
        Ok(Step { model: entry.name, from: at.clone(), to: outcome.position, poison, parked })
    }

    /// Drops what is held in memory.
    fn forget(&mut self) {
        self.model.forget(&self.at.mask());
    }

    fn left_behind(&self, poison: &Poison) {
        let model = self.entry.name;
        tracing::error!(
            model,
            poison.position,
            poison.reason,
            row_sets = ?poison.row_sets,
            "rows cannot take an event and are parked"
        );
        metrics::counter!("bursar_projection_parked_total", "model" => model).increment(1);
    }

    fn park(&mut self, poison: Poison) {
        let model = self.entry.name;
        tracing::error!(
            model,
            poison.position,
            poison.reason,
            "the read model cannot take an event and is parked"
        );
        metrics::counter!("bursar_projection_parked_total", "model" => model).increment(1);
        self.forget();
        self.at.poison = Some((poison.position, poison.reason));
    }
}
