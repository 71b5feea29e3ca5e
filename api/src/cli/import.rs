//! `bursar import`: opens a bank from another bank's data.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use bursar_commands::imports::Names;
use bursar_commands::journal::{JournalOptions, Observer, imported};
use bursar_commands::reference::embedded;
use bursar_commands::vault::Secrets;
use bursar_commands::{Journal, loan_products, products};
use bursar_domain::Currency;
use bursar_domain::cards::CardLimits;
use bursar_projections::{Held, ModelState, Projections};
use clap::Args;
use serde_json::{Value, json};

use super::{Bar, Outcome};
use crate::config::Config;
use crate::database::Database;
use crate::import::{self, Checked, Difference, Import};
use crate::wiring::wire_on;

/// How often the read models are asked how far they are.
const LOOK_EVERY: Duration = Duration::from_millis(200);

#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// The directory with customers.csv and the other files
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Look at everything, and write nothing
    #[arg(long)]
    check: bool,
    /// The bank that the data come from; two banks may give one name to two things
    #[arg(long, default_value = "default", value_name = "NAME")]
    source: String,
    /// Write the data of a bank that never was, with so many transactions, into the directory instead
    #[arg(long, value_name = "ROWS", conflicts_with_all = ["check", "report"])]
    generate: Option<u64>,
    /// Write what was found into this file too, as JSON
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

pub(super) async fn run(config: &Config, args: ImportArgs) -> Outcome {
    if let Some(rows) = args.generate {
        import::generate(&args.dir, rows)?;
        println!("{} holds a bank with {rows} transactions", args.dir.display());
        return Ok(ExitCode::SUCCESS);
    }
    let wired = wire_on(config, Database::open(config).await?).await?;
    let wiring = wired.wiring;
    let (pool, Secrets { keys, vault }) = (wiring.pool, wiring.secrets);
    let codec = vault.codec();
    let journal = Journal::open(pool.clone(), wiring.sources, vault, JournalOptions::default()).await?;
    journal.observe(Arc::clone(&wired.clock) as Arc<dyn Observer>);
    let unfinished = imported::unfinished(&pool).await?;
    let name = args.source.clone();
    if let Some(other) = unfinished.as_ref().filter(|other| **other != name) {
        return Err(
            format!("an import of {other} is not finished: finish it first (--source {other})").into()
        );
    }
    let lookup = embedded()?;
    let import = Import {
        dir: args.dir.clone(),
        journal: &journal,
        pool: &pool,
        keys: Arc::clone(&keys),
        names: Names::new(keys, name.clone()),
        places: &lookup.places,
        reference: &lookup.reference,
        card_limits: CardLimits {
            currency: config.cards.currency,
            daily: config.cards.daily_limit,
            monthly: config.cards.monthly_limit,
        },
        minimum_age: config.users.minimum_age,
        now: journal.sources().clock.now(),
        resumed: unfinished.is_some(),
    };
    let outcome = on(&import, &args).await;
    let outcome = match outcome {
        Ok(code) if code == ExitCode::SUCCESS && !args.check => {
            let projections = Projections::start(pool.clone(), codec, journal.head());
            let caught_up = catch_up(&projections, *journal.head().borrow()).await;
            projections.stop().await;
            caught_up.map(|()| code)
        }
        other => other,
    };
    journal.close().await;
    wired.database.close().await;
    outcome
}

async fn on(import: &Import<'_>, args: &ImportArgs) -> Outcome {
    let mut bar = Bar::new("check");
    let checked = import::check(import, &mut |done, total| bar.at(done, total)).await?;
    let took = bar.finish();
    println!("checked: {} rows in {:.1} s", checked.rows(), took.as_secs_f64());
    if checked.problems.count() > 0 {
        checked.problems.lines().for_each(|line| println!("{line}"));
        println!("{} problems; nothing was written", checked.problems.count());
        write_report(args, &checked, &Report::default())?;
        return Ok(ExitCode::FAILURE);
    }
    if args.check || (checked.new_rows() == 0 && !import.resumed) {
        tell(&checked, 0);
        println!("{}", if args.check { "nothing is wrong; nothing was written" } else { "nothing is new" });
        write_report(args, &checked, &Report::default())?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(held) = Held::take(import.pool).await? else {
        return Err(
            "a server is up on this bank: stop it, what is taken over has a past that nobody may be in"
                .into(),
        );
    };
    let report = write(import, args, &checked).await;
    held.release().await?;
    let report = report?;
    tell(&checked, report.written);
    report.tell();
    write_report(args, &checked, &report)?;
    Ok(if report.differences.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What an import has come to.
#[derive(Default)]
struct Report {
    written: u64,
    differences: Vec<Difference>,
    trial_balance: Vec<imported::TrialLine>,
}

async fn write(
    import: &Import<'_>,
    args: &ImportArgs,
    checked: &Checked,
) -> Result<Report, Box<dyn Error + Send + Sync>> {
    products::ensure_defaults(import.journal).await?;
    loan_products::ensure_defaults(import.journal).await?;
    // From here on no server opens the bank, until a run of this import has come to its end.
    imported::under_way(import.pool, &args.source).await?;
    let mut bar = Bar::new("import");
    let written = import::post(import, checked, &mut |done, total| bar.at(done, total)).await?;
    let took = bar.finish();
    let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX).max(1);
    let rate = written.saturating_mul(1000) / millis;
    println!("written: {written} rows in {:.1} s, {rate} rows/s", took.as_secs_f64());
    let differences = import::differences(import, checked).await?;
    if differences.is_empty() {
        imported::under_way(import.pool, "").await?;
    }
    let trial_balance = imported::trial_balance(import.pool).await?;
    Ok(Report { written, differences, trial_balance })
}

/// Waits until the read models have what was written.
async fn catch_up(projections: &Projections, head: i64) -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut bar = Bar::new("read models");
    loop {
        let models = projections.status();
        let parked = models.iter().find_map(|model| match &model.state {
            ModelState::Parked { position, reason } => Some((model.name, *position, reason.clone())),
            ModelState::Following => None,
        });
        if let Some((name, position, reason)) = parked {
            return Err(format!("the read model {name} stops at position {position}: {reason}").into());
        }
        let slowest = models.iter().map(|model| model.position).min().unwrap_or(head);
        bar.at(slowest.unsigned_abs(), head.unsigned_abs());
        if slowest >= head {
            break;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    let took = bar.finish();
    println!("read models: at position {head} after {:.1} s", took.as_secs_f64());
    Ok(())
}

fn tell(checked: &Checked, written: u64) {
    for (file, count) in &checked.counts {
        println!("{file:<18} {:>10} rows, {:>10} known before", count.rows, count.known);
    }
    for (currency, sums) in &checked.sums {
        let Ok(unit) = currency.parse::<Currency>() else { continue };
        println!("{currency}, major units");
        for (what, sum) in [
            ("opening", sums.opening),
            ("credits", sums.credits),
            ("debits", -sums.debits),
            ("closing", sums.closing),
        ] {
            println!("  {what:<10} {:>24}", unit.decimal(sum));
        }
    }
    println!("{written} rows were written");
}

impl Report {
    fn tell(&self) {
        let mut currency = None;
        let width = self.trial_balance.iter().map(|line| line.account.len()).max().unwrap_or(0).max(5);
        for line in &self.trial_balance {
            if currency.replace(line.currency) != Some(line.currency) {
                println!("trial balance, {}, minor units", line.currency);
            }
            println!("  {:<width$} {:>24}", line.account, line.balance);
        }
        for difference in &self.differences {
            let Difference { source_id, account_number, expected, found } = difference;
            let found = found.map_or("no such account".to_owned(), |found| found.to_string());
            println!("DIFFERENT: account {account_number} ({source_id}): expected {expected}, found {found}");
        }
        if self.differences.is_empty() {
            println!("every balance is equal");
        }
    }
}

fn write_report(args: &ImportArgs, checked: &Checked, report: &Report) -> Result<(), std::io::Error> {
    let Some(path) = &args.report else { return Ok(()) };
    let balance: Vec<Value> = report
        .trial_balance
        .iter()
        // Sums beyond 64 bits: as text, so that no reader rounds them.
        .map(|line| json!({ "currency": line.currency.as_str(), "account": line.account, "balance": line.balance.to_string() }))
        .collect();
    let sums: serde_json::Map<String, Value> = checked
        .sums
        .iter()
        .map(|(currency, sums)| {
            let all = json!({
                "opening": sums.opening.to_string(), "credits": sums.credits.to_string(),
                "debits": sums.debits.to_string(), "closing": sums.closing.to_string(),
            });
            (currency.clone(), all)
        })
        .collect();
    let whole = json!({
        "problems": checked.problems, "count": checked.problems.count(), "files": checked.counts, "sums": sums,
        "written": report.written, "differences": report.differences, "trialBalance": balance,
    });
    std::fs::write(path, format!("{whole:#}\n"))
}
