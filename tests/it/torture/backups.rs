//! T61: a bank is copied while it is at work, and the copy is a bank.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use bursar_api::postgres::{EmbeddedPostgres, Options, Search};

use super::bank_of_its_own;
use super::workload::Workload;
use crate::support::chance::{Chance, did, scaled};
use crate::support::invariants::none;
use crate::support::process::Server;
use crate::support::{Scratch, build, check, config, pool};

/// As an administrator does it: `pg_basebackup` beside the running bank, into a data directory.
fn copied(from: &Path, to: &Path) {
    let tool = Search::from_env().find(None).unwrap().tool("pg_basebackup");
    let copy = to.join("postgres");
    let mut backup = Command::new(tool);
    backup.arg("-D").arg(&copy).args(["--checkpoint=fast", "--wal-method=stream", "-U", "postgres", "-h"]);
    let done = backup.arg(from.join("postgres-socket")).env_remove("PGPORT").output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    // Whoever runs Postgres must own it.
    let owned =
        Command::new("chown").arg("-R").arg("--reference").arg(from.join("postgres")).arg(&copy).status();
    assert!(owned.unwrap().success());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "just torture"]
async fn a_copy_taken_under_load_is_the_bank_at_some_moment() {
    let mut chance = Chance::new();
    let scratch = Scratch::new("copied");
    let (postgres, url, before) = bank_of_its_own(Options::new(scratch.path())).await;
    let server = Server::serve(&url, scratch.path()).await;
    let work = Workload::start(server.address, before, 8, usize::MAX).await;
    let copies = scaled(2);
    for _ in 0..copies {
        work.does(100, Duration::from_secs(60)).await;
        tokio::time::sleep(chance.millis(0, 500)).await;
        let told = work.told_so_far();
        let copy = Scratch::new("copy");
        let (from, to) = (scratch.path().to_owned(), copy.path().to_owned());
        tokio::task::spawn_blocking(move || copied(&from, &to)).await.unwrap();
        let options = Options::new(copy.path());
        let restored =
            tokio::task::spawn_blocking(|| EmbeddedPostgres::start(options)).await.unwrap().unwrap();
        let there = pool(&restored.url("bursar"));
        // What was acknowledged before it began is in it, and it agrees with itself.
        none(&told.violations_so_far(&there).await);
        check(&there).await;
        // And it can go on: its read models follow.
        let (app, _) = build(there.clone(), config()).await;
        let head: i64 = sqlx::query_scalar("SELECT position FROM head").fetch_one(&there).await.unwrap();
        app.freshness.wait(&[], head, Duration::from_secs(60)).await.unwrap();
        app.close().await;
        there.close().await;
        tokio::task::spawn_blocking(|| restored.stop()).await.unwrap();
    }
    did(copies, "copies restored");
    let told = work.finish().await;
    assert_eq!(server.stop().await, 0);
    let straight = pool(&url);
    none(&told.violations(&straight).await);
    check(&straight).await;
    straight.close().await;
    tokio::task::spawn_blocking(|| postgres.stop()).await.unwrap();
}
