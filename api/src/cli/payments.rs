//! `bursar payments ...`: for people who hand payments to another system.

use std::error::Error;
use std::fs::OpenOptions;
use std::io::{BufWriter, ErrorKind};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bursar_commands::payments::{LogSoFar, Stretch};
use bursar_domain::kernel::utc_date;
use clap::{Args, Subcommand, ValueEnum};
use jiff::civil::Date;
use jiff::{Timestamp, ToSpan as _};

use super::{Bar, Outcome};
use crate::config::{BankSection, Config};
use crate::database::Database;
use crate::payments::export::{Document, ExportError};
use crate::request::{day_after, midnight};
use crate::wiring;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Write the payments to other banks as ISO 20022 credit transfers
    ///
    /// Every transfer to another bank that was accepted in the range and, as the log says now, is on its way or has
    /// arrived. Not those that came back, whether the rail refused them at once or returned them later, nor those that
    /// were reversed before they arrived: their money never left for good. Transfers inside the bank, wallets and bills
    /// are not in it.
    ///
    /// EndToEndId and TxId are the transaction's id without `txn_`, as AcctSvcrRef in a statement. MsgId is a hash of the
    /// payments: the same payments have the same one, however often they are exported. CreDtTm is the time of the last
    /// event in the log. Which bank this is and what its clearing system is called are settings: bank.code,
    /// bank.name, bank.clearing_system.
    ///
    /// Where there is no payment, no document is written: the schema has none without.
    Export(Export),
}

#[derive(Debug, Args)]
pub(super) struct Export {
    /// What to write
    #[arg(long, value_enum)]
    format: Format,
    /// First UTC day, such as 2026-01-31 [default: the first day of the log]
    #[arg(long, value_name = "DATE", value_parser = day)]
    from: Option<Date>,
    /// Last UTC day, which is included [default: the last day of the log]
    #[arg(long, value_name = "DATE", value_parser = day)]
    to: Option<Date>,
    /// A file for one document, or a directory (with a / at its end if it is to be made) for one a day, named
    /// pacs008-2026-01-31.xml; what is there is not overwritten [default: one document on standard output]
    #[arg(long, value_name = "FILE or DIR")]
    out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// pacs.008.001.08
    Pacs008,
}

pub(super) async fn run(config: &Config, command: Command) -> Outcome {
    let Command::Export(export) = command;
    // The only one; another will need a document of its own.
    let Format::Pacs008 = export.format;
    if export.from.zip(export.to).is_some_and(|(from, to)| from > to) {
        return Err("--from is after --to".into());
    }
    let database = Database::open_existing(config).await?;
    let outcome = write(config, &database, &export).await;
    database.close().await;
    outcome
}

async fn write(config: &Config, database: &Database, export: &Export) -> Outcome {
    let codec = wiring::codec(config, &database.pool).await?;
    let log = LogSoFar::now(&database.pool, &codec).await?;
    let from = export.from.map_or(Timestamp::MIN, midnight);
    let range = log.between(from, export.to.map_or(Timestamp::MAX, day_after)).await?;
    let files = match &export.out {
        None => Vec::new(),
        Some(path) if is_directory(path) => days(&log, range, path).await?,
        Some(path) => vec![(path.clone(), range)],
    };
    if let Some((taken, _)) = files.iter().find(|(path, _)| path.exists()) {
        return Err(format!("{} is there already, and is not overwritten", taken.display()).into());
    }
    // The log is read twice.
    let mut progress =
        Progress { bar: Bar::new("export"), read: 0, events: range.events().saturating_mul(2) };
    let mut lines = Vec::new();
    if export.out.is_none() {
        lines.extend(to_stdout(&log, range, &config.bank, &mut progress).await?);
    }
    for (path, stretch) in &files {
        let document =
            Document::begin(&log, *stretch, &config.bank, &mut |events| progress.read(events)).await?;
        if let Some(document) = document {
            to_file(&document, path, &mut progress)
                .await
                .map_err(|error| format!("{}: {error}", path.display()))?;
            lines.push(format!("{}: {}", path.display(), told(&document)));
        }
    }
    progress.bar.finish();
    if lines.is_empty() {
        eprintln!("bursar: there is no payment to write");
    }
    lines.iter().for_each(|line| eprintln!("{line}"));
    Ok(ExitCode::SUCCESS)
}

/// How far the reading is.
struct Progress {
    bar: Bar,
    read: u64,
    events: u64,
}

impl Progress {
    fn read(&mut self, events: u64) {
        self.read = self.read.saturating_add(events);
        self.bar.at(self.read, self.events);
    }
}

fn told(document: &Document<'_>) -> String {
    let total = document.total();
    format!("payments {}, control sum {}", total.transfers(), total.sum())
}

/// Answers the line that tells of it, if there was a payment.
async fn to_stdout(
    log: &LogSoFar<'_>,
    range: Stretch,
    bank: &BankSection,
    progress: &mut Progress,
) -> Result<Option<String>, ExportError> {
    let document = Document::begin(log, range, bank, &mut |events| progress.read(events)).await?;
    let Some(document) = document else { return Ok(None) };
    let mut out = BufWriter::new(std::io::stdout());
    match document.write(&mut out, &mut |events| progress.read(events)).await {
        Ok(()) => Ok(Some(told(&document))),
        // Whoever reads has read enough.
        Err(ExportError::Output(error)) if error.kind() == ErrorKind::BrokenPipe => {
            Ok(Some("nobody reads on".to_owned()))
        }
        Err(error) => Err(error),
    }
}

/// The file has its name when it is whole; only we can read it.
async fn to_file(document: &Document<'_>, path: &Path, progress: &mut Progress) -> Result<(), ExportError> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".part");
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
    let mut out = BufWriter::new(file);
    document.write(&mut out, &mut |events| progress.read(events)).await?;
    out.get_ref().sync_all()?;
    Ok(std::fs::rename(&unfinished, path)?)
}

/// A file for each UTC day on which something happened, in a directory that is made if need be.
async fn days(
    log: &LogSoFar<'_>,
    range: Stretch,
    directory: &Path,
) -> Result<Vec<(PathBuf, Stretch)>, Box<dyn Error + Send + Sync>> {
    std::fs::create_dir_all(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let Some((first, last)) = log.times(range).await? else { return Ok(Vec::new()) };
    let mut files = Vec::new();
    for day in utc_date(first).series(1.day()).take_while(|day| *day <= utc_date(last)) {
        let stretch = log.between(midnight(day), day_after(day)).await?;
        if stretch.events() > 0 {
            files.push((directory.join(format!("pacs008-{day}.xml")), stretch));
        }
    }
    Ok(files)
}

fn is_directory(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

/// A day and nothing else: a timestamp has one in it, and is not one.
fn day(text: &str) -> Result<Date, String> {
    let wrong = || "expected a date such as 2026-01-31".to_owned();
    let day: Date = text.parse().map_err(|_| wrong())?;
    if day.to_string() == text { Ok(day) } else { Err(wrong()) }
}
