//! Servers that die and start again, over the one store.

use std::collections::BTreeMap;
use std::future::Future;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bursar_domain::Clock;
use bursar_domain::kernel::Sources;
use bursar_domain::reference::Reference;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use jiff::SignedDuration;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::Options;
use super::sources::{Chance, ServerClock, World};
use super::weather::{Broken, Counts, Fault, Weather, count};
use crate::accounts::{SendStatements, WatchSilence};
use crate::cards::EndBlocks;
use crate::interest::{DayEnds, PostInterest};
use crate::journal::in_memory::{Door, InMemory, Way};
use crate::journal::{Backing, JournalOptions, Observer, StoreError};
use crate::keys::MasterKey;
use crate::loans::{CollectLoans, ExpireApprovals};
use crate::mandates::ExecuteMandates;
use crate::messages::{Channel, DeliverMessages, Message, Messenger, NotSent};
use crate::owned::CommandError;
use crate::processes::{Done, Processes, Task, Work};
use crate::rails::{ClearPayments, Rail, Rails, SandboxRail};
use crate::recurrences::ExecuteRecurrences;
use crate::savings::{MakeContributions, MaturePlans};
use crate::vault::Vault;
use crate::{Journal, interest};

/// How long the world outside takes for a payment.
const RAIL: SignedDuration = SignedDuration::from_secs(90);
/// How late the clock of the second server is.
const LATE: SignedDuration = SignedDuration::from_millis(350);

/// What a server remembers: more than a batch can need, and little enough that much is forgotten and read again.
const STREAMS: NonZeroUsize = NonZeroUsize::new(8_000).unwrap();
const ACCOUNTS: NonZeroUsize = NonZeroUsize::new(2_000).unwrap();

/// A server while it lives.
pub(super) struct Server {
    pub(super) journal: Journal,
    pub(super) processes: Processes,
    pub(super) rails: Rails,
    pub(super) days: Arc<dyn DayEnds>,
    pub(super) reference: &'static Reference,
}

/// What all servers of a bank share.
pub(super) struct Bank {
    pub(super) world: Arc<World>,
    pub(super) chance: Arc<Chance>,
    pub(super) counts: Arc<Counts>,
    pub(super) tables: Arc<InMemory>,
    pub(super) master: MasterKey,
    pub(super) day_ends: Arc<dyn DayEnds>,
    pub(super) reference: &'static Reference,
    pub(super) options: Options,
    /// Due work that was done once and may be done again.
    pub(super) done: Arc<Mutex<BTreeMap<(&'static str, String), Work>>>,
}

/// The place of a server: who lives there changes.
pub(super) struct Place {
    home: Arc<Home>,
    keeper: JoinHandle<()>,
}

/// Who lives at a place now. Not a `watch`: that one wakes whoever waits in an order that no seed knows.
#[derive(Default)]
struct Home {
    living: Mutex<Option<Arc<Server>>>,
    changed: Notify,
}

impl Home {
    fn living(&self) -> Option<Arc<Server>> {
        self.living.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn change(&self, living: Option<Arc<Server>>) {
        *self.living.lock().unwrap_or_else(PoisonError::into_inner) = living;
        self.changed.notify_waiters();
    }

    /// Whoever lives here, once somebody does.
    async fn server(&self) -> Arc<Server> {
        loop {
            // Made before it is looked: a change in between is not missed.
            let changed = self.changed.notified();
            if let Some(server) = self.living() {
                return server;
            }
            changed.await;
        }
    }

    /// Returns once `server` lives here no more.
    async fn gone(&self, server: &Arc<Server>) {
        loop {
            let changed = self.changed.notified();
            if !self.living().is_some_and(|living| Arc::ptr_eq(&living, server)) {
                return;
            }
            changed.await;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.keeper.abort();
    }
}

impl Bank {
    pub(super) fn has(&self, fault: Fault) -> bool {
        self.options.faults.contains(&fault)
    }

    /// A place where a server lives from now on; the `nth` one.
    pub(super) fn place(self: &Arc<Self>, nth: u32) -> Place {
        let weather = Arc::new(Weather {
            chance: Arc::clone(&self.chance),
            counts: Arc::clone(&self.counts),
            faults: self.options.faults.clone(),
            broken: self.options.broken,
            died: Notify::new(),
        });
        let home = Arc::new(Home::default());
        let keeper = tokio::spawn(keep(Arc::clone(self), weather, nth, Arc::clone(&home)));
        Place { home, keeper }
    }

    async fn open(&self, weather: &Arc<Weather>, nth: u32) -> Result<Server, CommandError> {
        let broken = self.options.broken == Some(Broken::ClockBack);
        let late = if nth == 0 { SignedDuration::ZERO } else { LATE };
        let clock = ServerClock::new(&self.world, late, broken);
        let entropy = Arc::clone(&self.chance) as Arc<dyn bursar_domain::Entropy>;
        let sources = Sources { clock: Arc::clone(&clock) as Arc<dyn Clock>, entropy };
        let vault = Arc::new(Vault::new(&self.master, Arc::clone(&sources.entropy)));
        let way = Arc::clone(weather) as Arc<dyn Way>;
        let backing = Backing::InMemory(Door { tables: Arc::clone(&self.tables), way });
        let options = JournalOptions {
            keep_keys_days: self.options.keep_keys_days,
            remembered_streams: STREAMS,
            remembered_accounts: ACCOUNTS,
            ..JournalOptions::default()
        };
        let journal = Journal::open_in(backing, sources, vault, options).await?;
        journal.observe(Arc::clone(&clock) as Arc<dyn Observer>);
        let rail: Arc<dyn Rail> = Arc::new(SandboxRail::new(RAIL));
        let tasks = self.tasks(&journal, &rail);
        let processes = Processes::new(journal.clone(), tasks);
        let days = Arc::clone(&self.day_ends);
        let server = Server { journal, processes, rails: Some(rail), days, reference: self.reference };
        crate::products::ensure_defaults(&server.journal).await?;
        crate::loan_products::ensure_defaults(&server.journal).await?;
        interest::order(&server.journal).await?;
        Ok(server)
    }

    fn tasks(&self, journal: &Journal, rail: &Arc<dyn Rail>) -> Vec<Box<dyn Task>> {
        let journal = || journal.clone();
        let dormant = self.options.dormant_after_days;
        let mut tasks: Vec<Box<dyn Task>> = vec![
            Box::new(ExecuteRecurrences::new(journal())),
            Box::new(ExecuteMandates::new(journal(), self.reference)),
            Box::new(EndBlocks::new(journal())),
            Box::new(WatchSilence::new(journal(), dormant)),
            Box::new(SendStatements::new(journal())),
            Box::new(CollectLoans::new(journal())),
            Box::new(ExpireApprovals::new(journal())),
            Box::new(MakeContributions::new(journal())),
            Box::new(MaturePlans::new(journal())),
            Box::new(DeliverMessages::new(journal(), Arc::new(Nobody))),
            Box::new(PostInterest::new(journal(), Arc::clone(&self.day_ends))),
            Box::new(ClearPayments::new(journal(), Arc::clone(rail))),
        ];
        if self.options.broken == Some(Broken::NoDueKey) {
            tasks.push(Box::new(super::engine::Careless(journal())));
        }
        let again = self.has(Fault::Duplicate);
        let repeated = tasks.into_iter().map(|task| {
            let (chance, counts) = (Arc::clone(&self.chance), Arc::clone(&self.counts));
            Box::new(Repeated { task, chance, counts, done: Arc::clone(&self.done), again }) as Box<dyn Task>
        });
        repeated.collect()
    }
}

/// Starts a server whenever there is none, and buries those that died.
async fn keep(bank: Arc<Bank>, weather: Arc<Weather>, nth: u32, home: Arc<Home>) {
    loop {
        let opened = tokio::select! {
            biased;
            () = weather.died.notified() => None,
            opened = bank.open(&weather, nth) => opened.ok(),
        };
        if let Some(server) = opened.map(Arc::new) {
            home.change(Some(Arc::clone(&server)));
            weather.died.notified().await;
            server.journal.kill();
            home.change(None);
        }
        tokio::time::sleep(Duration::from_millis(bank.chance.between(50, 3_000))).await;
    }
}

impl Place {
    /// Does something on the server that lives here; whoever it was dies, it is not answered.
    pub(super) async fn on<'a, T, F>(&self, does: impl FnOnce(Arc<Server>) -> F) -> Result<T, CommandError>
    where
        F: Future<Output = Result<T, CommandError>> + 'a,
    {
        let server = self.home.server().await;
        tokio::select! {
            biased;
            () = self.home.gone(&server) => Err(CommandError::unavailable()),
            done = does(Arc::clone(&server)) => done,
        }
    }
}

/// Takes every message and keeps none.
struct Nobody;

impl Messenger for Nobody {
    fn carries(&self, _channel: Channel) -> bool {
        true
    }

    fn send(&self, _message: Message) -> BoxFuture<'_, Result<(), NotSent>> {
        ready(Ok(())).boxed()
    }
}

/// Due work that is delivered again, at once or when it was done long ago.
struct Repeated {
    task: Box<dyn Task>,
    chance: Arc<Chance>,
    counts: Arc<Counts>,
    done: Arc<Mutex<BTreeMap<(&'static str, String), Work>>>,
    again: bool,
}

impl Repeated {
    async fn run_twice(&self, work: &Work) -> Result<Done, CommandError> {
        count(&self.counts.due);
        let first = self.task.run(work).await?;
        if self.again && self.chance.once_in(25) {
            count(&self.counts.duplicates);
            // The second answer counts, as the later of two servers would write it.
            return self.task.run(work).await;
        }
        if self.again && self.chance.once_in(10) {
            let key = (self.task.name(), work.subject.clone());
            let old = {
                let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
                done.insert(key, work.clone())
            };
            if let Some(old) = old {
                count(&self.counts.duplicates);
                self.task.run(&old).await?;
            }
        }
        Ok(first)
    }
}

impl Task for Repeated {
    fn name(&self) -> &'static str {
        self.task.name()
    }

    fn run<'a>(&'a self, work: &'a Work) -> BoxFuture<'a, Result<Done, CommandError>> {
        self.run_twice(work).boxed()
    }
}

/// When nothing of this is of use: the store was asked and did not answer.
impl From<StoreError> for super::SimError {
    fn from(error: StoreError) -> Self {
        Self::NotBegun(error.to_string())
    }
}
