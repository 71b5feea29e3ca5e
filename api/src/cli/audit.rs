//! `bursar audit ...`: for people who trust the log and nothing else.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bursar_commands::audit::monitor::{self, Breach};
use bursar_commands::audit::{self, Report, Trusted, Verified, accounting};
use bursar_commands::journal::StoreError;
use bursar_commands::keys::hex;
use bursar_commands::proof::note::{Signer, Verifier, split};
use bursar_domain::codec::Codec;
use clap::{Subcommand, ValueEnum};

use super::{Bar, Outcome};
use crate::config::Config;
use crate::database::Database;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Rebuild every aggregate and every balance from the log and compare
    Replay,
    /// Write the log and its proof into a directory that can be checked without the bank, or the ledger for other programs
    Export {
        /// The directory; a bundle that is there already goes on where it was
        #[arg(long, value_name = "DIR")]
        to: PathBuf,
        /// What to write
        #[arg(long, value_enum, default_value_t = Format::Bundle)]
        format: Format,
    },
    /// Check an exported directory: no server, no database, no network
    Verify {
        /// The directory
        dir: PathBuf,
        /// The bank's public key, as somebody else has kept it [default: the directory's own]
        #[arg(long, value_name = "KEY")]
        key: Option<Verifier>,
        /// A file of checkpoints that was kept outside the bank
        #[arg(long, value_name = "FILE")]
        checkpoints: Option<PathBuf>,
    },
    /// Print the public key that checks checkpoints
    Key,
    /// List what the monitor has found wrong with the ledger, or answer for it: nothing is written until somebody does
    Breaches {
        /// The breach that is answered for
        #[arg(long, value_name = "ID", requires = "because")]
        accept: Option<i64>,
        /// Why the bank may go on
        #[arg(long, value_name = "TEXT", requires = "accept")]
        because: Option<String>,
    },
    /// Print events as JSON lines
    Events {
        /// Start after this position
        #[arg(long, default_value_t = 0, value_name = "POSITION")]
        after: i64,
        /// Stop after so many events
        #[arg(long, value_name = "N")]
        limit: Option<i64>,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Format {
    /// Events as they are stored, their hashes and the signed checkpoints: what `audit verify` checks
    Bundle,
    /// The whole ledger for beancount, in ledger.beancount
    Beancount,
    /// The whole ledger for hledger, in ledger.journal
    Hledger,
    /// Events, postings and accounts as tables of Apache Parquet
    Parquet,
    /// The same tables as CSV, with a load.sql that reads them into Postgres
    Csv,
}

pub(super) async fn run(config: &Config, command: Command) -> Outcome {
    if let Command::Verify { dir, key, checkpoints } = command {
        return verify(&dir, key, checkpoints.as_deref());
    }
    let database = Database::open_existing(config).await?;
    let outcome = on(config, &database, command).await;
    database.close().await;
    outcome
}

async fn on(config: &Config, database: &Database, command: Command) -> Outcome {
    match command {
        // Needs no database, and never gets one.
        Command::Verify { dir, key, checkpoints } => verify(&dir, key, checkpoints.as_deref()),
        Command::Export { to, format } => match format {
            Format::Bundle => export(config, database, &to).await,
            Format::Beancount => write(database, accounting::Format::Beancount, &to).await,
            Format::Hledger => write(database, accounting::Format::Hledger, &to).await,
            Format::Parquet => write(database, accounting::Format::Parquet, &to).await,
            Format::Csv => write(database, accounting::Format::Csv, &to).await,
        },
        Command::Key => {
            println!("{}", signer(config, database).await?.verifier());
            Ok(ExitCode::SUCCESS)
        }
        Command::Replay => replay(database).await,
        Command::Breaches { accept, because } => breaches(database, accept.zip(because)).await,
        Command::Events { after, limit } => {
            let mut out = std::io::BufWriter::new(std::io::stdout());
            match audit::write_events(&database.pool, after, limit, &mut out).await {
                // Whoever reads has read enough.
                Err(StoreError::Output(error)) if error.kind() == ErrorKind::BrokenPipe => {
                    Ok(ExitCode::SUCCESS)
                }
                other => Ok(other.map(|()| ExitCode::SUCCESS)?),
            }
        }
    }
}

/// What is wrong; a failure while anything is.
async fn breaches(database: &Database, answer: Option<(i64, String)>) -> Outcome {
    if let Some((id, because)) = answer {
        let (sources, _) = crate::sources::system();
        if !monitor::accept(&database.pool, id, &because, sources.clock.now()).await? {
            return Err(format!("there is no breach {id} that nobody has answered for").into());
        }
    }
    let open = monitor::breaches(&database.pool).await?;
    for Breach { id, found_at, position, invariant, finding } in &open {
        println!("{id}  {found_at:.0}  position {position}  {invariant}: {finding}");
    }
    println!("{} found and not answered for", open.len());
    Ok(if open.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Who vouches for the log.
async fn signer(
    config: &Config,
    database: &Database,
) -> Result<Signer, Box<dyn std::error::Error + Send + Sync>> {
    let (sources, _) = crate::sources::system();
    let secrets = crate::wiring::secrets(config, &database.pool, &sources).await?;
    Ok(Signer::new(&config.audit.origin, &secrets.keys.checkpoint_seed)?)
}

async fn export(config: &Config, database: &Database, to: &Path) -> Outcome {
    let signer = signer(config, database).await?;
    let mut bar = Bar::new("export");
    let mut progress = |done: i64, total: i64| bar.at(done.unsigned_abs(), total.unsigned_abs());
    let exported = audit::export(&database.pool, signer.verifier(), to, &mut progress).await?;
    let took = bar.finish();
    println!(
        "exported: {} events, {} checkpoints in {:.1} s",
        exported.events,
        exported.checkpoints,
        took.as_secs_f64()
    );
    if exported.unsealed > 0 {
        println!("{} newer events are not sealed yet and not exported", exported.unsealed);
    }
    println!("key: {}", signer.verifier());
    Ok(ExitCode::SUCCESS)
}

/// The ledger for other programs.
async fn write(database: &Database, format: accounting::Format, to: &Path) -> Outcome {
    let mut bar = Bar::new("export");
    let mut progress = |done: i64, total: i64| bar.at(done.unsigned_abs(), total.unsigned_abs());
    let books = accounting::export(&database.pool, format, to, &mut progress).await?;
    let took = bar.finish();
    books.files.iter().for_each(|file| println!("{}", file.display()));
    println!(
        "exported: {} events, {} movements of money, {} ledger accounts in {:.1} s",
        books.events,
        books.movements,
        books.accounts,
        took.as_secs_f64()
    );
    Ok(ExitCode::SUCCESS)
}

fn verify(dir: &Path, key: Option<Verifier>, checkpoints: Option<&Path>) -> Outcome {
    let notes = match checkpoints {
        Some(path) => split(&std::fs::read_to_string(path)?),
        None => Vec::new(),
    };
    let own = key.is_none();
    let mut bar = Bar::new("verify");
    let mut progress = |done: i64, total: i64| bar.at(done.unsigned_abs(), total.unsigned_abs());
    let Verified { report, key, checkpoints, outside, root } =
        audit::verify(dir, &Trusted { key, notes }, &mut progress)?;
    let took = bar.finish();
    print(&report);
    if let Some(difference) = &report.difference {
        println!("DIFFERENT at {difference}");
        return Ok(ExitCode::FAILURE);
    }
    println!(
        "verified: {} events, {} aggregates, {} ledger accounts, {checkpoints} checkpoints ({outside} from outside) in {:.1} s",
        report.events,
        report.aggregates,
        report.accounts,
        took.as_secs_f64()
    );
    println!("root: {}", hex(&root));
    println!(
        "key: {key}{}",
        if own { " (the directory's own: compare it with one kept elsewhere)" } else { "" }
    );
    Ok(ExitCode::SUCCESS)
}

async fn replay(database: &Database) -> Outcome {
    let mut bar = Bar::new("replay");
    let mut progress = |done: i64, total: i64| bar.at(done.unsigned_abs(), total.unsigned_abs());
    let report = audit::replay(&database.pool, &Codec::default(), &mut progress).await?;
    let took = bar.finish();
    print(&report);
    match &report.difference {
        None => {
            println!(
                "equal: {} events, {} aggregates, {} ledger accounts, checked in {:.1} s",
                report.events,
                report.aggregates,
                report.accounts,
                took.as_secs_f64()
            );
            Ok(ExitCode::SUCCESS)
        }
        Some(difference) => {
            println!("DIFFERENT at {difference}");
            Ok(ExitCode::FAILURE)
        }
    }
}

/// The trial balance: one line an account of the bank's own, one for all customers, and the sum.
fn print(report: &Report) {
    for (currency, lines) in &report.trial_balance {
        let width = lines.keys().map(String::len).max().unwrap_or(0);
        println!("trial balance, {currency}, minor units");
        for (line, balance) in lines {
            println!("  {line:<width$} {balance:>24}");
        }
        println!("  {:<width$} {:>24}", "total", report.total(*currency));
    }
}
