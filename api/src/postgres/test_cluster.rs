//! One Postgres for all test processes, and a database of its own for every test.
//!
//! `cargo test` runs many processes, one after another and at once. The first one starts a cluster, the others find
//! it; it ends itself five minutes after the last of them. A test's database is a copy of a template that has all
//! migrations, which costs about 10 ms.

use std::env;
use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sqlx::{Connection, PgConnection};

use super::cluster::Cluster;
use super::embedded::Options;
use super::layout::{Layout, socket_url};
use super::supervisor::Leash;
use super::user::our_uid;
use super::{PostgresError, fingerprint, process};

/// The cluster ends itself this long after the last heartbeat.
const MINUTES: u32 = 5;
const HEARTBEAT: Duration = Duration::from_secs(20);

/// A database of a dead test process is dropped by others when it is this old.
const LEFTOVER_AGE: u64 = 10 * 60;

/// A cluster lives in memory when there is this much of it, in KiB.
const ROOMY: u64 = 1 << 20;

/// Databases of tests are named `bursar_test_<seconds>_<process>_<n>`.
const TEST_PREFIX: &str = "bursar_test_";

/// The server that tests use: `TEST_DATABASE_URL` when set, else a cluster of ours.
#[derive(Debug, Clone)]
pub struct TestCluster {
    server: Server,
}

#[derive(Debug, Clone)]
enum Server {
    Named { url: String },
    Ours { socket_dir: PathBuf },
}

impl TestCluster {
    /// The cluster of all test processes, started if need be. Cheap after the first call in a process.
    pub fn shared() -> Result<TestCluster, PostgresError> {
        static SHARED: Mutex<Option<TestCluster>> = Mutex::new(None);
        // Held while starting: the other tests of this process need the same answer.
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cluster) = &*shared {
            return Ok(cluster.clone());
        }
        let cluster = match env::var("TEST_DATABASE_URL") {
            Ok(url) if !url.is_empty() => TestCluster { server: Server::Named { url } },
            _ => TestCluster { server: Server::Ours { socket_dir: join_or_start(&base_dir()?)? } },
        };
        Ok(shared.insert(cluster).clone())
    }

    /// The URL of a database on this server.
    pub fn url(&self, database: &str) -> String {
        match &self.server {
            Server::Named { url } => with_database(url, database),
            Server::Ours { socket_dir } => socket_url(socket_dir, database),
        }
    }

    /// A connection that may create and drop databases.
    async fn administer(&self) -> Result<PgConnection, PostgresError> {
        let url = match &self.server {
            Server::Named { url } => url.clone(),
            Server::Ours { .. } => self.url("postgres"),
        };
        Ok(PgConnection::connect(&url).await?)
    }
}

/// Puts another database into a server's URL.
fn with_database(url: &str, database: &str) -> String {
    let (address, query) = url.split_once('?').map_or((url, None), |(address, query)| (address, Some(query)));
    let host = address.find("://").map_or(0, |at| at + 3);
    let end = address[host..].find('/').map_or(address.len(), |at| host + at);
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    format!("{}/{database}{query}", &address[..end])
}

/// Where clusters of this user's tests live: in memory if there is room, else in cargo's target directory.
fn base_dir() -> Result<PathBuf, PostgresError> {
    let uid = our_uid().unwrap_or(u32::MAX);
    let name = format!("bursar-tests-{uid}");
    let exe = env::current_exe().unwrap_or_default();
    // cargo marks its target directory, whatever its name.
    let target = exe.ancestors().find(|dir| dir.join("CACHEDIR.TAG").exists());
    let parent = roomy_memory().or(target).unwrap_or(Path::new("/tmp"));
    let base = parent.join(name);
    let mode = if uid == 0 { 0o711 } else { 0o700 };
    let made = DirBuilder::new().recursive(true).mode(mode).create(&base);
    made.map_err(PostgresError::io("create the directory", &base))?;
    match fs::symlink_metadata(&base) {
        Ok(meta) if meta.is_dir() && meta.uid() == uid => Ok(base),
        _ => Err(PostgresError::NotOurs { path: base }),
    }
}

/// The file system in memory, when there is one with room for a cluster; containers often have a tiny one.
pub(super) fn roomy_memory() -> Option<&'static Path> {
    let memory = Path::new("/dev/shm");
    (free_kib(memory) >= ROOMY).then_some(memory)
}

/// `std` does not tell the free space of a file system; `df -Pk` does everywhere, in its fourth column.
fn free_kib(dir: &Path) -> u64 {
    let output = Command::new("df").arg("-Pk").arg(dir).stdin(Stdio::null()).stderr(Stdio::null()).output();
    let table = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let free = table.lines().nth(1).and_then(|line| line.split_whitespace().nth(3)?.parse().ok());
    free.unwrap_or(0)
}

/// Joins the running cluster below `base`, or starts one; answers its socket directory. Each cluster has a directory
/// of its own, so that an ending one, which clears its own away, never meets a beginning one.
fn join_or_start(base: &Path) -> Result<PathBuf, PostgresError> {
    let lock_file = base.join("lock");
    let lock = File::create(&lock_file).map_err(PostgresError::io("open", &lock_file))?;
    lock.lock().map_err(PostgresError::io("lock", &lock_file))?;

    let entries = fs::read_dir(base).map_err(PostgresError::io("read", base))?;
    let old = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir());
    for dir in old {
        let Ok(layout) = Layout::existing(&dir) else { continue };
        let heartbeat = dir.join("heartbeat");
        // Touched first: from then on it lives long enough to be used, or it is ending and has no such file.
        if touch(&heartbeat)
            && let Some(socket_dir) = process::live_socket_dir(&layout)
        {
            keep_touching(heartbeat);
            return Ok(socket_dir);
        }
        process::settle(&layout, Duration::from_secs(30))?;
        // Its own watcher may be clearing it at this moment; what is left is tried again next time.
        let _ = fs::remove_dir_all(&dir);
    }
    let dir = base.join(format!("{}-{}", seconds_now(), std::process::id()));
    let layout = Layout::create(&dir)?;
    let heartbeat = layout.root.join("heartbeat");
    File::create(&heartbeat).map_err(PostgresError::io("create", &heartbeat))?;
    let leash = Leash::Heartbeat { file: heartbeat.clone(), minutes: MINUTES };
    let cluster = Cluster::prepare(layout, &Options::throwaway(&dir), leash)?;
    for mine in [&cluster.layout.root, &heartbeat] {
        cluster.hand_over(mine)?; // the watcher renames the one and clears the other
    }
    // The child is let go: it outlives us, and the watcher ends it.
    let _server = cluster.launch()?;
    keep_touching(heartbeat);
    drop(lock);
    Ok(cluster.layout.socket_dir)
}

fn seconds_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Without creating it: a missing heartbeat means that the cluster ends.
fn touch(heartbeat: &Path) -> bool {
    let file = File::options().write(true).open(heartbeat);
    file.and_then(|file| file.set_modified(SystemTime::now())).is_ok()
}

/// Keeps the cluster while this process lives, however long its tests take.
fn keep_touching(heartbeat: PathBuf) {
    let beat = move || {
        while touch(&heartbeat) {
            thread::sleep(HEARTBEAT);
        }
    };
    if let Err(error) = thread::Builder::new().name("test-cluster-heartbeat".to_owned()).spawn(beat) {
        tracing::warn!(%error, "no heartbeat: the test cluster may end early");
    }
}

/// A database of one test. Dropped with [`TestDatabase::drop_now`], or by the next test when it is just let go.
#[derive(Debug)]
pub struct TestDatabase {
    /// For sqlx.
    pub url: String,
    /// Its name on the server.
    pub name: String,
    cluster: TestCluster,
}

/// Names of databases that were let go in this process. A destructor cannot wait for a server.
static LET_GO: Mutex<Vec<String>> = Mutex::new(Vec::new());

impl TestDatabase {
    /// Drops the database. Close its pools first: an open session costs a tenth of a second.
    pub async fn drop_now(mut self) -> Result<(), PostgresError> {
        let name = std::mem::take(&mut self.name);
        let mut admin = self.cluster.administer().await?;
        drop_database(&mut admin, &name).await?;
        Ok(admin.close().await?)
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        if !self.name.is_empty() {
            let name = std::mem::take(&mut self.name);
            LET_GO.lock().unwrap_or_else(PoisonError::into_inner).push(name);
        }
    }
}

/// A new database that is a copy of the template for `template_key` (all migrations, concatenated). `build` fills the
/// template, given its URL, once for all processes; it must close its connections before it returns.
pub async fn fresh_database(
    template_key: &str,
    build: impl AsyncFnOnce(&str) -> Result<(), sqlx::Error>,
) -> Result<TestDatabase, PostgresError> {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let starting = tokio::task::spawn_blocking(TestCluster::shared).await;
    let cluster = starting.map_err(|e| sqlx::Error::Io(std::io::Error::other(e)))??;
    let mut admin = cluster.administer().await?;
    let counter = COUNTER.fetch_add(1, Ordering::Relaxed);
    drop_leftovers(&mut admin, counter == 0).await?;
    let template = template(&cluster, &mut admin, template_key, build).await?;
    let name = format!("{TEST_PREFIX}{}_{}_{counter}", seconds_now(), std::process::id());
    // Copying files needs two checkpoints, which cost nothing here; the default writes every page to the log.
    let create = format!("CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy");
    sqlx::query(&create).execute(&mut admin).await?;
    admin.close().await?;
    Ok(TestDatabase { url: cluster.url(&name), name, cluster })
}

async fn drop_database(admin: &mut PgConnection, name: &str) -> Result<(), sqlx::Error> {
    let drop = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
    sqlx::query(&drop).execute(admin).await.map(|_| ())
}

/// Drops what tests of this process let go, and, once, what processes left that died long ago.
async fn drop_leftovers(admin: &mut PgConnection, first: bool) -> Result<(), sqlx::Error> {
    let let_go = std::mem::take(&mut *LET_GO.lock().unwrap_or_else(PoisonError::into_inner));
    for name in let_go {
        drop_database(admin, &name).await?;
    }
    if first {
        let sql = "SELECT datname::text FROM pg_database WHERE starts_with(datname, $1)";
        let names: Vec<String> = sqlx::query_scalar(sql).bind(TEST_PREFIX).fetch_all(&mut *admin).await?;
        for name in names.iter().filter(|name| is_leftover(name)) {
            // Without FORCE, and whether it works or not: a machine far away may still use it.
            let _ = sqlx::query(&format!("DROP DATABASE IF EXISTS {name}")).execute(&mut *admin).await;
        }
    }
    Ok(())
}

fn is_leftover(name: &str) -> bool {
    let mut parts = name.trim_start_matches(TEST_PREFIX).split('_');
    let seconds = parts.next().and_then(|part| part.parse::<u64>().ok());
    let pid = parts.next().and_then(|part| part.parse().ok());
    let (Some(seconds), Some(pid)) = (seconds, pid) else { return false };
    seconds + LEFTOVER_AGE < seconds_now() && !process::lives(pid)
}

/// The name of the complete template, built by whoever comes first; the others wait for its advisory lock.
async fn template(
    cluster: &TestCluster,
    admin: &mut PgConnection,
    key: &str,
    build: impl AsyncFnOnce(&str) -> Result<(), sqlx::Error>,
) -> Result<String, PostgresError> {
    let hash = fingerprint(key);
    let name = format!("bursar_template_{hash:016x}");
    if exists(admin, &name).await? {
        return Ok(name);
    }
    let lock = i64::from_ne_bytes(hash.to_ne_bytes());
    // Given back with the connection when we fail below.
    sqlx::query("SELECT pg_advisory_lock($1)").bind(lock).execute(&mut *admin).await?;
    if !exists(admin, &name).await? {
        let unfinished = format!("{name}_unfinished");
        drop_database(admin, &unfinished).await?;
        sqlx::query(&format!("CREATE DATABASE {unfinished}")).execute(&mut *admin).await?;
        build(&cluster.url(&unfinished)).await?;
        finish(admin, &unfinished, &name).await?;
    }
    sqlx::query("SELECT pg_advisory_unlock($1)").bind(lock).execute(&mut *admin).await?;
    Ok(name)
}

async fn exists(admin: &mut PgConnection, name: &str) -> Result<bool, sqlx::Error> {
    let sql = "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)";
    sqlx::query_scalar(sql).bind(name).fetch_one(admin).await
}

/// Gives the template its name, which is what makes it complete. A session that is still closing is waited for.
async fn finish(admin: &mut PgConnection, unfinished: &str, name: &str) -> Result<(), sqlx::Error> {
    let close = format!("ALTER DATABASE {unfinished} WITH ALLOW_CONNECTIONS false");
    sqlx::query(&close).execute(&mut *admin).await?;
    let rename = format!("ALTER DATABASE {unfinished} RENAME TO {name}");
    let mut attempts = 0;
    loop {
        let result = sqlx::query(&rename).execute(&mut *admin).await;
        let in_use =
            |e: &sqlx::Error| e.as_database_error().is_some_and(|e| e.code().as_deref() == Some("55006"));
        match result {
            Err(e) if in_use(&e) && attempts < 20 => attempts += 1,
            other => return other.map(|_| ()),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
