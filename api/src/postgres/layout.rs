//! The files of one cluster, and who may look at them.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::user::{RunAs, our_uid};
use super::{PostgresError, fingerprint};

/// The longest path a Unix socket may have, less the terminating zero.
const LONGEST_SOCKET: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// The name Postgres gives its socket for port 5432; the port is only a name here.
pub(super) const SOCKET_FILE: &str = ".s.PGSQL.5432";

/// What the names of new data directories begin with.
const UNFINISHED: &str = "postgres.new-";

/// A log larger than this is set aside when the server starts.
const LARGE_LOG: u64 = 16 << 20;

/// Where everything of one cluster is.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// The directory the caller named, absolute.
    pub(super) root: PathBuf,
    /// Postgres's data directory; it exists only when complete.
    pub(super) data: PathBuf,
    /// `initdb` works here, then it is renamed. Named by our process: the `initdb` of a killed one may still be
    /// writing to its own.
    pub(super) unfinished: PathBuf,
    /// Postgres's own log.
    pub(super) log: PathBuf,
    /// Holds nothing but the socket and its lock.
    pub(super) socket_dir: PathBuf,
    /// Held by the process that owns the cluster, with its id inside.
    pub(super) lock: PathBuf,
}

impl Layout {
    /// Creates the directory when it is missing, because its absolute path decides everything else.
    pub(super) fn create(root: &Path) -> Result<Layout, PostgresError> {
        // Root's directory may be passed through, not read: Postgres, another user then, has its own 0700 below it.
        let mode = if our_uid() == Some(0) { 0o711 } else { 0o700 };
        let made = DirBuilder::new().recursive(true).mode(mode).create(root);
        made.map_err(PostgresError::io("create the directory", root))?;
        Layout::existing(root).map_err(PostgresError::io("enter the directory", root))
    }

    /// For those who only look.
    pub(super) fn existing(root: &Path) -> io::Result<Layout> {
        let root = fs::canonicalize(root)?;
        let mut socket_dir = root.join("postgres-socket");
        if socket_dir.as_os_str().len() + 1 + SOCKET_FILE.len() > LONGEST_SOCKET {
            let hash = fingerprint(&root.to_string_lossy());
            socket_dir = PathBuf::from(format!("/tmp/bursar-{hash:016x}"));
        }
        Ok(Layout {
            data: root.join("postgres"),
            unfinished: root.join(format!("{UNFINISHED}{}", std::process::id())),
            log: root.join("postgres.log"),
            lock: root.join("postgres.lock"),
            socket_dir,
            root,
        })
    }

    /// One directory, one owner: the lock is the kernel's, so it ends with its holder, however that ends.
    pub(super) fn take(&self) -> Result<File, PostgresError> {
        let io = |doing| PostgresError::io(doing, &self.lock);
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut lock = match options.open(&self.lock) {
            Ok(lock) => lock,
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
                return Err(PostgresError::NotOurs { path: self.root.clone() });
            }
            Err(e) => return Err(io("open")(e)),
        };
        let mut attempts = 0;
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(e)) => return Err(io("lock")(e)),
                // Somebody may only be looking, see `has_owner`.
                Err(TryLockError::WouldBlock) if attempts < 10 => attempts += 1,
                Err(TryLockError::WouldBlock) => return Err(self.taken(&mut lock)),
            }
            thread::sleep(Duration::from_millis(10));
        }
        let written = lock.set_len(0).and_then(|()| writeln!(lock, "{}", std::process::id()));
        written.map_err(io("write"))?;
        Ok(lock)
    }

    fn taken(&self, lock: &mut File) -> PostgresError {
        let mut pid = String::new();
        let pid = lock.read_to_string(&mut pid).ok().and_then(|_| pid.trim().parse().ok());
        PostgresError::AlreadyRunning { data_dir: self.root.clone(), pid }
    }

    /// Whether a living process holds the lock. A server without an owner is about to end.
    pub(super) fn has_owner(&self) -> bool {
        File::open(&self.lock)
            .is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Removes what interrupted attempts left. One that cannot be removed is in nobody's way.
    pub(super) fn remove_unfinished(&self) {
        for entry in fs::read_dir(&self.root).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// Removes a socket directory outside of our own, when the server has stopped.
    pub(super) fn remove_socket_dir(&self) {
        if !self.socket_dir.starts_with(&self.root) {
            // Not when something is left in it: then the next start looks at that.
            let _ = fs::remove_dir(&self.socket_dir);
        }
    }

    /// An empty directory of `who`, 0700.
    pub(super) fn fresh_dir(&self, dir: &Path, who: &RunAs) -> Result<(), PostgresError> {
        let made = DirBuilder::new().mode(0o700).create(dir).and_then(|()| who.hand_over(dir));
        made.map_err(PostgresError::io("create the directory", dir))
    }

    /// The socket's directory, empty: nobody serves there while we hold the lock, and a stale lock file whose number
    /// now belongs to another process would stop Postgres.
    pub(super) fn prepare_socket_dir(&self, who: &RunAs) -> Result<(), PostgresError> {
        let dir = &self.socket_dir;
        match fs::symlink_metadata(dir) {
            // In `/tmp` anybody may have been here first.
            Ok(meta) if !meta.is_dir() || Some(meta.uid()) != who.file_owner() => {
                return Err(PostgresError::NotOurs { path: dir.clone() });
            }
            Ok(_) => {}
            Err(_) => return self.fresh_dir(dir, who),
        }
        let private = fs::set_permissions(dir, fs::Permissions::from_mode(0o700));
        private.map_err(PostgresError::io("make private", dir))?;
        for name in [SOCKET_FILE.to_owned(), format!("{SOCKET_FILE}.lock")] {
            let file = dir.join(name);
            match fs::remove_file(&file) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => {
                    return Err(PostgresError::io("remove", &file)(e));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Opens the log for appending; also answers its length now, where this run's lines begin.
    pub(super) fn open_log(&self) -> Result<(File, u64), PostgresError> {
        let io = |doing| PostgresError::io(doing, &self.log);
        if fs::metadata(&self.log).is_ok_and(|meta| meta.len() > LARGE_LOG) {
            fs::rename(&self.log, self.log.with_extension("log.1")).map_err(io("set aside"))?;
        }
        let log =
            File::options().append(true).create(true).mode(0o600).open(&self.log).map_err(io("open"))?;
        let length = log.metadata().map_err(io("read"))?.len();
        Ok((log, length))
    }

    /// What sqlx connects to. Everything is in it that sqlx would otherwise take from `PG*` variables.
    pub(super) fn url(&self, database: &str) -> String {
        socket_url(&self.socket_dir, database)
    }
}

/// The URL of a database behind the socket in `dir`.
pub(super) fn socket_url(dir: &Path, database: &str) -> String {
    let (dir, database) =
        (percent_encoded(dir.as_os_str().as_encoded_bytes()), percent_encoded(database.as_bytes()));
    format!("postgres://postgres@localhost/{database}?host={dir}&port=5432&sslmode=disable")
}

fn percent_encoded(bytes: &[u8]) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
    bytes.iter().map(|b| if plain(b) { char::from(*b).to_string() } else { format!("%{b:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_url_survives_spaces_and_signs_in_the_path() {
        let url = socket_url(Path::new("/tmp/a b&c"), "bursar");
        assert_eq!(
            url,
            "postgres://postgres@localhost/bursar?host=%2Ftmp%2Fa%20b%26c&port=5432&sslmode=disable"
        );
    }
}
