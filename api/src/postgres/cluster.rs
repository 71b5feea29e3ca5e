//! One data directory made ready: `initdb`, settings, and the steps from "maybe there" to "running".

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use super::embedded::Options;
use super::find::{Installation, Search};
use super::layout::Layout;
use super::supervisor::{self, Leash};
use super::user::RunAs;
use super::{PostgresError, process};

/// How long an orphan may take to finish its last checkpoint.
const ORPHAN_PATIENCE: Duration = Duration::from_secs(60);

/// Everything needed to start the server, again if need be. Whoever has one holds the directory's lock.
#[derive(Debug)]
pub(super) struct Cluster {
    pub(super) layout: Layout,
    postgres: Installation,
    who: RunAs,
    settings: Vec<(String, String)>,
    leash: Leash,
}

impl Cluster {
    /// Finds binaries and a user, stops leftovers, and creates the database on the first start.
    pub(super) fn prepare(layout: Layout, options: &Options, leash: Leash) -> Result<Cluster, PostgresError> {
        let existing = layout.data.join("PG_VERSION").exists().then_some(layout.data.as_path());
        let postgres = Search::from_env().find(existing)?;
        let who = RunAs::choose(&layout, &postgres)?;
        // Root may run on an ordinary user's directory, and must not lock that user out of it afterwards.
        if layout.lock.exists() {
            who.hand_over(&layout.lock).map_err(PostgresError::io("hand over", &layout.lock))?;
        }
        process::settle(&layout, ORPHAN_PATIENCE)?;
        if existing.is_none() {
            create(&layout, &postgres, &who, options)?;
        }
        let settings = settings(&layout, &postgres, &who, options);
        tracing::debug!(?postgres, ?who, data = %layout.data.display(), "Postgres found");
        Ok(Cluster { layout, postgres, who, settings, leash })
    }

    /// Starts the server and waits until it takes connections. Also after a crash: what lives on the directory is
    /// stopped first.
    pub(super) fn launch(&self) -> Result<Child, PostgresError> {
        process::settle(&self.layout, ORPHAN_PATIENCE)?;
        supervisor::launch(&self.layout, &self.postgres, &self.who, &self.settings, &self.leash)
    }

    /// Gives a file of ours to the user Postgres runs as.
    pub(super) fn hand_over(&self, path: &Path) -> Result<(), PostgresError> {
        self.who.hand_over(path).map_err(PostgresError::io("hand over", path))
    }
}

/// `initdb` and `CREATE DATABASE` beside the final place, then a rename: the data directory is complete or absent.
fn create(
    layout: &Layout,
    postgres: &Installation,
    who: &RunAs,
    options: &Options,
) -> Result<(), PostgresError> {
    let failed = |reason| PostgresError::Create { path: layout.unfinished.clone(), reason };
    layout.remove_unfinished();
    layout.fresh_dir(&layout.unfinished, who)?;

    let mut initdb = who.command(&postgres.tool("initdb"));
    initdb.args(["-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--data-checksums"]);
    initdb.args((!options.durable).then_some("--no-sync")).arg("-D").arg(&layout.unfinished);
    let output = initdb.output().map_err(PostgresError::io("run", &postgres.tool("initdb")))?;
    succeeded(&output).map_err(failed)?;

    // No client program is sure to exist; the server can run one statement by itself, before anybody can connect.
    let mut single = who.command(&postgres.tool("postgres"));
    single
        .args(["--single", "-c", "exit_on_error=on", "-c", fsync(options)])
        .arg("-D")
        .arg(&layout.unfinished);
    single.arg("postgres");
    let statement = format!("CREATE DATABASE \"{}\"\n", options.database.replace('"', "\"\""));
    let output = run_with_input(&mut single, &statement)
        .map_err(PostgresError::io("run", &postgres.tool("postgres")))?;
    succeeded(&output).map_err(failed)?;

    fs::rename(&layout.unfinished, &layout.data).map_err(PostgresError::io("rename", &layout.unfinished))?;
    if options.durable {
        let synced = File::open(&layout.root).and_then(|dir| dir.sync_all());
        synced.map_err(PostgresError::io("sync", &layout.root))?;
    }
    Ok(())
}

fn fsync(options: &Options) -> &'static str {
    if options.durable { "fsync=on" } else { "fsync=off" }
}

fn run_with_input(command: &mut Command, input: &str) -> std::io::Result<Output> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that ended early says why on its standard error, which is more than a broken pipe says.
        let _ = stdin.write_all(input.as_bytes());
    }
    child.wait_with_output()
}

/// The error is the tool's own complaint, in one line.
fn succeeded(output: &Output) -> Result<(), String> {
    if output.status.success() {
        return Ok(());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    let grave = |line: &&str| ["error:", "ERROR:", "FATAL:", "PANIC:"].iter().any(|word| line.contains(word));
    let line = complaint.lines().find(grave).or_else(|| complaint.lines().last());
    Err(line.map_or_else(|| output.status.to_string(), |line| line.trim().to_owned()))
}

/// Given on the command line, so that no file in the data directory can weaken them.
fn settings(
    layout: &Layout,
    postgres: &Installation,
    who: &RunAs,
    options: &Options,
) -> Vec<(String, String)> {
    let mut all = vec![
        ("listen_addresses", String::new()),
        ("port", "5432".to_owned()),
        ("max_connections", options.max_connections.to_string()),
        ("timezone", "UTC".to_owned()),
        ("log_timezone", "UTC".to_owned()),
        ("jit", "off".to_owned()), // short statements: compiling them costs more than it saves
        ("logging_collector", "off".to_owned()),
        ("log_destination", "stderr".to_owned()),
        ("idle_in_transaction_session_timeout", "60s".to_owned()),
        ("cluster_name", "bursar".to_owned()),
    ];
    if options.durable {
        all.extend([
            ("fsync", "on".to_owned()),
            ("full_page_writes", "on".to_owned()),
            ("synchronous_commit", "on".to_owned()),
            ("wal_level", "replica".to_owned()), // online backups
            ("shared_buffers", "256MB".to_owned()),
            ("max_wal_size", "4GB".to_owned()), // rare checkpoints: each one makes full pages go to the log again
            // Log files kept to be written over: making one means 16 MB of zeros and an fsync, for which a commit waits.
            ("min_wal_size", "1GB".to_owned()),
            ("checkpoint_timeout", "30min".to_owned()),
            ("wal_compression", best_compression(layout, postgres, who).to_owned()),
        ]);
    } else {
        all.extend([
            ("fsync", "off".to_owned()),
            ("full_page_writes", "off".to_owned()),
            ("synchronous_commit", "off".to_owned()),
            ("wal_level", "minimal".to_owned()),
            ("max_wal_senders", "0".to_owned()),
            ("shared_buffers", "128MB".to_owned()),
            ("max_wal_size", "512MB".to_owned()), // it may lie in memory
            // Inside the data directory, so that a server that was killed leaves nothing once that is removed.
            ("dynamic_shared_memory_type", "mmap".to_owned()),
        ]);
    }
    let own = all.into_iter().map(|(name, value)| (name.to_owned(), value));
    own.chain(options.settings.iter().cloned()).collect() // the later of two wins
}

/// LZ4 is a compile-time option of Postgres, so it is asked.
fn best_compression(layout: &Layout, postgres: &Installation, who: &RunAs) -> &'static str {
    let mut ask = who.command(&postgres.tool("postgres"));
    ask.arg("-D").arg(&layout.data).args(["-c", "wal_compression=lz4", "-C", "wal_compression"]);
    let knows = ask.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success());
    if knows { "lz4" } else { "off" }
}
