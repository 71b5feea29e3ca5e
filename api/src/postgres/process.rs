//! Who lives on a data directory, and how to make them leave.

use std::fs;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::PostgresError;
use super::layout::{Layout, SOCKET_FILE};

/// What Postgres writes about itself into its data directory.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PidFile {
    pub(super) pid: u32,
    pub(super) socket_dir: PathBuf,
    pub(super) ready: bool,
}

impl PidFile {
    /// `None` when there is none, or it is being written right now.
    pub(super) fn read(data: &Path) -> Option<PidFile> {
        PidFile::parse(&fs::read_to_string(data.join("postmaster.pid")).ok()?)
    }

    fn parse(text: &str) -> Option<PidFile> {
        let mut lines = text.lines();
        let pid = lines.next()?.trim().parse().ok()?;
        // data directory, start time, port, socket directory, address, shared memory, status
        let socket_dir = PathBuf::from(lines.nth(3).unwrap_or_default());
        let ready = lines.nth(2).is_some_and(|status| status.trim() == "ready");
        Some(PidFile { pid, socket_dir, ready })
    }
}

/// What a process id in `postmaster.pid` stands for today.
#[derive(Debug, PartialEq, Eq)]
enum Holder {
    /// A running Postgres of this directory.
    Server,
    /// No such process: Postgres itself will clear the file away.
    Gone,
    /// A dead process nobody has reaped, or another program under the same number. Postgres would take it for a
    /// living server and refuse to start.
    Stranger,
    /// The system does not tell: Postgres decides.
    Unknown,
}

fn holder(pid: u32, data: &Path) -> Holder {
    if cfg!(target_os = "linux") {
        let process = PathBuf::from(format!("/proc/{pid}"));
        return match fs::read(process.join("cmdline")) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Holder::Gone,
            Err(_) => Holder::Unknown,
            Ok(line) => {
                let names_data =
                    line.split(|byte| *byte == 0).any(|arg| arg == data.as_os_str().as_encoded_bytes());
                // A server started by hand may name it in another way, but always works inside it.
                let inside = fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd == data);
                if names_data || inside { Holder::Server } else { Holder::Stranger }
            }
        };
    }
    let ps =
        Command::new("ps").args(["-o", "command=", "-p", &pid.to_string()]).stdin(Stdio::null()).output();
    match ps {
        Err(_) => Holder::Unknown,
        Ok(output) => {
            let line = String::from_utf8_lossy(&output.stdout);
            match line.trim() {
                "" => Holder::Gone,
                line if line.contains(&*data.to_string_lossy()) => Holder::Server,
                _ => Holder::Stranger,
            }
        }
    }
}

/// The socket directory of a server that answers on this cluster's data.
pub(super) fn live_socket_dir(layout: &Layout) -> Option<PathBuf> {
    let file = PidFile::read(&layout.data).filter(|file| file.ready)?;
    let lives = holder(file.pid, &layout.data) == Holder::Server;
    let answers = lives && UnixStream::connect(file.socket_dir.join(SOCKET_FILE)).is_ok();
    answers.then_some(file.socket_dir)
}

/// Empties the directory of servers whose owner died. Only for the holder of the directory's lock.
pub(super) fn settle(layout: &Layout, patience: Duration) -> Result<(), PostgresError> {
    let data = &layout.data;
    let Some(old) = PidFile::read(data) else { return Ok(()) };
    let stop = Instant::now() + patience;
    let mut asked = None;
    loop {
        match holder(old.pid, data) {
            Holder::Gone | Holder::Unknown => return Ok(()),
            Holder::Stranger => {
                let file = data.join("postmaster.pid");
                return match fs::remove_file(&file) {
                    Err(e) if e.kind() != io::ErrorKind::NotFound => {
                        Err(PostgresError::io("remove", &file)(e))
                    }
                    _ => Ok(()),
                };
            }
            Holder::Server if Instant::now() > stop => {
                return Err(PostgresError::Orphan { pid: old.pid, data: data.clone() });
            }
            // Its supervisor usually has asked already; asking twice does no harm.
            Holder::Server if asked.is_none() => {
                tracing::warn!(pid = old.pid, data = %data.display(), "stopping the Postgres an earlier process left");
                send(old.pid, "INT");
                asked = Some(Instant::now());
            }
            Holder::Server => {}
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Sends a signal; a process that is gone already is no error. `kill` is a builtin of every shell.
pub(super) fn send(pid: u32, signal: &str) {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "kill -s \"$1\" \"$2\"", "sh", signal, &pid.to_string()]);
    let sent = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if let Err(error) = sent {
        tracing::warn!(pid, signal, %error, "cannot send a signal");
    }
}

/// Whether there is a process of this number.
pub(super) fn lives(pid: u32) -> bool {
    if cfg!(target_os = "linux") {
        return Path::new("/proc").join(pid.to_string()).exists();
    }
    let mut ps = Command::new("ps");
    ps.args(["-p", &pid.to_string()]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    ps.status().is_ok_and(|status| status.success())
}

/// The direct children of a process: all the others of a Postgres, given its first.
pub(super) fn children(parent: u32) -> Vec<u32> {
    if cfg!(target_os = "linux") {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        return pids.filter(|pid| parent_of(*pid) == Some(parent)).collect();
    }
    let ps = Command::new("ps").args(["-A", "-o", "pid=,ppid="]).stdin(Stdio::null()).output();
    let listed = ps.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let pairs = listed.lines().filter_map(|line| line.trim().split_once(char::is_whitespace));
    pairs.filter_map(|(pid, of)| (of.trim().parse() == Ok(parent)).then(|| pid.parse().ok())?).collect()
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // `PID (name) state ppid ...`, and the name may hold spaces and parentheses.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pid_file_tells_the_process_its_socket_and_whether_it_is_ready() {
        let text =
            "4711\n/d/postgres\n1763700000\n5432\n/d/postgres-socket\n\n  5432001    32768\nready   \n";
        let parsed = PidFile::parse(text);
        assert_eq!(parsed, Some(PidFile { pid: 4711, socket_dir: "/d/postgres-socket".into(), ready: true }));
        assert!(PidFile::parse("4711\n/d/postgres\n").is_some_and(|file| !file.ready));
        assert_eq!(PidFile::parse(""), None);
    }

    #[test]
    fn this_very_process_is_a_stranger_to_every_data_directory() {
        assert_eq!(holder(std::process::id(), Path::new("/nowhere/postgres")), Holder::Stranger);
    }
}
