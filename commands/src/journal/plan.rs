//! Decides a batch in memory: each unit in turn, on what the units before it left.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroUsize;
use std::sync::Arc;

use bursar_domain::codec::{Codec, has_personal};
use bursar_domain::kernel::{Text as CompactString, UserId};
use bursar_domain::ledger::{self, Book, LedgerAccount};
use bursar_domain::{
    AccountNumber, Due, Event, Metadata, Position, Recorded, Rejection, State, StreamId, When,
};
use jiff::Timestamp;

use super::cache::{Layers, Steady};
use super::claimed::ClaimedValue;
use super::sealing::KeyChange;
use super::unit::{PreconditionFailed, StaleVersion, Step, Unit, Unwritable, Work};
use crate::owned::NotFound;
use crate::vault::Vault;

/// A stream as the sequencer remembers it.
#[derive(Debug, Clone)]
pub(super) struct Stream {
    pub(super) state: State,
    /// Events so far.
    pub(super) version: i64,
}

impl Stream {
    pub(super) fn absent(id: &StreamId) -> Self {
        Self { state: id.kind.fresh(), version: 0 }
    }
}

/// The positions a remembered idempotency key stands for.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeyRecord {
    pub(super) fingerprint: [u8; 16],
    pub(super) first: Position,
    pub(super) last: Position,
}

/// Everything the sequencer remembers between batches, and what the batch at hand makes of it.
#[derive(Debug)]
pub(super) struct Memory {
    pub(super) streams: Layers<StreamId, Stream>,
    /// `None`: the store has no such account.
    pub(super) accounts: Layers<AccountNumber, Option<LedgerAccount>>,
    /// Those of the batch at hand that the store knows.
    pub(super) keys: HashMap<[u8; 16], KeyRecord>,
    /// Those of the batch at hand that the store knows, and who holds them.
    pub(super) claims: HashMap<ClaimedValue, String>,
    /// The data keys of people.
    pub(super) vault: Arc<Vault>,
    /// People of the batch at hand who have no data key yet.
    pub(super) keyless: HashSet<UserId>,
    /// Whose keys the unit at hand has made.
    pub(super) unit_keys: Vec<UserId>,
    /// Whether a minted id is taken to be unused without asking the store, whose unique index has the last word.
    pub(super) trust_fresh: bool,
}

/// What the store must be asked before the batch can be decided.
#[derive(Debug, Default)]
pub(super) struct Misses {
    pub(super) streams: HashSet<StreamId, Steady>,
    pub(super) accounts: HashSet<AccountNumber, Steady>,
    pub(super) claims: Vec<ClaimedValue>,
    /// People whose data key is not at hand.
    pub(super) data_keys: HashSet<UserId, Steady>,
}

impl Misses {
    fn is_empty(&self) -> bool {
        self.streams.is_empty()
            && self.accounts.is_empty()
            && self.claims.is_empty()
            && self.data_keys.is_empty()
    }
}

/// What becomes of one unit.
#[derive(Debug)]
pub(super) enum Outcome {
    /// So many of the plan's events are its own.
    Events(usize),
    /// An earlier unit with the same key has these positions.
    Replay { first: Position, last: Position },
    /// The key stands for another body.
    KeyReused,
    /// Refused.
    Refused(Box<dyn Rejection>),
}

/// A batch, decided: what to append and what to answer.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) events: Vec<Recorded>,
    /// The stored form of each event.
    pub(super) payloads: Vec<String>,
    /// Keys of units with events; later units of the batch see them.
    pub(super) keys: HashMap<[u8; 16], KeyRecord>,
    /// Values claimed, and by whom, or released (`None`); later units of the batch see them.
    pub(super) claims: HashMap<ClaimedValue, Option<String>>,
    /// Data keys made and destroyed; later units of the batch see them.
    pub(super) data_keys: HashMap<UserId, KeyChange, Steady>,
    /// What the events order (when) or take back (`None`), by task and aggregate; the last word counts.
    pub(super) dues: HashMap<(&'static str, CompactString), Option<Timestamp>>,
    /// One for each unit, in order.
    pub(super) outcomes: Vec<Outcome>,
}

/// Why a unit got no further.
pub(super) enum Stop {
    Refused(Box<dyn Rejection>),
    Missing,
}

impl Memory {
    pub(super) fn new(streams: NonZeroUsize, accounts: NonZeroUsize, vault: Arc<Vault>) -> Self {
        Self {
            streams: Layers::new(streams),
            accounts: Layers::new(accounts),
            keys: HashMap::new(),
            claims: HashMap::new(),
            vault,
            keyless: HashSet::new(),
            unit_keys: Vec::new(),
            trust_fresh: true,
        }
    }

    /// Decides `units` after position `head`, or tells what is missing to do so.
    pub(super) fn plan<'a>(
        &mut self,
        units: impl Iterator<Item = &'a Unit>,
        codec: &Codec,
        head: Position,
        at: Timestamp,
    ) -> Result<Plan, Box<Misses>> {
        // An earlier pass that found something missing leaves nothing behind.
        self.drop_batch();
        let mut misses = Misses::default();
        let mut plan = Plan::default();
        for unit in units {
            let next = head + 1 + count(plan.events.len());
            let outcome = match self.known_key(unit, &plan) {
                Some(outcome) => outcome,
                None => match self.run(unit, next, at, codec, &mut plan, &mut misses) {
                    Ok(events) => {
                        self.streams.keep_unit();
                        self.accounts.keep_unit();
                        self.unit_keys.clear();
                        Outcome::Events(events)
                    }
                    Err(stop) => {
                        self.streams.drop_unit();
                        self.accounts.drop_unit();
                        plan.events.truncate(usize::try_from(next - head - 1).unwrap_or(0));
                        plan.payloads.truncate(plan.events.len());
                        for subject in self.unit_keys.drain(..) {
                            plan.data_keys.remove(&subject);
                        }
                        match stop {
                            Stop::Refused(refusal) => Outcome::Refused(refusal),
                            Stop::Missing => continue,
                        }
                    }
                },
            };
            if let Outcome::Events(events) = outcome {
                self.release(unit, &mut plan);
                plan.remember(unit, next, events);
            }
            plan.outcomes.push(outcome);
        }
        if misses.is_empty() { Ok(plan) } else { Err(Box::new(misses)) }
    }

    /// The batch is not to be written as planned: forget what it did.
    pub(super) fn drop_batch(&mut self) {
        self.streams.drop_batch();
        self.accounts.drop_batch();
    }

    /// The batch is in the log.
    pub(super) fn keep_batch(&mut self) {
        self.streams.keep_batch();
        self.accounts.keep_batch();
    }

    /// Nothing remembered can be relied on any more.
    pub(super) fn clear(&mut self) {
        self.streams.clear();
        self.accounts.clear();
    }

    /// Forgets what events of another process touched.
    pub(super) fn forget(&mut self, events: &mut [Recorded]) {
        for recorded in events {
            self.streams.forget(&recorded.stream);
            if recorded.event.erases(&recorded.stream.id).is_some() {
                // What is remembered of other streams may hold what was just erased.
                self.streams.clear();
            }
            if let Some(effect) = recorded.event.effect(&recorded.stream.id) {
                effect.accounts().for_each(|account| self.accounts.forget(account));
            }
        }
    }

    fn known_key(&self, unit: &Unit, plan: &Plan) -> Option<Outcome> {
        let wanted = unit.context.idempotency?;
        let record = self.keys.get(&wanted.key).or_else(|| plan.keys.get(&wanted.key))?;
        Some(if record.fingerprint == wanted.fingerprint {
            Outcome::Replay { first: record.first, last: record.last }
        } else {
            Outcome::KeyReused
        })
    }

    fn run(
        &mut self,
        unit: &Unit,
        first: Position,
        at: Timestamp,
        codec: &Codec,
        plan: &mut Plan,
        misses: &mut Misses,
    ) -> Result<usize, Stop> {
        self.check_claims(unit, plan)?;
        let mut position = first;
        let mut expected = unit.context.expected_version;
        for step in &unit.steps {
            let mut stream = match self.streams.get(&step.stream) {
                Some(stream) => stream.clone(),
                // Minted for this unit: nothing can be there.
                None if step.fresh && self.trust_fresh => Stream::absent(&step.stream),
                None => {
                    misses.streams.insert(step.stream.clone());
                    return Err(Stop::Missing);
                }
            };
            // What is made here has no version that anybody could have seen.
            if !step.fresh && expected.take().is_some_and(|version| version != stream.version) {
                return Err(Stop::Refused(Box::new(PreconditionFailed)));
            }
            if step.owner.is_some() && stream.state.owner() != step.owner {
                return Err(Stop::Refused(Box::new(NotFound(step.stream.kind.as_str()))));
            }
            for mut event in decide(step, &stream)? {
                self.post(&mut event, &step.stream, at, misses)?;
                stream.state.evolve(&event);
                stream.version += 1;
                let payload =
                    codec.encode(&step.stream, stream.version, &event).map_err(|e| unwritable(&e))?;
                let payload = if has_personal(&payload) {
                    let subject = event.subject(&step.stream.id);
                    self.seal(&step.stream, stream.version, subject, &payload, plan, misses)?
                } else {
                    payload
                };
                plan.payloads.push(payload);
                let owner = stream.state.owner();
                plan.events.push(Recorded {
                    position,
                    stream: step.stream.clone(),
                    sequence: stream.version,
                    recorded_at: at,
                    metadata: Metadata { owner, ..unit.context.metadata.clone() },
                    event,
                });
                position += 1;
            }
            self.streams.put(step.stream.clone(), stream);
        }
        Ok(usize::try_from(position - first).unwrap_or(0))
    }

    /// No event gets past here that the ledger has not accepted.
    fn post(
        &mut self,
        event: &mut Event,
        stream: &StreamId,
        at: Timestamp,
        misses: &mut Misses,
    ) -> Result<(), Stop> {
        let Some(effect) = event.effect(&stream.id) else { return Ok(()) };
        let mut missing = false;
        for account in effect.accounts() {
            if !self.accounts.touch(account) {
                misses.accounts.insert(account.clone());
                missing = true;
            }
        }
        if missing {
            return Err(Stop::Missing);
        }
        ledger::apply(&mut Accounts(&mut self.accounts), effect, at).map_err(|e| Stop::Refused(Box::new(e)))
    }
}

impl Plan {
    fn remember(&mut self, unit: &Unit, first: Position, events: usize) {
        for recorded in self.events.iter().rev().take(events).rev() {
            if let Some(subject) = recorded.event.erases(&recorded.stream.id) {
                self.data_keys.insert(subject, KeyChange::Erased);
            }
            for Due { task, when } in recorded.event.dues() {
                let at = match when {
                    When::Now => Some(recorded.recorded_at),
                    When::At(at) => Some(at),
                    When::Never => None,
                };
                self.dues.insert((task, recorded.stream.id.clone()), at);
            }
        }
        for claim in &unit.claims {
            self.claims.insert((claim.namespace, claim.hash), Some(claim.holder.clone()));
        }
        // A unit without events has nothing to point to; asked again, it finds again that all is so already.
        if let Some(idempotency) = unit.context.idempotency
            && events > 0
        {
            let last = first + count(events) - 1;
            let record = KeyRecord { fingerprint: idempotency.fingerprint, first, last };
            self.keys.insert(idempotency.key, record);
        }
    }
}

fn decide(step: &Step, stream: &Stream) -> Result<Vec<Event>, Stop> {
    match &step.work {
        Work::Decide(command) => stream.state.decide(command.clone()).map_err(Stop::Refused),
        Work::Append { expected, events } if *expected == stream.version => Ok(events.clone()),
        Work::Append { .. } => Err(Stop::Refused(Box::new(StaleVersion))),
    }
}

fn count(events: usize) -> Position {
    // A batch has at most a few thousand events.
    Position::try_from(events).unwrap_or(Position::MAX)
}

struct Accounts<'a>(&'a mut Layers<AccountNumber, Option<LedgerAccount>>);

impl Book for Accounts<'_> {
    fn get(&self, number: &AccountNumber) -> Option<&LedgerAccount> {
        self.0.get(number).and_then(Option::as_ref)
    }

    fn put(&mut self, number: &AccountNumber, account: LedgerAccount) {
        self.0.put(number.clone(), Some(account));
    }
}

pub(super) fn unwritable(why: &impl ToString) -> Stop {
    Stop::Refused(Box::new(Unwritable(why.to_string())))
}
