//! pgbench's TPC-B-like script, the yardstick.

use std::time::Duration;

use tokio::process::Command;

use super::Error;
use super::server::{PGBENCH, Server};
use crate::postgres::Search;

/// Clients, and the scale (100,000 accounts each).
const CLIENTS: &str = "16";
const SCALE: &str = "10";

/// Transactions a second, when pgbench is installed.
pub(super) async fn tpcb(server: &Server, seconds: Duration) -> Result<Option<f64>, Error> {
    let Some(program) = program() else { return Ok(None) };
    let options = server.options();
    let command = || {
        let mut command = Command::new(&program);
        let host =
            options.get_socket().map_or_else(|| options.get_host().to_owned(), |s| s.display().to_string());
        command
            .env("PGHOST", host)
            .env("PGPORT", options.get_port().to_string())
            .env("PGUSER", options.get_username());
        command
    };
    let made = command().args(["-i", "-q", "-s", SCALE, PGBENCH]).output().await?;
    if !made.status.success() {
        return Ok(None);
    }
    let seconds = seconds.as_secs().to_string();
    let run = command()
        .args(["-c", CLIENTS, "-j", "2", "-M", "prepared", "-T", &seconds, PGBENCH])
        .output()
        .await?;
    let printed = String::from_utf8_lossy(&run.stdout);
    let rate = printed.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
    Ok(rate)
}

/// pgbench beside the server's own programs, or on the PATH.
fn program() -> Option<std::path::PathBuf> {
    let beside = Search::from_env().installed().map(|found| found.bin_dir.join("pgbench"));
    let on_path = std::env::var_os("PATH")
        .map(|path| std::env::split_paths(&path).map(|dir| dir.join("pgbench")).collect::<Vec<_>>())
        .unwrap_or_default();
    beside.into_iter().chain(on_path).find(|candidate| candidate.is_file())
}
