//! `just torture`: the faults and attacks of the [`catalogue`] at full size, as many rows at once as there are processors
//! (`TORTURE_LANES`), each in a process and with databases of its own. What came of it is a table in `tests/TORTURE.md`; what
//! a row printed is in `target/torture/ROW.log`.
//!
//! `just torture T2 T3` does these rows, and leaves what the table says of the others. `TEST_SEED` repeats a run's choices,
//! `TORTURE_SCALE=1` makes every row as small as it is in `cargo test`.

pub mod catalogue;

mod apart;
mod backups;
mod disk_full;
mod fuzz;
mod hang_up;
mod malformed;
mod migrations;
mod outside;
mod poison;
mod read_models;
mod readers;
mod soak;
mod summary;
mod timing;
mod workload;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread::available_parallelism;
use std::time::{Duration, Instant, SystemTime};

use bursar_api::postgres::{EmbeddedPostgres, Options};
use bursar_api::{database, demo};
use catalogue::{ROWS, Row};
use summary::{Outcome, Summary};

use crate::support::{build, config, pool};

/// A row that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(2 * 60 * 60);

/// The top of the tree.
fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Where rows leave what they print, and tools are installed.
fn scratch() -> PathBuf {
    let dir = top().join("target/torture");
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

/// A Postgres of its own, with the people of a demo in its bank and no server yet: its address, and where the log ends.
async fn bank_of_its_own(options: Options) -> (EmbeddedPostgres, String, i64) {
    let postgres = tokio::task::spawn_blocking(|| EmbeddedPostgres::start(options)).await.unwrap().unwrap();
    let url = postgres.url("bursar");
    database::migrate(&url.parse().unwrap()).await.unwrap();
    let (app, clock) = build(pool(&url), config()).await;
    demo::people(&app, &clock).await.unwrap();
    let before = sqlx::query_scalar("SELECT position FROM head").fetch_one(&app.pool).await.unwrap();
    app.close().await;
    (postgres, url, before)
}

/// Every test that this binary, or the sources of the crates, have by these names.
fn missing(names: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let listed = Command::new(std::env::current_exe().unwrap()).args(["--list"]).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    names.filter(|name| !listed.contains(&format!("{name}: test\n")) && !is_a_unit_test(name)).collect()
}

/// `domain::ledger::tests::this_and_that`: somewhere below `domain/src/ledger`, or in `domain/src/ledger.rs`.
fn is_a_unit_test(name: &str) -> bool {
    let parts: Vec<&str> = name.split("::").collect();
    let [krate, module, .., function] = parts[..] else { return false };
    let source = top().join(krate).join("src");
    let said = format!("fn {function}(");
    let mut places = vec![source.join(module), source.join(format!("{module}.rs"))];
    while let Some(place) = places.pop() {
        if place.is_dir() {
            places.extend(std::fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().path()));
        } else if std::fs::read_to_string(&place).is_ok_and(|text| text.contains(&said)) {
            return true;
        }
    }
    false
}

#[test]
fn every_row_of_the_catalogue_has_its_tests_and_its_controls() {
    let ids: std::collections::BTreeSet<&str> = ROWS.iter().map(|row| row.id).collect();
    assert_eq!(ids.len(), ROWS.len(), "a row is there twice");
    for row in ROWS {
        assert!(!row.tests.is_empty(), "{} has no test", row.id);
        assert!(!row.controls.is_empty() || !row.uncontrolled.is_empty(), "{} has no control", row.id);
    }
    let names = ROWS.iter().flat_map(|row| row.tests.iter().chain(row.controls).copied());
    assert_eq!(missing(names), [""; 0]);
    assert_eq!(missing(["torture::nobody_wrote_this"].into_iter()), ["torture::nobody_wrote_this"]);
}

/// Not a test: `just torture`. The rows are in `TORTURE_ROWS`; none are all.
#[test]
#[ignore = "just torture"]
fn run() {
    let asked = std::env::var("TORTURE_ROWS").unwrap_or_default();
    let asked: Vec<&str> = asked.split_whitespace().collect();
    let at_night: Vec<&Row> = ROWS.iter().filter(|row| row.scale > 0).collect();
    for id in &asked {
        assert!(at_night.iter().any(|row| row.id == *id), "no row {id} in {at_night:?}");
    }
    let rows: Vec<&Row> =
        at_night.into_iter().filter(|row| asked.is_empty() || asked.contains(&row.id)).collect();
    let (waiting, failed) = (Mutex::new(rows.iter().enumerate()), Mutex::new(Vec::new()));
    let summary = Mutex::new(Summary::of(&top().join("tests/TORTURE.md")));
    let lane = || {
        while let Some((n, row)) = next(&waiting) {
            println!("[{}/{}] {} {} ...", n + 1, rows.len(), row.id, row.what);
            let outcome = carried_out(row);
            println!("[{}/{}] {} {}", n + 1, rows.len(), row.id, outcome.in_a_line());
            if !outcome.passed {
                failed.lock().unwrap().push(row.id);
            }
            let mut summary = summary.lock().unwrap();
            summary.put(row, outcome);
            summary.write();
        }
    };
    let lanes = chosen("TORTURE_LANES").unwrap_or_else(|| available_parallelism().unwrap().get() as u64);
    std::thread::scope(|threads| (0..lanes).for_each(|_| drop(threads.spawn(lane))));
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{failed:?}: see {}", scratch().display());
}

/// What nobody has taken yet.
fn next<T>(waiting: &Mutex<impl Iterator<Item = T>>) -> Option<T> {
    waiting.lock().unwrap().next()
}

/// A number that somebody has set.
fn chosen(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

/// Its tests and its controls, at full size.
fn carried_out(row: &Row) -> Outcome {
    let scale = chosen("TORTURE_SCALE").unwrap_or_else(|| row.scale.into());
    let by_time = || SystemTime::UNIX_EPOCH.elapsed().unwrap().subsec_nanos().into();
    let seed = chosen("TEST_SEED").unwrap_or_else(by_time);
    let log = scratch().join(format!("{}.log", row.id));
    let out = File::create(&log).unwrap();
    let (mine, units): (Vec<&str>, Vec<&str>) =
        row.tests.iter().chain(row.controls).partition(|name| !is_a_unit_test(name));
    let began = Instant::now();
    let mut commands = Vec::new();
    if !mine.is_empty() {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "--include-ignored", "--nocapture"]).args(mine);
        commands.push(command);
    }
    if !units.is_empty() {
        let mut command = Command::new(env!("CARGO"));
        let within = units.iter().map(|name| name.split_once("::").unwrap().1);
        let profile = if cfg!(debug_assertions) { "dev" } else { "release" };
        command.args(["test", "--quiet", "--profile", profile, "--lib", "--", "--exact"]).args(within);
        command.current_dir(top());
        // What proptest does by itself, so many times as often.
        command.env("PROPTEST_CASES", (256 * scale).to_string());
        commands.push(command);
    }
    let passed = commands.into_iter().all(|mut command| {
        command.env("TEST_SCALE", scale.to_string()).env("TEST_SEED", seed.to_string());
        command.stdin(Stdio::null()).stdout(out.try_clone().unwrap()).stderr(out.try_clone().unwrap());
        ends_well(command)
    });
    Outcome::new(passed, &std::fs::read_to_string(&log).unwrap_or_default(), scale, seed, began.elapsed())
}

fn ends_well(mut command: Command) -> bool {
    let (mut child, began) = (command.spawn().unwrap(), Instant::now());
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.success();
        }
        if began.elapsed() > PATIENCE {
            // It may take its children along.
            let _ = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
            let _ = child.wait();
            return false;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}
