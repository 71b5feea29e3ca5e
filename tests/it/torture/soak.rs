//! T65: `just soak HOURS`. The bank's ordinary work for hours, while at random the server or the whole Postgres is killed and the
//! two are kept apart. At the end: whether all invariants hold, and whether memory and the lag of read models grow.

use std::time::{Duration, Instant};

use bursar_api::postgres::Options;

use super::bank_of_its_own;
use super::workload::Workload;
use crate::kills::cut_power;
use crate::support::chance::{Chance, did};
use crate::support::invariants::none;
use crate::support::process::Server;
use crate::support::proxy::{Link, in_front_of};
use crate::support::{Scratch, check, pool};

/// A number that was read now and then.
#[derive(Default)]
struct Series(Vec<(i128, i128)>);

impl Series {
    fn note(&mut self, at: Duration, value: i64) {
        self.0.push((at.as_millis().try_into().unwrap(), value.into()));
    }

    /// How much it grows in an hour: the slope of the least squares.
    fn an_hour(&self) -> i128 {
        let n = self.0.len() as i128;
        let (x, y): (i128, i128) = self.0.iter().fold((0, 0), |(x, y), point| (x + point.0, y + point.1));
        let (xy, xx) =
            self.0.iter().fold((0, 0), |(xy, xx), point| (xy + point.0 * point.1, xx + point.0 * point.0));
        let spread = n * xx - x * x;
        if spread == 0 { 0 } else { (n * xy - x * y) * 3_600_000 / spread }
    }

    fn most(&self) -> i128 {
        self.0.iter().map(|point| point.1).max().unwrap_or(0)
    }
}

#[test]
fn a_slope_is_what_a_line_grows_by() {
    let mut series = Series::default();
    for minute in 0..60 {
        series.note(Duration::from_secs(minute * 60), 100 + i64::try_from(minute).unwrap());
    }
    assert_eq!((series.an_hour(), series.most()), (60, 159));
}

/// KiB that a process holds.
fn resident(pid: u32) -> i64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0 kB");
    line.trim().trim_end_matches(" kB").parse().unwrap_or(0)
}

/// Not a test: `just soak HOURS`, of which `SOAK_MINUTES` is so many times sixty.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "just soak"]
async fn for_hours() {
    let minutes: u64 = std::env::var("SOAK_MINUTES").map_or(3, |text| text.parse().expect("a number"));
    let end = Duration::from_secs(minutes * 60);
    let mut chance = Chance::new();
    let scratch = Scratch::new("soak");
    let (postgres, url, before) = bank_of_its_own(Options::new(scratch.path())).await;
    let (through, faults) = in_front_of(&url).await;
    let mut server = Server::serve(&through, scratch.path()).await;
    let work = Workload::start(server.address, before, 8, usize::MAX).await;
    let straight = pool(&url);
    let (began, mut born, mut last) = (Instant::now(), Instant::now(), Instant::now());
    let (mut memory, mut lag, mut hurt) = (Series::default(), Series::default(), [0; 3]);
    let patience = Duration::from_secs(60);
    while began.elapsed() < end {
        tokio::time::sleep(Duration::from_secs(1)).await;
        // Of a server that has been there for a while: a new one grows into its caches.
        if born.elapsed() > Duration::from_secs(20) {
            memory.note(began.elapsed(), resident(server.pid()));
        }
        let behind =
            "SELECT head.position - min(checkpoints.position) FROM head, checkpoints GROUP BY head.position";
        if let Ok(behind) = sqlx::query_scalar(behind).fetch_one(&straight).await {
            lag.note(began.elapsed(), behind);
        }
        let fault = match chance.between(0, 59) {
            0 => {
                server.kill();
                server = Server::serve(&through, scratch.path()).await;
                work.moved_to(server.address);
                born = Instant::now();
                0
            }
            1 => {
                cut_power(scratch.path()).await;
                1
            }
            2..=4 => {
                faults.set(chance.one_of(&[Link::Silent, Link::Down]));
                tokio::time::sleep(chance.millis(10, 2_000)).await;
                faults.calm();
                2
            }
            _ => continue,
        };
        hurt[fault] += 1;
        work.does(16, patience).await;
        if last.elapsed() > Duration::from_secs(600) {
            println!("{} s: {} operations", began.elapsed().as_secs(), work.done());
            none(&work.told_so_far().violations_so_far(&straight).await);
            last = Instant::now();
        }
    }
    let [server_deaths, powers, apart] = hurt;
    did(work.done(), "payments and reads");
    did(server_deaths, "kills of the server");
    did(powers, "kills of Postgres");
    did(apart, "times apart");
    let told = work.finish().await;
    println!(
        "memory: {} KiB at most, {} KiB more an hour; lag: {} events at most, {} more an hour",
        memory.most(),
        memory.an_hour(),
        lag.most(),
        lag.an_hour(),
    );
    assert_eq!(server.stop().await, 0);
    none(&told.violations(&straight).await);
    check(&straight).await;
    straight.close().await;
    tokio::task::spawn_blocking(|| postgres.stop()).await.unwrap();
}
