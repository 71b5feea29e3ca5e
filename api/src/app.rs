//! The server put together: one value that every handler gets, and the way it is started and stopped.

use std::future::Future;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::serve::ListenerExt as _;
use bursar_commands::accounts::{SendStatements, WatchSilence};
use bursar_commands::audit::monitor::{self, Monitor};
use bursar_commands::cards::EndBlocks;
use bursar_commands::certificates::Certificates;
use bursar_commands::devices::{FinishRotations, Issued};
use bursar_commands::documents::{DocumentReader, MrzReader};
use bursar_commands::files::{Files, SweepFiles, UnusableStore, order};
use bursar_commands::identity::IdentityRegistry;
use bursar_commands::interest::{DayEnds, PostInterest};
use bursar_commands::journal::{JournalOptions, Observer, StoreError, imported};
use bursar_commands::keys::Keys;
use bursar_commands::loans::{CollectLoans, ExpireApprovals};
use bursar_commands::mandates::ExecuteMandates;
use bursar_commands::messages::{DeliverMessages, GatewayError, MailerError, Messenger};
use bursar_commands::mfa::SecondFactors;
use bursar_commands::passwords::{HashingFailed, Passwords};
use bursar_commands::pki::{Authority, PkiError};
use bursar_commands::processes::{Processes, Task};
use bursar_commands::proof::note::{BadOrigin, Signer};
use bursar_commands::proof::{NoClient, Sealer};
use bursar_commands::rails::{ClearPayments, Rail, Rails, SandboxRail};
use bursar_commands::recurrences::ExecuteRecurrences;
use bursar_commands::reference::{EmbeddedError, embedded};
use bursar_commands::resets::SendReset;
use bursar_commands::savings::{MakeContributions, MaturePlans};
use bursar_commands::sessions::{Factors, Lifetimes};
use bursar_commands::vault::Secrets;
use bursar_commands::verifications::{SendCodes, Verifier};
use bursar_commands::webhooks::{self, Deliverer};
use bursar_commands::{CommandError, Journal, interest, loan_products, products};
use bursar_domain::Position;
use bursar_domain::kernel::{Sources, Spelled as _, uuid_v7};
use bursar_domain::reference::{Choices, Places, Reference};
use bursar_domain::verifications::Purpose;
use bursar_projections::{Freshness, ModelStatus, Projections};
use jiff::SignedDuration;
use metrics_exporter_prometheus::PrometheusHandle;
use sqlx::PgPool;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::auth::proof::{NoAuthority, TrustAnchor};
use crate::auth::{AccessTokens, Auth, BadKey, Caller, LoginGuard};
use crate::config::{Config, Secret};
use crate::connections;
use crate::events::Streams;
use crate::interest::ReadDayEnds;
use crate::limits::{RateLimits, Shared};
use crate::problem::Problem;
use crate::rebuilds::Rebuilds;
use crate::request::Conditions;
use crate::sandbox::Sandbox;
use crate::sources::BankClock;
use crate::written::Written;
use crate::{metrics, outside, router};

/// Everything a handler may need. Cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Parts>);

/// What an [`App`] is made of.
#[allow(missing_docs, reason = "each type says what it is")]
pub struct Parts {
    pub config: Config,
    /// For reading; writes go through the journal.
    pub pool: PgPool,
    pub journal: Journal,
    pub keys: Arc<Keys>,
    pub verifier: Verifier,
    pub factors: Factors,
    pub devices: Devices,
    pub passwords: Passwords,
    /// Signs the certificates of devices.
    pub authority: Authority,
    pub auth: Auth,
    pub guard: LoginGuard,
    pub limits: RateLimits,
    pub written: Arc<Written>,
    pub freshness: Freshness,
    /// Banks, billers: what is looked up and never changes.
    pub reference: &'static Reference,
    /// Countries, states, cities.
    pub places: &'static Places,
    /// Genders, professions, periods: what people choose from.
    pub choices: &'static Choices,
    /// Only in a test bank.
    pub sandbox: Option<Arc<Sandbox>>,
    /// The way out of the bank, and into it.
    pub rails: Rails,
    /// What customers hand in.
    pub files: Files,
    /// Reads identity documents.
    pub reader: Arc<dyn DocumentReader>,
    /// Where identities are kept, when the bank is connected to it.
    pub registry: Option<Arc<dyn IdentityRegistry>>,
    /// How accounts ended their days.
    pub day_ends: Arc<dyn DayEnds>,
    /// What the bank does by itself.
    pub processes: Processes,
    /// Whoever listens to their own events.
    pub streams: Streams,
    /// Tells others what happens in the bank.
    pub webhooks: Deliverer,
    /// Vouches for the log.
    pub signer: Arc<Signer>,
    pub metrics: PrometheusHandle,
    /// Read models that are being built anew.
    pub(crate) rebuilds: Rebuilds,
    projections: Mutex<Option<Projections>>,
    working: Mutex<Option<Working>>,
}

/// Who vouches for devices, and what is known of their certificates.
#[allow(missing_docs, reason = "each type says what it is")]
#[derive(Clone)]
pub struct Devices {
    pub certificates: Arc<dyn Certificates>,
    pub anchor: TrustAnchor,
}

/// What the bank does by itself, and the word that stops it.
type Working = (watch::Sender<bool>, Vec<JoinHandle<()>>);

/// What the outside world provides.
pub struct Wiring {
    /// Connections whose `search_path` is `journal, read, reference`, migrated.
    pub pool: PgPool,
    /// Time and randomness.
    pub sources: Sources,
    /// The clock in `sources`: never behind the log, and the sandbox may move it.
    pub clock: Arc<BankClock>,
    /// What the master key opens.
    pub secrets: Secrets,
    /// Who vouches for devices; the bank itself when nobody else does.
    pub devices: Option<Devices>,
}

/// Why the server did not start.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum StartError {
    #[error("the journal cannot be opened: {0}")]
    Journal(#[from] StoreError),
    #[error("the default products cannot be defined: {0}")]
    Products(#[from] CommandError),
    #[error("the reference data: {0}")]
    Reference(#[from] &'static EmbeddedError),
    #[error(transparent)]
    Passwords(#[from] HashingFailed),
    #[error(transparent)]
    Tokens(#[from] BadKey),
    #[error(transparent)]
    Authority(#[from] PkiError),
    #[error(transparent)]
    Anchor(#[from] NoAuthority),
    #[error(transparent)]
    Mailer(#[from] MailerError),
    #[error(transparent)]
    Gateway(#[from] GatewayError),
    #[error("audit.origin: {0}")]
    Origin(#[from] BadOrigin),
    #[error(transparent)]
    Sealer(#[from] NoClient),
    #[error(
        "an import of {0} is not finished: the accounts that it opened do not hold what they should; run `bursar import` on the \
         same directory again"
    )]
    UnfinishedImport(String),
    #[error(transparent)]
    Webhooks(#[from] webhooks::NoClient),
    #[error("files: {0}")]
    Files(#[from] UnusableStore),
    #[error("metrics: {0}")]
    Metrics(#[from] metrics_exporter_prometheus::BuildError),
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl App {
    /// Opens the journal, starts the projections, defines the default products.
    ///
    /// # Errors
    /// [`StartError`].
    pub async fn build(config: Config, wiring: Wiring) -> Result<Self, StartError> {
        let Wiring { pool, sources, clock, secrets: Secrets { keys, vault }, devices } = wiring;
        let lookup = embedded()?;
        if let Some(unfinished) = imported::unfinished(&pool).await? {
            return Err(StartError::UnfinishedImport(unfinished));
        }
        let options = JournalOptions {
            queue: config.journal.queue,
            batch_units: config.journal.batch,
            store_patience: Duration::from_secs(config.journal.store_patience_seconds),
            keep_keys_days: config.journal.keep_keys_days.into(),
            ..JournalOptions::default()
        };
        let journal = Journal::open(pool.clone(), sources.clone(), Arc::clone(&vault), options).await?;
        journal.observe(Arc::clone(&clock) as Arc<dyn Observer>);
        let written = Arc::new(Written::default());
        journal.observe(Arc::clone(&written) as Arc<dyn Observer>);
        let projections = Projections::start(pool.clone(), vault.codec(), journal.head());
        products::ensure_defaults(&journal).await?;
        loan_products::ensure_defaults(&journal).await?;
        let issuer = (&config.auth.issuer, &config.auth.audience);
        let tokens = AccessTokens::new(&keys.token_seed, issuer.0, issuer.1, config.auth.access_seconds)?;
        let sandbox = config.sandbox.then(|| Arc::new(Sandbox::new(clock)));
        let rails = rails(&config);
        let messenger = outside::messenger(&config, sandbox.as_ref())?;
        let policies = outside::policies(&config.codes, &config.devices);
        let verifier = Verifier::new(journal.clone(), Arc::clone(&keys), policies);
        let (store, files) = outside::files(&config)?;
        order(&journal).await?;
        interest::order(&journal).await?;
        let day_ends: Arc<dyn DayEnds> = Arc::new(ReadDayEnds::new(pool.clone(), projections.freshness()));
        let others: [Box<dyn Task>; 3] = [
            Box::new(SweepFiles::new(journal.clone(), store)),
            Box::new(ExecuteMandates::new(journal.clone(), &lookup.reference)),
            Box::new(PostInterest::new(journal.clone(), Arc::clone(&day_ends))),
        ];
        let second = SecondFactors::new(journal.clone(), Arc::clone(&keys), verifier.clone());
        let factors = Factors { second, on_new_device: config.auth.mfa_on_new_device };
        let authority = Authority::open(&pool, &keys, sources.clone()).await?;
        let processes = processes(&config, &journal, &keys, &rails, &messenger, &verifier, others);
        let (stop, stopped) = watch::channel(false);
        let shared = Shared { pool: pool.clone(), keys: keys.counters(), clock: Arc::clone(&sources.clock) };
        let limits = RateLimits::new(&config.limits, Instant::now(), shared.clone());
        let name = uuid_v7(&sources).as_simple().to_string();
        let signer = Arc::new(Signer::new(&config.audit.origin, &keys.checkpoint_seed)?);
        monitor::heed(&journal, &pool).await?;
        let mut working = vec![processes.start(stopped.clone()), limits.start(name, stopped.clone())];
        if config.audit.monitor_millis > 0 {
            let every = Duration::from_millis(config.audit.monitor_millis);
            working.push(Monitor::new(journal.clone(), pool.clone()).start(every, stopped.clone()));
        }
        if config.audit.seal_millis > 0 {
            let every = Duration::from_millis(config.audit.seal_millis);
            let outside = outside::checkpoints(&config);
            let sealer = Sealer::new(pool.clone(), Arc::clone(&signer), sources.clock, outside)?;
            working.push(sealer.start(journal.head(), every, stopped.clone()));
        }
        let room = (config.limits.streams, config.limits.streams_per_caller);
        let streams = Streams::new(journal.clone(), pool.clone(), projections.freshness(), room);
        working.push(streams.start());
        let webhooks =
            Deliverer::new(journal.clone(), pool.clone(), Arc::clone(&keys), outside::webhooks(&config))?;
        if config.webhooks.deliver {
            working.push(webhooks.start(stopped));
        }
        Ok(Self(Arc::new(Parts {
            auth: Auth::new(tokens, journal.clone(), config.auth.remembered_tokens),
            passwords: Passwords::new(&keys, sources.entropy)?,
            devices: devices.map_or_else(|| own_devices(&journal, &authority), Ok)?,
            authority,
            verifier,
            factors,
            guard: LoginGuard::new(shared),
            limits,
            written,
            reference: &lookup.reference,
            places: &lookup.places,
            choices: &lookup.choices,
            freshness: projections.freshness(),
            sandbox,
            rails,
            files,
            reader: Arc::new(MrzReader),
            registry: outside::registry(&config),
            day_ends,
            processes,
            streams,
            webhooks,
            signer,
            working: Mutex::new(Some((stop, working))),
            metrics: metrics::install()?,
            rebuilds: Rebuilds::new(vault.codec()),
            projections: Mutex::new(Some(projections)),
            config,
            pool,
            journal,
            keys,
        })))
    }

    /// Waits until `models` contain what the caller wrote last, and what the request asks for.
    ///
    /// # Errors
    /// 503, when they are not there in time.
    pub async fn fresh(&self, caller: &Caller, wants: &Conditions, models: &[&str]) -> Result<(), Problem> {
        let position = self.written.last(caller.user()).max(wants.min_position);
        self.reached(position, models).await?;
        match self.freshness.parked(models, &caller.user().to_string()) {
            None => Ok(()),
            Some(position) => {
                tracing::warn!(position, "a reader is refused what is parked");
                Err(Problem::unavailable("something of yours cannot be read at the moment", 60))
            }
        }
    }

    /// Waits until `models` contain everything that has been written by now, whoever wrote it.
    ///
    /// # Errors
    /// 503, when they are not there in time.
    pub async fn caught_up(&self, models: &[&str]) -> Result<(), Problem> {
        let head = *self.journal.head().borrow();
        self.reached(head, models).await
    }

    async fn reached(&self, position: Position, models: &[&str]) -> Result<(), Problem> {
        let patience = Duration::from_millis(self.config.projections.wait_millis);
        self.freshness.wait(models, position, patience).await.map_err(|lagging| {
            tracing::warn!(%lagging, "a reader waited in vain");
            Problem::unavailable("what was written is not readable yet", 1)
        })
    }

    /// How far each read model is; none once they are stopped.
    #[must_use]
    pub fn models(&self) -> Vec<ModelStatus> {
        let projections = self.projections.lock().unwrap_or_else(PoisonError::into_inner);
        projections.as_ref().map(Projections::status).unwrap_or_default()
    }

    /// Whether a request without a caller may be made at all.
    ///
    /// # Errors
    /// 401, when `auth.require_client_token` is on and the token is not the client's.
    pub fn admit_client(&self, headers: &axum::http::HeaderMap) -> Result<(), Problem> {
        if !self.config.auth.require_client_token {
            return Ok(());
        }
        let wanted = self.config.auth.client_token.as_ref().map(Secret::expose).unwrap_or_default();
        let given = crate::auth::bearer(headers).unwrap_or_default();
        // Equal time for every wrong token; the loader refuses a configuration without one.
        aws_lc_rs::constant_time::verify_slices_are_equal(given.as_bytes(), wanted.as_bytes())
            .map_err(|_| Problem::unauthenticated())
    }

    /// How long sessions live.
    #[must_use]
    pub fn lifetimes(&self) -> Lifetimes {
        let auth = &self.config.auth;
        Lifetimes {
            refresh: auth.refresh_seconds,
            remembered: auth.remembered_seconds,
            absolute: auth.absolute_seconds,
            pending: auth.mfa_seconds,
        }
    }

    /// Writes what is queued and stops.
    pub async fn close(&self) {
        self.rebuilds.close().await;
        let working = self.working.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.streams.close();
        if let Some((stop, working)) = working {
            stop.send_replace(true);
            for task in working {
                if task.await.is_err() {
                    tracing::error!("the processes did not stop cleanly");
                }
            }
        }
        self.journal.close().await;
        let projections = self.projections.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(projections) = projections {
            projections.stop().await;
        }
    }
}

/// The devices that the bank itself has certified, and no others.
fn own_devices(journal: &Journal, authority: &Authority) -> Result<Devices, NoAuthority> {
    let anchor = TrustAnchor::parse(authority.issuing())?;
    Ok(Devices { certificates: Arc::new(Issued::new(journal.clone())), anchor })
}

/// The rail of a test bank. A bank of its own has none yet, and says so to whoever wants to pay by it.
fn rails(config: &Config) -> Rails {
    let delay = SignedDuration::from_secs(config.rails.sandbox_delay_seconds.into());
    config.sandbox.then(|| Arc::new(SandboxRail::new(delay)) as Arc<dyn Rail>)
}

fn processes(
    config: &Config,
    journal: &Journal,
    keys: &Arc<Keys>,
    rails: &Rails,
    messenger: &Arc<dyn Messenger>,
    verifier: &Verifier,
    others: [Box<dyn Task>; 3],
) -> Processes {
    let mut tasks: Vec<Box<dyn Task>> = vec![
        Box::new(ExecuteRecurrences::new(journal.clone())),
        Box::new(EndBlocks::new(journal.clone())),
        Box::new(WatchSilence::new(journal.clone(), config.accounts.dormant_after_days)),
        Box::new(SendStatements::new(journal.clone())),
        Box::new(CollectLoans::new(journal.clone())),
        Box::new(ExpireApprovals::new(journal.clone())),
        Box::new(FinishRotations::new(journal.clone())),
        Box::new(MakeContributions::new(journal.clone())),
        Box::new(MaturePlans::new(journal.clone())),
        Box::new(DeliverMessages::new(journal.clone(), Arc::clone(messenger))),
        Box::new(SendReset::new(journal.clone(), verifier.clone())),
    ];
    tasks.extend(others);
    // Without a rail, payments on their way wait for a server that has one.
    if let Some(rail) = rails {
        tasks.push(Box::new(ClearPayments::new(journal.clone(), Arc::clone(rail))));
    }
    for &purpose in Purpose::ALL {
        let (journal, keys, messenger) = (journal.clone(), Arc::clone(keys), Arc::clone(messenger));
        let link = match purpose {
            Purpose::PasswordReset => config.messages.reset_link.clone(),
            Purpose::Email => config.messages.email_link.clone(),
            Purpose::Identity
            | Purpose::Phone
            | Purpose::SecondFactor
            | Purpose::PinReset
            | Purpose::DeviceTransfer => None,
        };
        tasks.push(Box::new(SendCodes::new(purpose, journal, keys, messenger, link)));
    }
    Processes::new(journal.clone(), tasks)
}

/// Serves `app` until `stop` is ready, lets open requests finish, and closes the app.
pub async fn serve(app: App, listener: TcpListener, stop: impl Future<Output = ()> + Send + 'static) {
    // Small answers must not wait for the client's acknowledgement (Nagle).
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY");
        }
    });
    let router = router::router(app.clone());
    let (stopping, stopped) = tokio::sync::oneshot::channel();
    let streams = app.streams.clone();
    let stop = async move {
        stop.await;
        // They have no end of their own, and nobody is to wait for them.
        streams.close();
        // The receiver lives as long as the server.
        let _ = stopping.send(());
    };
    let header_patience = Duration::from_secs(app.config.server.header_seconds);
    let patience = Duration::from_secs(app.config.server.shutdown_seconds);
    tokio::select! {
        () = connections::serve(listener, router, header_patience, stop) => {}
        () = async { if stopped.await.is_ok() { tokio::time::sleep(patience).await } else { std::future::pending().await } } => {
            tracing::warn!("some requests did not finish in time");
        }
    }
    app.close().await;
}
