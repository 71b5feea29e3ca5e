//! As whom Postgres runs. It refuses to be root, rightly, so root steps down to somebody who can reach the files.

use std::env;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use super::PostgresError;
use super::find::Installation;
use super::layout::Layout;

/// The identity of every Postgres process of one data directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunAs {
    /// We are an ordinary user already.
    Ourselves,
    /// We are root; Postgres runs as this user and owns its files.
    User { uid: u32, gid: u32 },
    /// We are root and the files lie where only root can go (`/root`, 0700): a user namespace in which root has
    /// another number. Postgres believes it, and the kernel still sees the files' owner.
    Namespace { uid: u32, gid: u32 },
}

impl RunAs {
    /// Decides by who we are, who owns existing data, and who can enter the directories.
    pub(super) fn choose(layout: &Layout, postgres: &Installation) -> Result<RunAs, PostgresError> {
        if our_uid() != Some(0) {
            return Ok(RunAs::Ourselves);
        }
        let owner = fs::metadata(&layout.data).ok().map(|meta| (meta.uid(), meta.gid()));
        // `nobody` exists on every system; 65534 is its number where even that name is missing.
        let (uid, gid) = named_user("postgres").or_else(|| named_user("nobody")).unwrap_or((65534, 65534));
        let (user, namespace) = (RunAs::User { uid, gid }, RunAs::Namespace { uid, gid });
        let path = layout.root.clone();
        match owner {
            Some((0, _)) if namespace.can_reach(&path, postgres) => Ok(namespace),
            Some((0, _)) => Err(PostgresError::Unreachable { uid, path }),
            Some((uid, gid)) => {
                let owner = RunAs::User { uid, gid };
                if owner.can_reach(&path, postgres) {
                    Ok(owner)
                } else {
                    Err(PostgresError::Unreachable { uid, path })
                }
            }
            None => [user, namespace]
                .into_iter()
                .find(|who| who.can_reach(&path, postgres))
                .ok_or(PostgresError::Unreachable { uid, path }),
        }
    }

    /// A command run as this user, outside every terminal and free of the caller's `PG*` variables.
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = match *self {
            RunAs::Ourselves => Command::new(program),
            RunAs::User { uid, gid } => {
                let mut command = Command::new(program);
                command.uid(uid).gid(gid);
                command
            }
            RunAs::Namespace { uid, gid } => {
                let mut command = Command::new("unshare");
                command.arg("--user").arg(format!("--map-user={uid}")).arg(format!("--map-group={gid}"));
                command.arg("--").arg(program);
                command
            }
        };
        for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("PG")) {
            command.env_remove(name);
        }
        command.env("LC_ALL", "C").env("TZ", "UTC");
        // The caller's directory may be one this user cannot enter, and must not be kept busy by a server.
        command.current_dir("/").stdin(Stdio::null());
        command
    }

    /// Makes a file or directory of ours theirs.
    pub(super) fn hand_over(&self, path: &Path) -> io::Result<()> {
        match *self {
            RunAs::User { uid, gid } => std::os::unix::fs::chown(path, Some(uid), Some(gid)),
            RunAs::Ourselves | RunAs::Namespace { .. } => Ok(()),
        }
    }

    /// The owner, as the kernel sees it, of files this identity creates.
    pub(super) fn file_owner(&self) -> Option<u32> {
        match *self {
            RunAs::User { uid, .. } => Some(uid),
            RunAs::Ourselves | RunAs::Namespace { .. } => our_uid(),
        }
    }

    /// Asked of the kernel rather than computed from permission bits, which do not know of access lists.
    fn can_reach(&self, dir: &Path, postgres: &Installation) -> bool {
        let mut command = self.command(Path::new("/bin/sh"));
        command
            .args(["-c", "cd \"$1\" && exec \"$2\" --version", "sh"])
            .arg(dir)
            .arg(postgres.tool("initdb"));
        command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    }
}

/// Our effective user id. `std` does not tell it; `id` does on every Unix.
pub(super) fn our_uid() -> Option<u32> {
    static UID: OnceLock<Option<u32>> = OnceLock::new();
    *UID.get_or_init(|| id(&["-u"]))
}

fn named_user(name: &str) -> Option<(u32, u32)> {
    Some((id(&["-u", name])?, id(&["-g", name])?))
}

fn id(args: &[&str]) -> Option<u32> {
    let output = Command::new("id").args(args).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}
