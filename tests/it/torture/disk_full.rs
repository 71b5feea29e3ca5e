//! T30: the disk of the database is full. Nobody is told that it is done, and once there is room the bank goes on.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use bursar_api::postgres::Options;

use super::bank_of_its_own;
use super::workload::Workload;
use crate::support::chance::{did, scaled};
use crate::support::invariants::none;
use crate::support::process::Server;
use crate::support::{Scratch, check, pool};

/// A small disk: in memory, and gone with this value.
struct Disk(PathBuf);

impl Disk {
    fn new(at: &Path) -> Self {
        let mount = ["-t", "tmpfs", "-o", "size=400m,mode=0755", "tmpfs"];
        let mounted = Command::new("mount").args(mount).arg(at).status().unwrap();
        assert!(mounted.success(), "a disk of its own takes the right to mount one: run as root");
        Self(at.to_owned())
    }

    fn ballast(&self) -> PathBuf {
        self.0.join("ballast")
    }

    /// Leaves no room at all.
    fn fill(&self) {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(self.ballast()).unwrap();
        let block = vec![0; 4_096];
        while file.write_all(&block).is_ok() {}
    }

    fn clear(&self) {
        std::fs::remove_file(self.ballast()).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // A process that is about to end may still have a file open there.
        let _ = Command::new("umount").args(["-l"]).arg(&self.0).status();
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "just torture"]
async fn a_bank_whose_disk_is_full_says_so_and_goes_on_when_there_is_room() {
    let scratch = Scratch::new("full");
    let disk = Disk::new(scratch.path());
    let small = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let settings =
        vec![small("max_wal_size", "64MB"), small("min_wal_size", "32MB"), small("shared_buffers", "32MB")];
    let options = Options { settings, ..Options::new(scratch.path()) };
    let (postgres, url, before) = bank_of_its_own(options).await;
    let elsewhere = Scratch::new("full-server");
    let server = Server::serve(&url, elsewhere.path()).await;
    let work = Workload::start(server.address, before, 8, usize::MAX).await;
    let rounds = scaled(3);
    let mut slowest = Duration::ZERO;
    for _ in 0..rounds {
        work.does(50, Duration::from_secs(60)).await;
        let turned_away = work.unavailable();
        disk.fill();
        // What has been taken beforehand is used up first.
        let began = Instant::now();
        while work.unavailable() < turned_away + 20 {
            assert!(began.elapsed() < Duration::from_secs(120), "nobody notices that the disk is full");
            disk.fill();
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        disk.clear();
        slowest = slowest.max(work.does(20, Duration::from_secs(60)).await);
    }
    did(rounds, "times full");
    println!("back after {slowest:?} at the latest");
    let told = work.finish().await;
    assert_eq!(server.stop().await, 0);
    let straight = pool(&url);
    none(&told.violations(&straight).await);
    check(&straight).await;
    straight.close().await;
    tokio::task::spawn_blocking(|| postgres.stop()).await.unwrap();
    drop(disk);
}
