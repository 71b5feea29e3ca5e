//! The one writer of this process: takes what is queued, decides it, appends it, answers.
//!
//! ```text
//!   recv_many (<= batch_units)
//!     BEGIN; SELECT head FOR UPDATE            another process may have written: catch up
//!     plan in memory; ask the store for what is missing; plan again
//!     append (one statement); COMMIT           a lost connection here is resolved, not guessed
//!   remember, tell the observers, move the head, answer each caller
//! ```
//!
//! Callers that hang up change nothing: the unit is ours from the moment it is queued.

use std::sync::Arc;
use std::time::Duration;

use bursar_domain::codec::Codec;
use bursar_domain::kernel::{Sources, micros, utc_date};
use bursar_domain::{Position, Recorded};
use jiff::ToSpan;
use jiff::civil::Date;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::Instant;

use super::backing::{Connection, Connector};
use super::plan::{Memory, Outcome, Plan};
use super::store::Head;
use super::unit::{SubmitError, Unit};
use super::{JournalOptions, Observers, StoreError, read};

/// What a caller hears: its events, or where the events of an earlier request with its key are.
pub(super) enum Answer {
    Appended { events: Vec<Recorded>, position: Position },
    Replay { first: Position, last: Position },
}

pub(super) type Reply = oneshot::Sender<Result<Answer, SubmitError>>;

/// One queued unit.
pub(super) struct Queued {
    pub(super) unit: Unit,
    pub(super) reply: Reply,
}

pub(super) struct Sequencer {
    pub(super) queue: mpsc::Receiver<Queued>,
    /// Another process has written, or may have.
    pub(super) wake: Arc<Notify>,
    pub(super) connect: Connector,
    pub(super) codec: Arc<Codec>,
    pub(super) sources: Sources,
    pub(super) options: JournalOptions,
    pub(super) observers: Observers,
    pub(super) head_sender: watch::Sender<Position>,
    pub(super) memory: Memory,
    pub(super) head: Head,
    pub(super) connection: Option<Connection>,
    /// The UTC day whose key partition is known to exist.
    pub(super) key_day: Option<Date>,
    /// How long the last batch took to write.
    pub(super) last_batch: Duration,
}

/// How an attempt to write a batch ended.
enum Attempt {
    /// It is in the log (or had nothing to write).
    Written(Plan),
    /// It is not in the log; the reason may pass.
    Failed(StoreError),
    /// COMMIT was sent and not answered.
    Unknown(Plan, StoreError),
}

/// How often other processes' writes are looked for when no notification comes.
const FOLLOW_EVERY: Duration = Duration::from_secs(1);
/// Events read at once while catching up with another process.
const CATCH_UP_PAGE: Position = 2_000;
/// The first pause before the store is tried again; doubled up to a second.
const FIRST_PAUSE: Duration = Duration::from_millis(5);

impl Sequencer {
    /// Writes until every [`Journal`](super::Journal) handle is gone and the queue is empty.
    pub(super) async fn run(mut self) {
        let mut batch = Vec::with_capacity(self.options.batch_units);
        loop {
            self.gather().await;
            tokio::select! {
                biased;
                received = self.queue.recv_many(&mut batch, self.options.batch_units) => {
                    if received == 0 {
                        return;
                    }
                    self.write(std::mem::take(&mut batch)).await;
                }
                () = self.wake.notified() => self.follow().await,
                () = tokio::time::sleep(FOLLOW_EVERY) => self.follow().await,
            }
        }
    }

    /// Lets those run who were just answered, as long as that brings more units: they would otherwise miss this batch
    /// by a moment and wait for the next, and a batch costs its round trips and its commit whatever its size. Ends
    /// after an eighth of what the last batch took, so that a stream of others cannot hold this one up.
    async fn gather(&mut self) {
        let until = Instant::now() + self.last_batch / 8;
        let mut waiting = 0;
        while (waiting + 1..self.options.batch_units).contains(&self.queue.len()) && Instant::now() < until {
            waiting = self.queue.len();
            tokio::task::yield_now().await;
        }
    }

    async fn write(&mut self, batch: Vec<Queued>) {
        let started = Instant::now();
        metrics::histogram!("bursar_journal_batch_units").record(to_f64(batch.len()));
        let deadline = started + self.options.store_patience;
        let mut pause = FIRST_PAUSE;
        loop {
            let failure = match self.attempt(&batch).await {
                Attempt::Written(plan) => {
                    self.last_batch = started.elapsed();
                    metrics::histogram!("bursar_journal_commit_seconds").record(self.last_batch);
                    return self.publish(batch, plan);
                }
                Attempt::Failed(error) => error,
                Attempt::Unknown(plan, error) => match self.resolve(&plan, deadline).await {
                    Some(true) => return self.publish(batch, plan),
                    Some(false) => error,
                    None => return refuse_all(batch),
                },
            };
            self.memory.drop_batch();
            // Its partition may have gone with the transaction that made it.
            self.key_day = None;
            if failure.is_unique_violation() && self.memory.trust_fresh {
                // A minted id was in use after all: look before believing.
                self.memory.trust_fresh = false;
            } else if failure.is_passing() {
                self.connection = None;
                if Instant::now() >= deadline {
                    tracing::error!(error = %failure, "the store stays away; giving up on a batch");
                    self.forget_everything();
                    return refuse_all(batch);
                }
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(1));
            } else {
                return self.write_one_by_one(batch, &failure).await;
            }
        }
    }

    /// Something in the batch cannot be written: find it, and let the others through.
    async fn write_one_by_one(&mut self, batch: Vec<Queued>, failure: &StoreError) {
        self.connection = None;
        if batch.len() == 1 {
            tracing::error!(error = %failure, "a unit cannot be written");
            return refuse_all(batch);
        }
        for queued in batch {
            Box::pin(self.write(vec![queued])).await;
        }
    }

    async fn attempt(&mut self, batch: &[Queued]) -> Attempt {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => match self.connect.connect().await {
                Ok(connection) => connection,
                Err(error) => return Attempt::Failed(error),
            },
        };
        let attempt = self.attempt_on(&mut connection, batch).await;
        if matches!(attempt, Attempt::Written(_)) {
            self.connection = Some(connection);
        }
        attempt
    }

    async fn attempt_on(&mut self, connection: &mut Connection, batch: &[Queued]) -> Attempt {
        let plan = async {
            let head = connection.lock_head().await?;
            let key_day = self.key_day;
            let plan = self.prepare(connection, head, batch).await?;
            if plan.events.is_empty() {
                connection.release().await?;
                // A partition that was made for keys which turned out to be known went with the transaction.
                self.key_day = key_day;
            }
            Ok(plan)
        };
        match plan.await {
            Ok(plan) if plan.events.is_empty() => Attempt::Written(plan),
            Ok(plan) => match connection.commit().await {
                Ok(()) => Attempt::Written(plan),
                Err(error) => Attempt::Unknown(plan, error),
            },
            Err(error) => Attempt::Failed(error),
        }
    }

    /// Everything between the lock and the commit.
    async fn prepare(
        &mut self,
        connection: &mut Connection,
        head: Head,
        batch: &[Queued],
    ) -> Result<Plan, StoreError> {
        if head != self.head {
            self.catch_up(connection, head).await?;
        }
        // Never earlier than the event before, whatever the clock does.
        let at = micros(self.sources.clock.now()).max(head.recorded_at);
        let units = || batch.iter().map(|queued| &queued.unit);
        self.memory.keys.clear();
        self.memory.claims.clear();
        self.memory.keyless.clear();
        let misses = self.memory.needs(units());
        connection.fill(&self.codec, misses, &mut self.memory).await?;
        let mut asked: Vec<_> = units().filter_map(|unit| Some(unit.context.idempotency?.key)).collect();
        loop {
            let plan = match self.memory.plan(units(), &self.codec, head.position, at) {
                Ok(plan) => plan,
                Err(misses) => {
                    connection.fill(&self.codec, *misses, &mut self.memory).await?;
                    continue;
                }
            };
            // New keys are the rule: the append looks for known ones as it goes, and then writes nothing.
            let known = if plan.events.is_empty() {
                connection.known_keys(&asked).await?
            } else {
                let today = utc_date(at);
                self.turn_keys(connection, today).await?;
                connection.append(&plan, &self.memory, today, &asked).await?
            };
            if known.is_empty() {
                return Ok(plan);
            }
            known.into_iter().for_each(|key| key.remember(&mut self.memory.keys));
            asked.clear();
        }
    }

    /// Makes sure that the keys of `today` have a place, and drops the old ones.
    async fn turn_keys(&mut self, connection: &mut Connection, today: Date) -> Result<(), StoreError> {
        if self.key_day != Some(today) {
            let keep_from = today.saturating_sub(self.options.keep_keys_days.days());
            connection.turn_key_partitions(today, keep_from).await?;
            self.key_day = Some(today);
        }
        Ok(())
    }

    /// Forgets what another process has changed since, and tells the observers.
    async fn catch_up(&mut self, connection: &mut Connection, head: Head) -> Result<(), StoreError> {
        while self.head.position < head.position {
            let (after, through) =
                (self.head.position, head.position.min(self.head.position + CATCH_UP_PAGE));
            let mut events = Vec::new();
            for (_, event) in read::each(&mut *connection, &self.codec, after, through).await? {
                match event {
                    Ok(event) => events.push(event),
                    // What it changed is not known, so nothing may be remembered; what it says concerns only whoever
                    // asks for its stream.
                    Err(event) => {
                        tracing::error!(%event, "another process wrote what this version cannot read");
                        self.memory.clear();
                    }
                }
            }
            self.observers.tell(&events);
            self.memory.forget(&mut events);
            self.head.position = through;
        }
        self.head = head;
        self.head_sender.send_replace(head.position);
        Ok(())
    }

    /// Catches up without writing.
    async fn follow(&mut self) {
        let caught_up = async {
            let mut connection = match self.connection.take() {
                Some(connection) => connection,
                None => self.connect.connect().await?,
            };
            let head = connection.read_head().await?;
            if head.position > self.head.position {
                self.catch_up(&mut connection, head).await?;
            }
            self.connection = Some(connection);
            Ok::<_, StoreError>(())
        };
        if let Err(error) = caught_up.await {
            tracing::warn!(%error, "could not follow the log; trying again");
        }
    }

    /// Whether a batch whose COMMIT was not answered is in the log. `None`: the store stays away.
    async fn resolve(&mut self, plan: &Plan, deadline: Instant) -> Option<bool> {
        let (first, payload) = (plan.events.first()?, plan.payloads.first()?);
        self.connection = None;
        let mut pause = FIRST_PAUSE;
        loop {
            let asked = async {
                let mut connection = self.connect.connect().await?;
                let recorded = connection.is_recorded(first, payload).await?;
                Ok::<_, StoreError>((connection, recorded))
            };
            match asked.await {
                Ok((connection, recorded)) => {
                    tracing::warn!(
                        recorded,
                        position = first.position,
                        "a commit without an answer was resolved"
                    );
                    self.connection = Some(connection);
                    return Some(recorded);
                }
                Err(error) if Instant::now() >= deadline => {
                    tracing::error!(%error, "the store stays away; the outcome of a batch is unknown");
                    self.forget_everything();
                    return None;
                }
                Err(_) => tokio::time::sleep(pause).await,
            }
            pause = (pause * 2).min(Duration::from_secs(1));
        }
    }

    /// What is remembered may differ from the store: read it all again.
    fn forget_everything(&mut self) {
        self.memory.clear();
        self.connection = None;
    }

    /// The batch is in the log: remember it, tell everybody, answer.
    fn publish(&mut self, batch: Vec<Queued>, mut plan: Plan) {
        self.memory.keep_batch();
        self.memory.keep_keys(std::mem::take(&mut plan.data_keys));
        self.memory.trust_fresh = true;
        if let Some(last) = plan.events.last() {
            self.head = Head { position: last.position, recorded_at: last.recorded_at };
            self.observers.tell(&plan.events);
            self.head_sender.send_replace(self.head.position);
            metrics::counter!("bursar_journal_events_total").increment(plan.events.len() as u64);
        }
        count(&plan.outcomes);
        let mut events = plan.events.drain(..);
        for (queued, outcome) in batch.into_iter().zip(plan.outcomes) {
            let answer = match outcome {
                Outcome::Events(count) => {
                    let events: Vec<_> = events.by_ref().take(count).collect();
                    let position = events.last().map_or(self.head.position, |last| last.position);
                    Ok(Answer::Appended { events, position })
                }
                Outcome::Replay { first, last } => Ok(Answer::Replay { first, last }),
                Outcome::KeyReused => Err(SubmitError::KeyReused),
                Outcome::Refused(refusal) => {
                    metrics::counter!("bursar_refusals_total", "code" => refusal.code()).increment(1);
                    Err(SubmitError::Refused(refusal))
                }
            };
            // A caller that has gone does not need its answer.
            let _ = queued.reply.send(answer);
        }
    }
}

/// Counts what became of the units of a batch.
fn count(outcomes: &[Outcome]) {
    for (outcome, counts) in [
        ("accepted", (|o| matches!(o, Outcome::Events(_))) as fn(&Outcome) -> bool),
        ("replayed", |o| matches!(o, Outcome::Replay { .. })),
        ("refused", |o| matches!(o, Outcome::Refused(_) | Outcome::KeyReused)),
    ] {
        let units = outcomes.iter().filter(|one| counts(one)).count();
        metrics::counter!("bursar_commands_total", "outcome" => outcome).increment(units as u64);
    }
}

fn refuse_all(batch: Vec<Queued>) {
    for queued in batch {
        let _ = queued.reply.send(Err(SubmitError::Unavailable));
    }
}

#[allow(clippy::cast_precision_loss, reason = "a batch has a few hundred units")]
const fn to_f64(count: usize) -> f64 {
    count as f64
}
