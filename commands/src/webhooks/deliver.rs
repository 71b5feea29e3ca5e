//! Telling webhooks what happens: at least once each, for days if it must be, and none of them waits for another.
//!
//! ```text
//!   events of the webhook itself --> carry out: where to begin, what to repeat      once each: webhook_cursors.sequence
//!   the log after its cursor     --> a row for each event that it wants             once each: webhook_cursors.position
//!   rows that are due            --> claimed with SKIP LOCKED, sent, written down   at least once: whoever dies over
//!                                                                                   one leaves it to others in a minute
//! ```
//!
//! Any number of servers do this at once. A webhook has a lane of its own, a few requests wide.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bursar_domain::kernel::{Permission, WebhookId};
use bursar_domain::messages::{Category, MessagesCommand};
use bursar_domain::users::User;
use bursar_domain::webhooks::{DisableReason, Endpoint, EventFilter, Webhook, WebhookCommand, published};
use bursar_domain::{Aggregate as _, Event, Kind, Position, Recorded};
use futures_util::future::{join_all, try_join_all};
use jiff::{SignedDuration, Timestamp};
use sqlx::{Connection as _, PgPool};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use super::guard::Lookup;
use super::send::{Attempted, NoClient, Sender};
use super::store::{self, Claimed};
use crate::journal::{Observer, StoreError};
use crate::keys::Keys;
use crate::messages::notice;
use crate::owned::CommandError;
use crate::processes::context;
use crate::{Journal, Unit};

/// How often is looked what is due.
const POLL: Duration = Duration::from_millis(200);
/// Requests to one webhook at once, by one server.
const AT_ONCE: i64 = 4;
/// How long a claim is respected: longer than a request may take.
const LEASE: SignedDuration = SignedDuration::from_secs(60);
/// How long requests get to finish when the server stops; what does not is repeated.
const LAST_WORDS: Duration = Duration::from_secs(3);
/// How often what is old is forgotten.
const SWEEP: SignedDuration = SignedDuration::from_hours(1);

/// Seconds from one try to the next (Standard Webhooks): ten tries in a little more than three days.
const PAUSES: [i64; 9] = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, LONGEST];
/// The last of them, and the longest that an address may ask for.
const LONGEST: i64 = 86_400;

/// How webhooks are told.
pub struct DeliveryOptions {
    /// What names stand for.
    pub lookup: Arc<dyn Lookup>,
    /// Whether machines of private networks are called too.
    pub private_addresses: bool,
    /// How long is remembered what was delivered.
    pub keep: SignedDuration,
}

/// Tells webhooks what happens. Cheap to clone.
#[derive(Clone)]
pub struct Deliverer(Arc<Inner>);

struct Inner {
    journal: Journal,
    /// To the journal's schema.
    pool: PgPool,
    sender: Sender,
    keep: SignedDuration,
    /// Those to which something has happened that is not carried out yet.
    changed: Arc<Changed>,
    /// Whether those are known that there were before this server.
    learned: AtomicBool,
    webhooks: Mutex<BTreeMap<WebhookId, Webhook>>,
    swept: Mutex<Timestamp>,
}

#[derive(Default)]
struct Changed(Mutex<BTreeSet<WebhookId>>);

impl Changed {
    fn ids(&self) -> MutexGuard<'_, BTreeSet<WebhookId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Changed {
    fn recorded(&self, events: &[Recorded]) {
        let touched = events.iter().filter(|event| event.stream.kind == Kind::Webhook);
        let touched: Vec<WebhookId> = touched.filter_map(|event| event.stream.id.parse().ok()).collect();
        if !touched.is_empty() {
            self.ids().extend(touched);
        }
    }
}

impl std::fmt::Debug for Deliverer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Deliverer")
    }
}

impl Deliverer {
    /// One that hears from `journal`, kept in the schema of `pool`'s connections.
    ///
    /// # Errors
    /// [`NoClient`].
    pub fn new(
        journal: Journal,
        pool: PgPool,
        keys: Arc<Keys>,
        options: DeliveryOptions,
    ) -> Result<Self, NoClient> {
        let DeliveryOptions { lookup, private_addresses, keep } = options;
        let changed = Arc::new(Changed::default());
        journal.observe(Arc::clone(&changed) as Arc<dyn Observer>);
        Ok(Self(Arc::new(Inner {
            sender: Sender::new(keys, lookup, private_addresses)?,
            swept: Mutex::new(journal.sources().clock.now()),
            journal,
            pool,
            keep,
            changed,
            learned: AtomicBool::new(false),
            webhooks: Mutex::default(),
        })))
    }

    /// Runs until `stop` says so.
    #[must_use]
    pub fn start(&self, mut stop: watch::Receiver<bool>) -> JoinHandle<()> {
        let this = self.clone();
        tokio::spawn(async move {
            let (mut lanes, busy) = (JoinSet::new(), Arc::new(Mutex::new(BTreeSet::new())));
            while !*stop.borrow() {
                if let Err(error) = this.look(&mut lanes, &busy, &stop).await {
                    tracing::warn!(%error, "what webhooks are to be told cannot be read; trying again");
                }
                while lanes.try_join_next().is_some() {}
                tokio::select! {
                    () = tokio::time::sleep(POLL) => {}
                    _ = stop.wait_for(|stop| *stop) => {}
                }
            }
            let finished = async { while lanes.join_next().await.is_some() {} };
            drop(tokio::time::timeout(LAST_WORDS, finished).await);
        })
    }

    /// Tells everybody everything that is due now.
    ///
    /// # Errors
    /// When the store cannot be reached.
    pub async fn run_due(&self) -> Result<(), CommandError> {
        self.refresh().await?;
        let stop = watch::channel(false).1;
        try_join_all(self.enabled().into_iter().map(|id| self.lane(id, &stop))).await?;
        Ok(())
    }

    /// Begins a lane for each webhook that has something to hear and none yet.
    async fn look(
        &self,
        lanes: &mut JoinSet<()>,
        busy: &Arc<Mutex<BTreeSet<WebhookId>>>,
        stop: &watch::Receiver<bool>,
    ) -> Result<(), CommandError> {
        self.refresh().await?;
        let ids = self.enabled();
        if ids.is_empty() {
            return Ok(());
        }
        let (pool, now) = (&self.0.pool, self.0.journal.sources().clock.now());
        let head = *self.0.journal.head().borrow();
        let names: Vec<String> = ids.iter().map(WebhookId::to_string).collect();
        let due = store::due(pool, &names, head, now).await?;
        for (id, name) in ids.into_iter().zip(&names) {
            if due.contains(name) && locked(busy).insert(id) {
                let (this, busy, stop) = (self.clone(), Arc::clone(busy), stop.clone());
                lanes.spawn(async move {
                    if let Err(error) = this.lane(id, &stop).await {
                        tracing::warn!(webhook = %id, %error, "a webhook cannot be told; trying again");
                    }
                    locked(&busy).remove(&id);
                });
            }
        }
        let lag = u32::try_from(store::lag(pool, &names, head).await?).unwrap_or(u32::MAX);
        metrics::gauge!("bursar_webhook_lag_events").set(f64::from(lag));
        self.sweep(now).await
    }

    /// Forgets what was delivered long ago, now and then.
    async fn sweep(&self, now: Timestamp) -> Result<(), CommandError> {
        let due = {
            let mut swept = self.0.swept.lock().unwrap_or_else(PoisonError::into_inner);
            let due = now.duration_since(*swept) > SWEEP;
            if due {
                *swept = now;
            }
            due
        };
        if due && let Ok(before) = now.checked_sub(self.0.keep) {
            store::forget(&self.0.pool, before).await?;
        }
        Ok(())
    }

    fn webhooks(&self) -> MutexGuard<'_, BTreeMap<WebhookId, Webhook>> {
        self.0.webhooks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enabled(&self) -> Vec<WebhookId> {
        let webhooks = self.webhooks();
        webhooks.iter().filter(|(_, webhook)| webhook.enabled().is_some()).map(|(id, _)| *id).collect()
    }

    /// Carries out what was asked of webhooks since.
    async fn refresh(&self) -> Result<(), CommandError> {
        if !self.0.learned.load(Ordering::Acquire) {
            let all = self.0.journal.webhooks().await?;
            self.0.changed.ids().extend(all);
            self.0.learned.store(true, Ordering::Release);
        }
        let changed = std::mem::take(&mut *self.0.changed.ids());
        for id in &changed {
            if let Err(error) = self.carry_out(*id).await {
                self.0.changed.ids().extend(&changed);
                return Err(error.into());
            }
        }
        Ok(())
    }

    async fn carry_out(&self, id: WebhookId) -> Result<(), StoreError> {
        let now = self.0.journal.sources().clock.now();
        let events = self.0.journal.stream(Kind::Webhook, &id.to_string()).await?;
        let mut webhook = Webhook::default();
        let mut own = self.0.pool.acquire().await?.detach();
        let mut db = own.begin().await?;
        let done = store::lock(&mut db, id).await?;
        for recorded in events {
            let Event::Webhook(event) = &recorded.event else { continue };
            webhook.evolve(event);
            if recorded.sequence > done {
                store::carry_out(&mut db, id, recorded.sequence, recorded.position, event, now).await?;
            }
        }
        db.commit().await?;
        self.webhooks().insert(id, webhook);
        Ok(())
    }

    /// Tells one webhook everything that it wants to hear and that is due.
    async fn lane(&self, id: WebhookId, stop: &watch::Receiver<bool>) -> Result<(), CommandError> {
        let pool = &self.0.pool;
        while !*stop.borrow() {
            let webhook = self.webhooks().get(&id).cloned();
            let Some(endpoint) = webhook.as_ref().and_then(Webhook::enabled) else { return Ok(()) };
            let now = self.0.journal.sources().clock.now();
            let names = EventFilter::names(&endpoint.settings.event_types);
            let head = *self.0.journal.head().borrow();
            let more = store::follow(pool, id, &names, head, now).await?;
            let claimed = store::claim(pool, id, now, now + LEASE, AT_ONCE).await?;
            if claimed.is_empty() && !more {
                return Ok(());
            }
            for told in join_all(claimed.iter().map(|claimed| self.tell(id, endpoint, claimed))).await {
                told?;
            }
        }
        Ok(())
    }

    /// Tells a webhook one thing, and writes down what became of it.
    async fn tell(&self, id: WebhookId, endpoint: &Endpoint, claimed: &Claimed) -> Result<(), CommandError> {
        let sources = self.0.journal.sources();
        let (now, position) = (sources.clock.now(), claimed.position);
        let attempted = match self.body(position).await? {
            Some(body) => self.0.sender.send(id, endpoint, &message_id(id, position), body, now).await,
            None => Attempted::unanswered("UNREADABLE"),
        };
        let now = sources.clock.now();
        let is_over = attempted.is_taken() || attempted.is_gone();
        let next = if is_over { None } else { self.pause(claimed.attempts, attempted.wait) };
        let next = next.and_then(|pause| now.checked_add(pause).ok());
        store::record(&self.0.pool, id, claimed, &attempted, now, next).await?;
        let outcome = match next {
            _ if attempted.is_taken() => "delivered",
            Some(_) => "failed",
            None => "exhausted",
        };
        metrics::counter!("bursar_webhook_attempts_total", "outcome" => outcome).increment(1);
        if attempted.is_gone() {
            return self.disable(id, DisableReason::Gone).await;
        }
        if outcome == "exhausted" && store::is_failing(&self.0.pool, id, position).await? {
            return self.disable(id, DisableReason::Failing).await;
        }
        Ok(())
    }

    /// What is said of the event at a position; none when this version cannot read it.
    async fn body(&self, position: Position) -> Result<Option<String>, CommandError> {
        match self.0.journal.range(position - 1, position).await {
            Ok(events) => {
                let said = events.first().and_then(published);
                Ok(said.and_then(|said| serde_json::to_string(&said).ok()))
            }
            Err(StoreError::Unreadable(event)) => {
                tracing::error!(%event, "a webhook is to be told what this version cannot read");
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// How long to wait after so many tries, longer if the other side asks for it, and up to a tenth more, so that not
    /// everything comes back at once; none when that was the last.
    fn pause(&self, attempts: i32, asked: Option<SignedDuration>) -> Option<SignedDuration> {
        let nth = usize::try_from(attempts).ok()?.checked_sub(1)?;
        // Nobody is left alone for longer than between the last two tries: that would be a way not to be told.
        let asked = asked.map_or(0, |asked| asked.as_secs().min(LONGEST));
        let millis = PAUSES.get(nth)?.max(&asked).checked_mul(1_000)?;
        let mut chance = [0; 1];
        self.0.journal.sources().entropy.fill(&mut chance);
        Some(SignedDuration::from_millis(millis + millis / 10 * i64::from(chance[0]) / 256))
    }

    /// Tells a webhook nothing more, and staff that it is so.
    async fn disable(&self, id: WebhookId, reason: DisableReason) -> Result<(), CommandError> {
        let journal = &self.0.journal;
        let (webhook, version) = journal.load::<Webhook>(&id.to_string()).await?;
        if webhook.enabled().is_none() {
            return self.refresh().await;
        }
        let why = context("webhook.disable", &id.to_string(), &format!("{version}:{reason}"));
        let mut unit = Unit::new(why).step(id, WebhookCommand::Disable { reason });
        for staff in journal.staff().await? {
            let (user, _) = journal.load::<User>(&staff.to_string()).await?;
            if user.permissions().contains(&Permission::WebhookAdmin) {
                let words = match reason {
                    DisableReason::Gone => "has said that it is gone (410)",
                    DisableReason::Failing | DisableReason::Requested => "took nothing for three days",
                };
                let body =
                    format!("Webhook {id} {words} and is disabled. What happens meanwhile waits for it.");
                let news = notice(journal.sources(), Category::General, "A webhook is disabled", body);
                unit = unit.step(staff, MessagesCommand::Post(Box::new(news)));
            }
        }
        match journal.submit(unit).await {
            Ok(_) => {
                tracing::error!(webhook = %id, %reason, "a webhook is disabled");
                metrics::counter!("bursar_webhooks_disabled_total", "reason" => reason.as_str()).increment(1);
            }
            // Somebody was faster.
            Err(crate::SubmitError::Refused(_)) => {}
            Err(error) => return Err(error.into()),
        }
        self.refresh().await
    }
}

/// The id of what a webhook is told of an event: the same at every try, by whatever server.
#[must_use]
pub fn message_id(id: WebhookId, position: Position) -> String {
    format!("{id}_{position}")
}

fn locked(busy: &Mutex<BTreeSet<WebhookId>>) -> MutexGuard<'_, BTreeSet<WebhookId>> {
    busy.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_tries_take_three_days() {
        let hours = PAUSES.iter().sum::<i64>() / 3_600;
        assert_eq!((PAUSES.len() + 1, hours), (10, 75));
    }
}
