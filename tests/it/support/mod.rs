//! A bank for one test: the real server on a real Postgres, with the demo's people in it.

pub mod browser;
pub mod chance;
pub mod client;
pub mod devices;
pub mod forge;
pub mod inside;
pub mod invariants;
pub mod leaving;
pub mod payer;
pub mod process;
pub mod proxy;
pub mod secrets;
pub mod totp;

use std::net::SocketAddr;
use std::sync::Arc;

use bursar_api::app::{self, App, Wiring};
use bursar_api::config::Config;
use bursar_api::database;
use bursar_api::demo;
use bursar_api::postgres::{TestDatabase, fresh_database};
use bursar_api::sources::{self, BankClock};
use bursar_commands::keys::MasterKey;
use bursar_commands::vault::unlock;
use bursar_commands::{Context, Unit, users};
use bursar_domain::codec::Codec;
use bursar_domain::kernel::{Permission, SessionId, UserId};
use bursar_domain::sessions::{Issued, SessionCommand, Started};
use bursar_domain::users::{RegisterUser, User};
use bursar_projections::{Log, RebuildError, Report};
use jiff::SignedDuration;
use sqlx::PgPool;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub use client::Client;

/// The key of every test bank, so that a copied database opens with it.
pub const MASTER_KEY: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// A running bank. Ada, Bola and Chidi each have a current account with 375,000.00 NGN and a savings account.
pub struct Bank {
    pub address: SocketAddr,
    pub app: App,
    pub clock: Arc<BankClock>,
    pub pool: PgPool,
    database: TestDatabase,
    stop: oneshot::Sender<()>,
    server: JoinHandle<()>,
}

/// Somebody who is logged in.
#[derive(Clone)]
pub struct Person {
    pub client: Client,
    /// Account numbers; staff have none.
    pub current: String,
    pub savings: String,
}

impl Bank {
    /// The sandbox bank with rate limits off.
    pub async fn open() -> Self {
        Self::configured(config()).await
    }

    /// A bank of the given configuration.
    pub async fn configured(config: Config) -> Self {
        let database = people_database().await;
        Self::on(database, config).await
    }

    /// The sandbox bank, and the power to break its way to the database. The test's own questions go straight.
    pub async fn behind_a_proxy() -> (Self, Arc<proxy::Faults>) {
        let database = people_database().await;
        let (through, faults) = proxy::in_front_of(&database.url).await;
        let straight = pool(&database.url);
        let bank = Self::reached_by(database, pool(&through), quiet()).await;
        (Self { pool: straight, ..bank }, faults)
    }

    /// A bank on a database that another one has left.
    pub async fn on(database: TestDatabase, config: Config) -> Self {
        let pool = pool(&database.url);
        Self::reached_by(database, pool, config).await
    }

    async fn reached_by(database: TestDatabase, pool: PgPool, config: Config) -> Self {
        let (app, clock) = build(pool.clone(), config).await;
        Self::serving(database, pool, app, clock).await
    }

    /// A sandbox bank that admits no devices but those that it certifies itself.
    pub async fn certifying(config: Config) -> Self {
        let database = people_database().await;
        let pool = pool(&database.url);
        let (app, clock) = build_for(pool.clone(), config, None).await;
        Self::serving(database, pool, app, clock).await
    }

    async fn serving(database: TestDatabase, pool: PgPool, app: App, clock: Arc<BankClock>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let server = tokio::spawn(app::serve(app.clone(), listener, async {
            let _ = stopped.await;
        }));
        Self { address, app, clock, pool, database, stop, server }
    }

    /// A second server process on the same database, in all but the process.
    pub async fn second(&self) -> (App, SocketAddr) {
        self.second_configured(config()).await
    }

    /// One that is configured like this.
    pub async fn second_configured(&self, config: Config) -> (App, SocketAddr) {
        let app = build(pool(&self.database.url), config).await.0;
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(app::serve(app.clone(), listener, std::future::pending()));
        (app, address)
    }

    /// A second server without its HTTP, which comes to the database by the way that `url` names.
    pub async fn second_through(&self, url: &str) -> App {
        build(pool(url), config()).await.0
    }

    /// The straight way to the database.
    pub fn url(&self) -> &str {
        &self.database.url
    }

    /// A client without a token.
    pub fn client(&self) -> Client {
        Client::new(self.address)
    }

    /// Logs in one of the demo's people.
    pub async fn person(&self, email: &str) -> Person {
        person_at(self.address, email).await
    }

    pub async fn ada(&self) -> Person {
        self.person("ada@example.com").await
    }

    pub async fn bola(&self) -> Person {
        self.person("bola@example.com").await
    }

    pub async fn teller(&self) -> Person {
        self.person("teller@example.com").await
    }

    pub async fn approver(&self) -> Person {
        self.person("approver@example.com").await
    }

    pub async fn chidi(&self) -> Person {
        self.person("chidi@example.com").await
    }

    /// Lets time pass. Access tokens live a quarter of an hour.
    pub fn advance(&self, by: SignedDuration) {
        self.clock.advance(by);
    }

    /// Who has this email address.
    pub async fn user(&self, email: &str) -> UserId {
        users::by_email(&self.app.journal, &self.app.keys, email).await.unwrap().expect(email)
    }

    /// Registers somebody with the address `name@example.com`, who has no password.
    pub async fn registered(&self, name: &str) -> UserId {
        let somebody = RegisterUser {
            first_name: "Ngozi".to_owned(),
            last_name: "Balogun".to_owned(),
            email: format!("{name}@example.com"),
            phone_number: "+2348030099999".to_owned(),
            date_of_birth: jiff::civil::date(1991, 7, 3),
            country_code: "NG".to_owned(),
            preferred_language: None,
        };
        let (journal, keys) = (&self.app.journal, &self.app.keys);
        let registered = users::register(journal, keys, Context::default(), somebody).await.unwrap();
        registered.events[0].stream.id.parse().unwrap()
    }

    /// Begins a session that may do exactly this.
    pub async fn session(&self, user: UserId, permissions: &[Permission]) -> SessionId {
        let (id, started) = started(self, user, permissions).await;
        let start = SessionCommand::Start(Box::new(started));
        self.app.journal.submit(Unit::new(Context::default()).create(id, start)).await.unwrap();
        id
    }

    /// The access token of a session, signed by the bank so many seconds ago.
    pub fn token(
        &self,
        user: UserId,
        session: SessionId,
        permissions: &[Permission],
        seconds_ago: i64,
    ) -> String {
        let issued_at = self.app.journal.sources().clock.now() - SignedDuration::from_secs(seconds_ago);
        self.app.auth.tokens().sign(user, session, "test", issued_at, permissions).unwrap()
    }

    /// Events that are what somebody wanted: not tries, which are counted before anybody knows what becomes of them, and not
    /// what the bank does by itself.
    pub async fn done(&self) -> i64 {
        let sql = "SELECT count(*) FROM events
                    WHERE event_type NOT LIKE '%tried' AND metadata->>'actor' NOT LIKE 'system:%'";
        sqlx::query_scalar(sql).fetch_one(&self.pool).await.unwrap()
    }

    /// Events in the log, once what is due is done: the bank's own processes do not come in between.
    pub async fn events(&self) -> i64 {
        // Where the store is away, nothing is done.
        let _ = self.app.processes.run_due().await;
        sqlx::query_scalar("SELECT position FROM head").fetch_one(&self.pool).await.unwrap()
    }

    /// Lets time pass, and what is due by then be done and be readable.
    pub async fn later(&self, seconds: i64) {
        self.advance(SignedDuration::from_secs(seconds));
        self.app.processes.run_due().await.unwrap();
        let (all, patience) = (self.events().await, std::time::Duration::from_secs(10));
        // A model that is out of order has tests of its own.
        let _ = self.app.freshness.wait(&[], all, patience).await;
    }

    /// The balance of one of the bank's own accounts in naira.
    pub async fn internal(&self, role: &str) -> i64 {
        let sql = "SELECT balance FROM ledger_accounts WHERE account = 'bank:' || $1 || ':NGN'";
        let found: Option<i64> = sqlx::query_scalar(sql).bind(role).fetch_optional(&self.pool).await.unwrap();
        found.unwrap_or(0)
    }

    /// Returns when every read model contains everything: a caller's own writes are waited for, those of others are not.
    pub async fn caught_up(&self) {
        let (all, patience) = (self.events().await, std::time::Duration::from_secs(10));
        self.app.freshness.wait(&[], all, patience).await.unwrap();
    }

    /// Events of one type.
    pub async fn events_of(&self, event_type: &str) -> i64 {
        let sql = "SELECT count(*) FROM events WHERE event_type = $1";
        sqlx::query_scalar(sql).bind(event_type).fetch_one(&self.pool).await.unwrap()
    }

    /// Stops the server, checks the bank, and drops its database.
    pub async fn close(self) {
        let (pool, database) = self.stop().await;
        check(&pool).await;
        let files = files_of(&pool);
        pool.close().await;
        database.drop_now().await.unwrap();
        let _ = std::fs::remove_dir_all(files);
    }

    /// Stops the server; what it has written stays.
    pub async fn stop(self) -> (PgPool, TestDatabase) {
        let _ = self.stop.send(());
        self.server.await.unwrap();
        (self.pool, self.database)
    }
}

/// Logs in one of the demo's people at a server.
pub async fn person_at(address: SocketAddr, email: &str) -> Person {
    let client = Client::new(address).login(email).await;
    let accounts = client.get("/v1/accounts?sort=openedAt").await;
    let number = |kind: &str| {
        let all = accounts.body["accounts"].as_array();
        let found = all.and_then(|all| all.iter().find(|account| account["accountType"] == kind));
        found.map(|account| account["accountNumber"].as_str().unwrap().to_owned()).unwrap_or_default()
    };
    Person { current: number("CURRENT"), savings: number("SAVINGS"), client }
}

/// A session that is to begin and may do exactly this.
pub async fn started(bank: &Bank, user: UserId, permissions: &[Permission]) -> (SessionId, Started) {
    let sources = bank.app.journal.sources();
    let (id, now) = (SessionId::mint(sources), sources.clock.now());
    let ends = now + SignedDuration::from_hours(24);
    let (holder, _) = bank.app.journal.load::<User>(&user.to_string()).await.unwrap();
    let started = Started {
        user_id: user,
        device_id: "test-device".to_owned(),
        permissions: permissions.to_vec(),
        first: Issued {
            generation: 0,
            jti: "first".to_owned(),
            refresh_hash: bank.app.keys.refresh_token(id, 0).hash(),
            issued_at: now,
            refresh_expires_at: ends,
        },
        absolute_expires_at: ends,
        refresh_seconds: 24 * 60 * 60,
        epoch: holder.epoch(),
        awaits: None,
    };
    (id, started)
}

/// The same, and nothing happens by itself while a test counts events: payments stay on their way for a day.
pub fn quiet() -> Config {
    let mut config = config();
    config.rails.sandbox_delay_seconds = 24 * 60 * 60;
    // Nobody is logged out meanwhile, however busy the machine is.
    config.auth.access_seconds = 24 * 60 * 60;
    // Everything is tried again and again.
    (config.codes.a_day, config.codes.resend_seconds) = (100_000, 0);
    config
}

/// A sandbox bank with rate limits off.
pub fn config() -> Config {
    let mut config = Config { sandbox: true, ..Config::default() };
    config.limits.enabled = false;
    // Sealing is asked for by the tests that are about it.
    config.audit.seal_millis = 0;
    // So is telling webhooks, who are on this machine.
    (config.webhooks.deliver, config.webhooks.private_addresses) = (false, true);
    config.audit.monitor_millis = 0;
    // Nobody is cut off because the machine is busy.
    config.server.header_seconds = 60 * 60;
    // How many codes a day are sent is asked by the tests that want to know.
    config.codes.a_day = 10_000;
    config.cards.links_a_day = 100;
    config.devices.fresh_login_seconds = 24 * 60 * 60;
    config
}

/// The same, and so many codes a day as the bank sends unless somebody has configured another number.
pub fn thrifty() -> Config {
    Config { codes: Config::default().codes, ..config() }
}

/// The invariants hold.
pub async fn check(pool: &PgPool) {
    invariants::none(&invariants::violations(pool).await);
}

pub fn pool(url: &str) -> PgPool {
    database::pool(url.parse().unwrap(), 16, std::time::Duration::from_secs(5))
}

pub fn master_key() -> MasterKey {
    MasterKey::parse(MASTER_KEY).unwrap()
}

/// Reads the log of a test bank, with keys of its own, as another process would.
pub async fn codec(pool: &PgPool) -> Arc<Codec> {
    let (sources, _) = sources::system();
    unlock(pool, &master_key(), &sources).await.unwrap().vault.codec()
}

/// Builds read models anew, as another process would.
pub async fn rebuild(pool: &PgPool, names: &[&str]) -> Result<Vec<Report>, RebuildError> {
    let (codec, (sources, _)) = (codec(pool).await, sources::system());
    bursar_projections::rebuild(Log { pool, codec: &codec, clock: &*sources.clock }, names, &()).await
}

/// Compares read models with the log, as another process would.
pub async fn verify(pool: &PgPool, names: &[&str]) -> Result<Vec<Report>, RebuildError> {
    let (codec, (sources, _)) = (codec(pool).await, sources::system());
    bursar_projections::verify(Log { pool, codec: &codec, clock: &*sources.clock }, names, &()).await
}

/// Where the files of a test bank are.
pub fn files_of(pool: &PgPool) -> std::path::PathBuf {
    let options = pool.connect_options();
    let name = options.get_database().unwrap_or("bank");
    std::env::temp_dir().join(format!("bursar-files-{}-{name}", std::process::id()))
}

/// A server without its HTTP, and its clock; it admits the tests' devices.
pub async fn build(pool: PgPool, config: Config) -> (App, Arc<BankClock>) {
    build_for(pool, config, Some(devices::devices())).await
}

/// The same, which admits these devices, or those that it certifies itself.
pub async fn build_for(pool: PgPool, config: Config, devices: Option<app::Devices>) -> (App, Arc<BankClock>) {
    let mut config = config;
    // Servers of one bank share its files, and no other bank sweeps them.
    config.files.directory.get_or_insert_with(|| files_of(&pool));
    let (sources, clock) = sources::system();
    let wiring = Wiring {
        secrets: unlock(&pool, &master_key(), &sources).await.unwrap(),
        pool,
        sources,
        clock: Arc::clone(&clock),
        devices,
    };
    (App::build(config, wiring).await.unwrap(), clock)
}

/// A copy of a database with the demo's six people in it, which is made once for all tests.
pub async fn people_database() -> TestDatabase {
    // A new build of the tests may seed differently.
    let built = std::env::current_exe().and_then(std::fs::metadata).and_then(|file| file.modified()).unwrap();
    let key = format!("people {built:?} {}", database::version());
    let template = async |url: &str| {
        database::migrate(&url.parse().unwrap()).await.unwrap();
        let pool = pool(url);
        let mut config = Config { sandbox: true, ..Config::default() };
        (config.audit.seal_millis, config.audit.monitor_millis) = (0, 0);
        let (app, clock) = build(pool.clone(), config).await;
        demo::people(&app, &clock).await.unwrap();
        app.close().await;
        pool.close().await;
        Ok(())
    };
    fresh_database(&key, template).await.unwrap()
}

/// A directory that is gone after the test.
pub struct Scratch(std::path::PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        static COUNT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("bursar-{name}-{}-{count}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }

    pub fn path(&self) -> &std::path::Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nobody needs it, whether it can be removed or not.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
