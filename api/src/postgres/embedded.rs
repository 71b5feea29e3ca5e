//! The server of one process: started by it, restarted when it crashes, stopped with it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::cluster::Cluster;
use super::layout::{Layout, socket_url};
use super::supervisor::Leash;
use super::{PostgresError, process};

/// How often the server is looked at; and, doubling up to [`LONGEST_PAUSE`], when a server that keeps dying is tried
/// again. It is never given up: a full disk is emptied one day.
const WATCH: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// A stop writes everything out first; beyond this it is cut short, and the next start recovers.
const STOP_PATIENCE: Duration = Duration::from_secs(60);

/// The owner of a directory may be creating or recovering its database.
const ATTACH_PATIENCE: Duration = Duration::from_secs(15);

/// What to run, and where.
#[derive(Debug, Clone)]
pub struct Options {
    /// Holds everything: `postgres/` (the data), `postgres-socket/`, `postgres.log`, `postgres.lock`.
    pub data_dir: PathBuf,
    /// Created on the first start.
    pub database: String,
    /// `false`: no fsync at all, for tests that will throw the data away.
    pub durable: bool,
    /// Postgres's limit of the same name.
    pub max_connections: u16,
    /// Start the server again when it dies under us. Tests that kill it may want to look at it dead.
    pub restart_on_crash: bool,
    /// More settings, `("synchronous_commit", "off")`; they win over ours.
    pub settings: Vec<(String, String)>,
}

impl Options {
    /// A server fit for money: everything synced before it is acknowledged.
    pub fn new(data_dir: impl Into<PathBuf>) -> Options {
        Options {
            data_dir: data_dir.into(),
            database: "bursar".to_owned(),
            durable: true,
            max_connections: 100,
            restart_on_crash: true,
            settings: Vec::new(),
        }
    }

    /// A server that forgets: for tests.
    pub fn throwaway(data_dir: impl Into<PathBuf>) -> Options {
        Options { durable: false, max_connections: 400, restart_on_crash: false, ..Options::new(data_dir) }
    }
}

/// A running private Postgres. It ends with this value, and with this process, however that ends.
#[derive(Debug)]
pub struct EmbeddedPostgres {
    cluster: Arc<Cluster>,
    server: Arc<Mutex<Server>>,
    /// Dropping the sender ends the thread that watches over the server.
    keeper: Option<(mpsc::Sender<()>, JoinHandle<()>)>,
    /// Last, so that it is given back when nothing runs any more.
    _lock: File,
}

/// The postmaster; its standard input is the pipe the watcher reads, see [`Leash::Pipe`].
#[derive(Debug)]
struct Server {
    child: Child,
    since: Instant,
}

impl EmbeddedPostgres {
    /// Starts Postgres on `options.data_dir`, creating what is missing and recovering what crashed. Blocks: half a
    /// second on the first start, a few hundredths later, longer after a crash under load.
    pub fn start(options: Options) -> Result<EmbeddedPostgres, PostgresError> {
        let layout = Layout::create(&options.data_dir)?;
        let lock = layout.take()?;
        let cluster = Arc::new(Cluster::prepare(layout, &options, Leash::Pipe)?);
        let server = Server { child: cluster.launch()?, since: Instant::now() };
        tracing::info!(pid = server.child.id(), data = %cluster.layout.data.display(), "Postgres runs");
        let server = Arc::new(Mutex::new(server));
        let keeper = if options.restart_on_crash { Some(keep(&cluster, &server)?) } else { None };
        Ok(EmbeddedPostgres { cluster, server, keeper, _lock: lock })
    }

    /// The URL of `database` on a server that another process of ours runs on `data_dir` right now; waits a little for
    /// one that is just starting. `None`: there is none, start it.
    pub fn attach(data_dir: &Path, database: &str) -> Option<String> {
        let layout = Layout::existing(data_dir).ok()?;
        let patience = Instant::now() + ATTACH_PATIENCE;
        // A server whose owner was killed may answer for another moment: it is not one to rely on.
        while layout.has_owner() {
            if let Some(dir) = process::live_socket_dir(&layout) {
                return Some(socket_url(&dir, database));
            }
            if Instant::now() > patience {
                break;
            }
            thread::sleep(Duration::from_millis(20));
        }
        None
    }

    /// A URL for sqlx, through the Unix socket.
    pub fn url(&self, database: &str) -> String {
        self.cluster.layout.url(database)
    }

    /// The process id of the postmaster, for tests that kill it. It changes when the server is restarted.
    pub fn pid(&self) -> u32 {
        locked(&self.server).child.id()
    }

    /// Kills the postmaster and all its children at once, as a power cut would. For tests.
    pub fn kill_everything(&self) {
        let pid = self.pid();
        let children = process::children(pid);
        process::send(pid, "KILL");
        children.into_iter().for_each(|child| process::send(child, "KILL"));
    }

    /// Stops gracefully: sessions are ended, everything is written out, so that the next start needs no recovery.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for EmbeddedPostgres {
    fn drop(&mut self) {
        if let Some((told, thread)) = self.keeper.take() {
            drop(told);
            // A panic in there is printed by its hook; here is nothing left to save.
            let _ = thread.join();
        }
        let mut server = locked(&self.server);
        let pid = server.child.id();
        drop(server.child.stdin.take()); // the watcher sends SIGINT
        for (signal, patience) in
            [("INT", STOP_PATIENCE), ("QUIT", Duration::from_secs(5)), ("KILL", STOP_PATIENCE)]
        {
            if ended_within(&mut server.child, Duration::ZERO) {
                break;
            }
            // Also when the watcher should have done it: it may have been killed.
            process::send(pid, signal);
            if ended_within(&mut server.child, patience) {
                break;
            }
            tracing::warn!(pid, signal, "Postgres does not stop");
        }
        self.cluster.layout.remove_socket_dir();
        tracing::info!(pid, "Postgres stopped");
    }
}

/// Whether the child is gone, reaped, within this time.
fn ended_within(child: &mut Child, patience: Duration) -> bool {
    let stop = Instant::now() + patience;
    loop {
        // An error means there is no such child any more.
        match child.try_wait() {
            Ok(None) if Instant::now() < stop => thread::sleep(Duration::from_millis(2)),
            Ok(None) => return false,
            Ok(Some(_)) | Err(_) => return true,
        }
    }
}

/// Nothing in here leaves the server half changed, so a panic elsewhere is no reason to give it up.
fn locked(server: &Mutex<Server>) -> MutexGuard<'_, Server> {
    server.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the thread that brings the server back after a crash (the kernel killing it for memory, mostly): clients
/// see errors for a moment instead of for ever.
fn keep(
    cluster: &Arc<Cluster>,
    server: &Arc<Mutex<Server>>,
) -> Result<(mpsc::Sender<()>, JoinHandle<()>), PostgresError> {
    let (told, asked) = mpsc::channel();
    let (cluster, server) = (Arc::clone(cluster), Arc::clone(server));
    let root = cluster.layout.root.clone();
    let watch = move || {
        let mut pause = WATCH;
        while asked.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
            let mut server = locked(&server);
            let Ok(Some(status)) = server.child.try_wait() else { continue };
            tracing::error!(%status, "Postgres died: starting it again");
            pause =
                if server.since.elapsed() > LONGEST_PAUSE { WATCH } else { (pause * 2).min(LONGEST_PAUSE) };
            server.since = Instant::now();
            match cluster.launch() {
                Ok(child) => server.child = child,
                Err(error) => tracing::error!(%error, "Postgres cannot be started again"),
            }
        }
    };
    let thread = thread::Builder::new().name("postgres-keeper".to_owned()).spawn(watch);
    Ok((told, thread.map_err(PostgresError::io("start a thread for", &root))?))
}
