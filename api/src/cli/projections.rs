//! `bursar projections ...`: for people who keep the read models right.

use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use bursar_projections::{Log, ModelState, ParkedRows, Progress, Report, catalogue};
use clap::{Args, Subcommand};
use serde_json::Value;

use super::{Bar, Outcome};
use crate::config::Config;
use crate::database::Database;
use crate::{sources, wiring};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// What read models there are and how far each has followed the log
    List,
    /// Build read models anew from the log and swap them in; the bank goes on meanwhile
    Rebuild(Which),
    /// Compare read models with the log; changes nothing
    Verify(Which),
    /// Give what read models have parked another chance, once the fold or the event is mended
    Retry(Which),
}

#[derive(Debug, Args)]
pub(super) struct Which {
    /// Names, as `projections list` shows them
    #[arg(required_unless_present = "all")]
    names: Vec<String>,
    /// All of them
    #[arg(long, conflicts_with = "names")]
    all: bool,
}

pub(super) async fn run(config: &Config, command: Command) -> Outcome {
    let database = Database::open_existing(config).await?;
    let outcome = match command {
        Command::List => list(&database).await,
        Command::Rebuild(which) => rebuild(config, &database, &which).await,
        Command::Verify(which) => verify(config, &database, &which).await,
        Command::Retry(which) => retry(config, &database, &which).await,
    };
    database.close().await;
    outcome
}

async fn list(database: &Database) -> Outcome {
    println!("{:<20} {:>12} {:>12} {:>10}  state", "read model", "position", "head", "lag");
    for model in bursar_projections::read_status(&database.pool).await? {
        let state = match &model.state {
            ModelState::Following => "following".to_owned(),
            ModelState::Parked { position, reason } => format!("parked at {position}: {reason}"),
        };
        println!("{:<20} {:>12} {:>12} {:>10}  {state}", model.name, model.position, model.head, model.lag);
        parked(&model.parked);
    }
    Ok(ExitCode::SUCCESS)
}

/// Success, whatever the tables looked like before: they are right now.
async fn rebuild(config: &Config, database: &Database, which: &Which) -> Outcome {
    let bar = SharedBar::new("rebuild");
    let codec = wiring::codec(config, &database.pool).await?;
    let (sources, _) = sources::system();
    let log = Log { pool: &database.pool, codec: &codec, clock: &*sources.clock };
    let reports = bursar_projections::rebuild(log, &which.names(), &bar).await?;
    bar.finish();
    for report in &reports {
        println!("{}: rebuilt; {}", report.model, what_differed(report));
        differences(report);
    }
    Ok(ExitCode::SUCCESS)
}

/// Failure when any row differs.
async fn verify(config: &Config, database: &Database, which: &Which) -> Outcome {
    let bar = SharedBar::new("verify");
    let codec = wiring::codec(config, &database.pool).await?;
    let (sources, _) = sources::system();
    let log = Log { pool: &database.pool, codec: &codec, clock: &*sources.clock };
    let reports = bursar_projections::verify(log, &which.names(), &bar).await?;
    bar.finish();
    for report in &reports {
        println!("{}: {}", report.model, what_differed(report));
        differences(report);
    }
    let equal = reports.iter().all(|report| report.differing == 0);
    Ok(if equal { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Failure when anything is parked still.
async fn retry(config: &Config, database: &Database, which: &Which) -> Outcome {
    let codec = wiring::codec(config, &database.pool).await?;
    let (sources, _) = sources::system();
    let log = Log { pool: &database.pool, codec: &codec, clock: &*sources.clock };
    let mut all = true;
    for name in which.names() {
        let retried = bursar_projections::retry(log, name).await?;
        all &= retried.parked.is_empty();
        match (retried.is_tried_again, retried.caught_up.len()) {
            (true, _) => println!("{name}: the server tries it again"),
            (false, caught_up) => println!("{name}: {caught_up} row sets are up with the others again"),
        }
        parked(&retried.parked);
    }
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What a model has left behind, a line each.
fn parked(rows: &[ParkedRows]) {
    for ParkedRows { row_set, position, reason, .. } in rows {
        println!("  {row_set} is parked at {position}: {reason}");
    }
}

fn what_differed(report: &Report) -> String {
    match report.differing {
        0 => format!("equal to the log at position {}", report.position),
        rows => format!("{rows} rows differed from the log at position {}", report.position),
    }
}

/// Each differing row with its key, the event it goes wrong at, and the columns that differ.
fn differences(report: &Report) {
    for diff in &report.diffs {
        println!("  from position {}, {} {}", diff.first_diverging_position, diff.table, diff.key);
        match (&diff.expected, &diff.actual) {
            (Some(Value::Object(expected)), Some(Value::Object(found))) => {
                for (column, value) in
                    expected.iter().filter(|(column, value)| found.get(*column) != Some(value))
                {
                    println!(
                        "    {column}: expected {value}, found {}",
                        found.get(column).unwrap_or(&Value::Null)
                    );
                }
            }
            (Some(expected), _) => println!("    the row is missing: {expected}"),
            (None, Some(found)) => println!("    the row should not be there: {found}"),
            (None, None) => {}
        }
    }
}

impl Which {
    fn names(&self) -> Vec<&str> {
        if self.all {
            catalogue().iter().map(|entry| entry.name).collect()
        } else {
            self.names.iter().map(String::as_str).collect()
        }
    }
}

/// A bar behind the read side's progress trait.
struct SharedBar(Mutex<Bar>);

impl SharedBar {
    fn new(label: &'static str) -> Self {
        Self(Mutex::new(Bar::new(label)))
    }

    fn finish(self) {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).finish();
    }
}

impl Progress for SharedBar {
    fn advanced(&self, done: i64, total: i64) {
        let mut bar = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        bar.at(done.unsigned_abs(), total.unsigned_abs());
    }
}
