//! Day by day: what people want, what is due, what is delivered again; and then what must hold.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bursar_domain::kernel::{UserId, midnight, utc_date};
use bursar_domain::ledger::Internal;
use bursar_domain::payments::{Pay, PaymentCommand, PaymentKind};
use bursar_domain::{AccountNumber, Amount, Currency, Entropy as _, Metadata};
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join_all};
use jiff::civil::{Date, date};
use jiff::{SignedDuration, ToSpan as _};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::asks::Request;
use super::checks::{Checks, Finding};
use super::day_ends::Folded;
use super::perform::perform;
use super::servers::{Bank, Place};
use super::sources::{Chance, World};
use super::weather::{Broken, Counts, Fault, count};
use super::workload::Workload;
use super::{Failure, Options, SimError, Summary};
use crate::journal::SubmitError;
use crate::journal::in_memory::InMemory;
use crate::keys::{Keys, MasterKey};
use crate::owned::CommandError;
use crate::processes::{Done, Task, Work, order_once};
use crate::reference::embedded;
use crate::{Committed, Context, Journal, Unit, payments};

/// The first day of every simulation.
const BEGINS: Date = date(2026, 1, 1);
/// The hours at which people want something.
const HOURS: [i64; 3] = [9, 13, 18];
/// How long a request is asked again, and due work looked at, before it is said that it never ends.
const PATIENCE: Duration = Duration::from_secs(3 * 60 * 60);

/// What everybody who delivers a request needs.
struct Counter {
    bank: Arc<Bank>,
    places: Vec<Place>,
    keys: Keys,
    /// Who reviews, who approves, who pays out.
    staff: [UserId; 3],
}

/// What became of a delivery.
enum Told {
    Done(Box<Committed>),
    Refused(&'static str),
    /// The key stands for something else, or nobody ever answered.
    Wrong(String),
}

struct Engine {
    counter: Arc<Counter>,
    workload: Workload,
    checks: Checks,
    operations: u64,
    refusals: BTreeMap<&'static str, u64>,
    /// Requests that will be delivered again: on which day, and which.
    later: Vec<(u32, Request)>,
}

pub(super) async fn simulate(
    options: &Options,
    progress: &mut dyn FnMut(u32, u32),
) -> Result<Summary, SimError> {
    let mut engine = Engine::new(options)?;
    for day in 1..=options.days {
        progress(day - 1, options.days);
        let date = BEGINS.saturating_add(i64::from(day - 1).days());
        let ended = engine.day(day, date).await?;
        let ended = if day == options.days { ended.and_then(|()| engine.checks.end()) } else { ended };
        if let Err((position, finding)) = ended {
            return Err(SimError::Failed(Failure { day, date, position, finding }));
        }
    }
    let counts = &engine.counter.bank.counts;
    Ok(Summary {
        days: options.days,
        events: engine.counter.bank.tables.events(),
        kinds: engine.checks.kinds.clone(),
        operations: engine.operations,
        refusals: engine.refusals.clone(),
        due_work: counts.due.load(Ordering::Relaxed),
        troubles: counts.troubles(),
        checks: engine.checks.checked,
        root: engine.checks.root(),
    })
}

impl Engine {
    fn new(options: &Options) -> Result<Self, SimError> {
        let lookup = embedded().map_err(|error| SimError::NotBegun(error.to_string()))?;
        let chance = Arc::new(Chance::new(options.seed));
        let world = World::new(midnight(BEGINS));
        let tables = Arc::new(InMemory::default());
        let mut bank_key = [0; 32];
        chance.fill(&mut bank_key);
        let bank = Arc::new(Bank {
            world: Arc::clone(&world),
            counts: Arc::new(Counts::default()),
            master: MasterKey::draw(&*chance),
            day_ends: Arc::new(Folded::new(Arc::clone(&tables))),
            reference: &lookup.reference,
            options: options.clone(),
            done: Arc::new(Mutex::new(BTreeMap::new())),
            tables,
            chance: Arc::clone(&chance),
        });
        let staff = [(); 3].map(|()| {
            let mut drawn = [0; 10];
            chance.fill(&mut drawn);
            UserId::of(world.now(), &drawn)
        });
        let servers = if bank.has(Fault::Reorder) { 2 } else { 1 };
        let counter = Counter {
            places: (0..servers).map(|nth| bank.place(nth)).collect(),
            keys: Keys::derive(&bank_key),
            staff,
            bank,
        };
        Ok(Self {
            counter: Arc::new(counter),
            workload: Workload::new(chance, options.customers),
            checks: Checks::default(),
            operations: 0,
            refusals: BTreeMap::new(),
            later: Vec::new(),
        })
    }

    async fn day(&mut self, day: u32, date: Date) -> Result<Result<(), Finding>, SimError> {
        let counter = Arc::clone(&self.counter);
        let (bank, options) = (&counter.bank, &counter.bank.options);
        bank.world.skip_to(midnight(date));
        if day == 1
            && let Err(finding) = counter.offer().await
        {
            return Ok(Err(finding));
        }
        if let Err(finding) = counter.work().await {
            return Ok(Err(finding));
        }
        let read = self.read()?;
        if read.is_err() {
            return Ok(read);
        }
        for (nth, hour) in (0_u32..).zip(HOURS) {
            bank.world.skip_to(midnight(date) + SignedDuration::from_hours(hour));
            if options.broken == Some(Broken::ClockBack) && day > 2 {
                bank.world.skip(SignedDuration::from_hours(-1));
            }
            let hours = u32::try_from(HOURS.len()).unwrap_or(1);
            let most = options.operations / hours + u32::from(nth < options.operations % hours);
            let now = bank.world.now();
            let wanted = self.workload.requests(now, most);
            let told = self.moment(day, wanted).await;
            let read = told.and(self.read()?);
            if read.is_err() {
                return Ok(read);
            }
        }
        bank.world.skip_to(midnight(date) + SignedDuration::from_hours(23));
        if options.broken == Some(Broken::NoDueKey) {
            self.order_careless().await;
        }
        if let Err(finding) = counter.work().await {
            return Ok(Err(finding));
        }
        Ok(self.read()?.and_then(|()| self.checks.day_end(&bank.tables)))
    }

    fn read(&mut self) -> Result<Result<(), Finding>, SimError> {
        let read = self.checks.read(&self.counter.bank.tables)?;
        Ok(read.map(|events| self.workload.learn(&events)))
    }

    /// Delivers requests, each after a while of its own, some of them twice, with due work in between.
    async fn moment(&mut self, day: u32, wanted: Vec<Request>) -> Result<(), Finding> {
        let bank = Arc::clone(&self.counter.bank);
        let (chance, reorder) = (&bank.chance, bank.has(Fault::Reorder));
        let mut deliveries: Vec<(Request, Duration)> = Vec::new();
        let (due, later) = self.later.drain(..).partition(|(on, _)| *on <= day);
        self.later = later;
        let repeated: Vec<(u32, Request)> = due;
        deliveries.extend(repeated.into_iter().map(|(_, request)| (request, Duration::ZERO)));
        for (nth, request) in (0_u64..).zip(wanted) {
            let mut wait = Duration::from_millis(40 * nth);
            if reorder && chance.once_in(6) {
                count(&bank.counts.reordered);
                wait += Duration::from_millis(chance.between(50, 5_000));
            }
            if bank.has(Fault::Duplicate) && chance.once_in(10) {
                count(&bank.counts.duplicates);
                deliveries.push((request.clone(), wait + Duration::from_millis(chance.between(0, 3_000))));
            }
            if bank.has(Fault::Duplicate) && chance.once_in(12) {
                count(&bank.counts.duplicates);
                let keep = u64::try_from(bank.options.keep_keys_days).unwrap_or(0);
                let days = u32::try_from(chance.between(0, keep)).unwrap_or(0);
                self.later.push((day + days, request.clone()));
            }
            deliveries.push((request, wait));
        }
        let mut under_way = JoinSet::new();
        for (request, wait) in deliveries {
            let counter = Arc::clone(&self.counter);
            under_way.spawn(async move {
                tokio::time::sleep(wait).await;
                let told = counter.deliver(&request).await;
                (request, told)
            });
        }
        // Some answers wait for what the bank does by itself: a payment is not called back while its rail is down.
        let (counter, answered) = (Arc::clone(&self.counter), Arc::new(AtomicBool::new(false)));
        let over = Arc::clone(&answered);
        let working = tokio::spawn(async move {
            loop {
                counter.work().await?;
                if over.load(Ordering::Relaxed) {
                    return Ok(());
                }
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        });
        while let Some(delivered) = under_way.join_next().await {
            let Ok((request, told)) = delivered else { continue };
            match told {
                Told::Done(committed) => {
                    self.operations += 1;
                    self.checks.answer(&request.id, &committed.events)?;
                }
                Told::Refused(code) => {
                    *self.refusals.entry(code).or_default() += 1;
                    let asked = |(position, finding)| (position, format!("{finding}: {:?}", request.ask));
                    self.checks.refusal(&request.id, code).map_err(asked)?;
                }
                Told::Wrong(finding) => return Err((None, finding)),
            }
        }
        answered.store(true, Ordering::Relaxed);
        working.await.unwrap_or(Ok(()))
    }

    async fn order_careless(&self) {
        let accounts = self.counter.bank.tables.ledger(|accounts| {
            let of_customers = accounts.iter().filter(|(_, account)| account.owner.is_some());
            of_customers.map(|(number, _)| number.clone()).take(20).collect::<Vec<AccountNumber>>()
        });
        let now = self.counter.bank.world.now();
        for account in accounts {
            let Some(place) = self.counter.places.first() else { return };
            let ordered = place.on(|server| {
                let account = account.clone();
                async move { Ok(order_once(&server.journal, CARELESS, account.as_str(), now).await?) }
            });
            drop(ordered.await);
        }
    }
}

impl Counter {
    /// Puts the configured products on offer.
    async fn offer(&self) -> Result<(), Finding> {
        let until = Instant::now() + PATIENCE;
        let Some(place) = self.places.first() else { return Ok(()) };
        loop {
            let products = self.bank.options.products.clone();
            let context = crate::processes::context("sim", "products", "import");
            let offered = place.on(|server| async move {
                crate::products::import(&server.journal, context, products).await
            });
            match offered.await {
                Ok(_) => return Ok(()),
                Err(error) if error.code().is_some() || Instant::now() > until => {
                    return Err((None, format!("the products cannot be put on offer: {error}")));
                }
                Err(_) => tokio::time::sleep(Duration::from_millis(200)).await,
            }
        }
    }

    /// Asks until there is an answer, of whichever server.
    async fn deliver(&self, request: &Request) -> Told {
        let until = Instant::now() + PATIENCE;
        let keyless = self.bank.options.broken == Some(Broken::NoKey);
        loop {
            let Some(place) = self.bank.chance.one_of(&self.places) else {
                return Told::Wrong("there is no server".to_owned());
            };
            let answer = place.on(|server| async move {
                perform(&server, &self.keys, &self.staff, request, keyless).await
            });
            let error = match answer.await {
                Ok(committed) => return Told::Done(Box::new(committed)),
                Err(error) => error,
            };
            if let Some(code) = error.code() {
                return Told::Refused(code);
            }
            if matches!(error, CommandError::Submit(SubmitError::KeyReused)) {
                return Told::Wrong(format!("{} was told that its key is another request's", request.id));
            }
            if Instant::now() > until {
                return Told::Wrong(format!("{} is never answered: {error}", request.id));
            }
            tokio::time::sleep(Duration::from_millis(self.bank.chance.between(20, 800))).await;
        }
    }

    /// Does everything that is due, on all servers at once.
    async fn work(&self) -> Result<(), Finding> {
        let until = Instant::now() + PATIENCE;
        loop {
            let runs = self
                .places
                .iter()
                .map(|place| place.on(|server| async move { server.processes.run_due().await }));
            if join_all(runs).await.iter().all(Result::is_ok) {
                return Ok(());
            }
            if Instant::now() > until {
                let today = utc_date(self.bank.world.now());
                return Err((None, format!("what is due on {today} is never done")));
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }
}

/// The task of [`Careless`].
const CARELESS: &str = "sim.careless";

/// A process that pays without an idempotency key: only to be found out.
pub(super) struct Careless(pub(super) Journal);

impl Careless {
    async fn pay(&self, work: &Work) -> Result<Done, CommandError> {
        let Some(account) = self.0.ledger_account(&AccountNumber::from(work.subject.as_str())).await? else {
            return Ok(Done::Finished);
        };
        let currency: Currency = account.currency;
        let Ok(amount) = Amount::try_from(1_i64) else { return Ok(Done::Finished) };
        let id = payments::mint(&self.0);
        let pay = Pay::between(
            PaymentKind::Deposit,
            Internal::Cash.account(currency),
            AccountNumber::from(work.subject.as_str()),
            amount,
            currency,
            payments::reference_of(id),
        );
        let due = format!("{CARELESS}:{}:{}", work.subject, work.due_at);
        let context = Context { metadata: Metadata::by(CARELESS, due), ..Context::default() };
        let unit = Unit::new(context).create(id, PaymentCommand::Pay(Box::new(pay)));
        self.0.submit(unit).await?;
        Ok(Done::Finished)
    }
}

impl Task for Careless {
    fn name(&self) -> &'static str {
        CARELESS
    }

    fn run<'a>(&'a self, work: &'a Work) -> BoxFuture<'a, Result<Done, CommandError>> {
        self.pay(work).boxed()
    }
}
