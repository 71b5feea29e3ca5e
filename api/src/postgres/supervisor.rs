//! Starting the server so that it never outlives its reason to run.
//!
//! A small shell starts a watcher and then *becomes* Postgres, so that our child is the postmaster itself. The
//! watcher waits for one of two ends: the pipe from us closes (we stopped, crashed, or were killed -9), or, for the
//! cluster that test processes share, nobody has touched the heartbeat file for some minutes. Then it sends SIGINT,
//! Postgres's fast shutdown; SIGTERM would wait for clients.
//!
//! The watcher is a grandchild, orphaned at once: the postmaster treats the death of an unknown child as a crash.

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::PostgresError;
use super::find::Installation;
use super::layout::Layout;
use super::process::PidFile;
use super::user::RunAs;

/// What keeps the server running.
#[derive(Debug, Clone)]
pub(super) enum Leash {
    /// Our own life.
    Pipe,
    /// A file touched every now and then by anybody; the whole directory goes when it ends.
    Heartbeat { file: PathBuf, minutes: u32 },
}

/// Ends with the pipe. `postmaster.pid` is compared first, since the number may belong to somebody else by now, and
/// tried for a while, since it may not be written yet.
const PIPE: &str = r#"
data=$1; me=$$; shift
exec 3<&0
( (
  read -r _ <&3
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    if read -r pid <"$data/postmaster.pid" && [ "$pid" = "$me" ]; then kill -s INT "$me"; exit; fi
    kill -s 0 "$me" || exit
    sleep 1
  done
) </dev/null >/dev/null 2>&1 & )
exec "$@" </dev/null 3<&-
"#;

/// Ends when the heartbeat is old. It is renamed before it is judged again, so that a process that touches it in the
/// last moment either saves the cluster or finds no file and starts another.
const HEARTBEAT: &str = r#"
beat=$1; minutes=$2; dir=$3; me=$$; shift 3
( (
  while kill -s 0 "$me"; do
    sleep 5
    [ -n "$(find "$beat" -mmin "-$minutes")" ] && continue
    mv "$beat" "$beat.over"
    [ -n "$(find "$beat.over" -mmin "-$minutes")" ] && mv "$beat.over" "$beat" && continue
    kill -s INT "$me"
    while kill -s 0 "$me"; do sleep 1; done
  done
  rm -rf "$dir"/*
) </dev/null >/dev/null 2>&1 & )
exec "$@" </dev/null
"#;

/// Starts Postgres and waits until it takes connections.
pub(super) fn launch(
    layout: &Layout,
    postgres: &Installation,
    who: &RunAs,
    settings: &[(String, String)],
    leash: &Leash,
) -> Result<Child, PostgresError> {
    // After a kill -9 of the postmaster a busy backend may live on for a while; starting beside it would destroy
    // the data, so Postgres refuses, and we wait for that backend.
    let patience = Instant::now() + Duration::from_secs(20);
    loop {
        let (child, log_start) = spawn(layout, postgres, who, settings, leash)?;
        match wait_until_ready(child, layout, log_start) {
            Err(PostgresError::Start { reason, .. })
                if reason.contains("pre-existing shared memory block") && Instant::now() < patience =>
            {
                thread::sleep(Duration::from_millis(100));
            }
            result => return result,
        }
    }
}

fn spawn(
    layout: &Layout,
    postgres: &Installation,
    who: &RunAs,
    settings: &[(String, String)],
    leash: &Leash,
) -> Result<(Child, u64), PostgresError> {
    layout.prepare_socket_dir(who)?;
    let (log, log_start) = layout.open_log()?;
    who.hand_over(&layout.log).map_err(PostgresError::io("hand over", &layout.log))?;
    let errors = log.try_clone().map_err(PostgresError::io("open", &layout.log))?;
    let mut shell = who.command(Path::new("/bin/sh"));
    match leash {
        Leash::Pipe => shell.args(["-c", PIPE, "bursar-postgres"]).arg(&layout.data).stdin(Stdio::piped()),
        Leash::Heartbeat { file, minutes } => shell
            .args(["-c", HEARTBEAT, "bursar-postgres"])
            .arg(file)
            .arg(minutes.to_string())
            .arg(&layout.root),
    };
    shell.arg(postgres.tool("postgres")).arg("-D").arg(&layout.data);
    shell.arg("-k").arg(&layout.socket_dir);
    for (name, value) in settings {
        shell.arg("-c").arg(format!("{name}={value}"));
    }
    // Its own group: Ctrl-C in the terminal must not stop Postgres before the server has drained. Its own log: an
    // inherited pipe would keep cargo waiting.
    shell.process_group(0).stdout(log).stderr(errors);
    let child = shell.spawn().map_err(PostgresError::io("start", Path::new("/bin/sh")))?;
    Ok((child, log_start))
}

/// Waits as long as it lives: recovery after a crash may take minutes and must not be cut short.
fn wait_until_ready(mut child: Child, layout: &Layout, log_start: u64) -> Result<Child, PostgresError> {
    let began = Instant::now();
    let mut told = 0;
    loop {
        if PidFile::read(&layout.data).is_some_and(|file| file.ready && file.pid == child.id()) {
            return Ok(child);
        }
        let ended = child.try_wait().map_err(PostgresError::io("watch", &layout.data))?;
        if let Some(status) = ended {
            let reason = last_words(&layout.log, log_start).unwrap_or_else(|| status.to_string());
            return Err(PostgresError::Start { reason, log: layout.log.clone() });
        }
        let seconds = began.elapsed().as_secs();
        if seconds >= told + 5 {
            told = seconds;
            tracing::info!(seconds, log = %layout.log.display(), "Postgres is still recovering");
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// The last FATAL or PANIC line of this run, or its last line, without time and process.
fn last_words(log: &Path, start: u64) -> Option<String> {
    let mut file = fs::File::open(log).ok()?;
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let grave = |line: &&str| line.contains("FATAL: ") || line.contains("PANIC: ");
    let line = text.lines().rfind(grave).or_else(|| text.lines().last())?;
    let begins = line.find("FATAL: ").or_else(|| line.find("PANIC: ")).unwrap_or(0);
    Some(line[begins..].trim().to_owned())
}
