//! `bursar sim`: years of a bank in a minute, in memory, with everything going wrong that can.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bursar_commands::products::Catalogue;
use bursar_commands::sim::{self, Broken, Fault, Options, SimError, Summary};
use bursar_domain::kernel::Spelled as _;
use clap::Args;

use super::products::read;
use super::{Bar, Outcome};
use crate::config::Config;

#[derive(Debug, Args)]
pub(super) struct SimArgs {
    /// Everything that happens follows from it: equal seeds make equal logs, byte for byte
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many days
    #[arg(long, default_value_t = 365, value_parser = clap::value_parser!(u32).range(1..=36_500))]
    days: u32,
    /// What goes wrong, separated by commas: crash, duplicate, reorder, slow; or none
    #[arg(long, default_value = "crash,duplicate,reorder,slow")]
    faults: String,
    /// How many people have accounts
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    customers: u32,
    /// What they want a day
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    operations: u32,
    /// A file of products, as `bursar products import` takes it, to put on offer beside those that a bank begins with
    #[arg(long, value_name = "FILE")]
    products: Option<PathBuf>,
    /// Break the bank, to see that the checks find it
    #[arg(long, hide = true)]
    broken: Option<Broken>,
}

impl SimArgs {
    fn faults(&self) -> Result<Vec<Fault>, Box<dyn Error + Send + Sync>> {
        if self.faults == "none" {
            return Ok(Vec::new());
        }
        let mut faults = Vec::new();
        for name in self.faults.split(',') {
            let fault = name.trim().parse().map_err(|_| {
                format!("--faults: there is no {name:?}; known are {}, none", Fault::SPELLINGS.join(", "))
            })?;
            if !faults.contains(&fault) {
                faults.push(fault);
            }
        }
        Ok(faults)
    }

    /// The command that does the same again, for so many days.
    fn again(&self, config: Option<&Path>, days: u32) -> String {
        let Self { seed, faults, customers, operations, .. } = self;
        let mut command = format!(
            "bursar sim --seed {seed} --days {days} --faults {faults} --customers {customers} --operations {operations}"
        );
        for (flag, path) in [("--products", self.products.as_deref()), ("--config", config)] {
            if let Some(path) = path {
                // Writing to a string does not fail.
                let _ = write!(command, " {flag} '{}'", path.display());
            }
        }
        if let Some(broken) = self.broken {
            let _ = write!(command, " --broken {broken}");
        }
        command
    }
}

pub(super) async fn run(config: &Config, file: Option<&Path>, args: SimArgs) -> Outcome {
    let options = Options {
        seed: args.seed,
        days: args.days,
        faults: args.faults()?,
        customers: args.customers,
        operations: args.operations,
        products: args.products.as_deref().map_or_else(|| Ok(Catalogue::default()), read)?,
        dormant_after_days: config.accounts.dormant_after_days,
        keep_keys_days: config.journal.keep_keys_days.into(),
        broken: args.broken,
    };
    // It has a time of its own, and so a thread of its own.
    let simulated = tokio::task::spawn_blocking(move || {
        let mut bar = Bar::new("days");
        let simulated = sim::run(&options, &mut |done, total| bar.at(done.into(), total.into()));
        (simulated, bar.finish())
    });
    let (simulated, took) = simulated.await?;
    match simulated {
        Ok(summary) => {
            print!("{}", told(&args, &summary, took));
            Ok(ExitCode::SUCCESS)
        }
        Err(SimError::Failed(failure)) => {
            eprintln!("FAILED on {failure}\n\nto see it again:\n  {}", args.again(file, failure.day));
            Ok(ExitCode::FAILURE)
        }
        Err(error) => Err(error.into()),
    }
}

fn told(args: &SimArgs, summary: &Summary, took: std::time::Duration) -> String {
    let Summary { days, events, kinds: _, operations, refusals, due_work, troubles, checks, root } = summary;
    let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX).max(1);
    let rate = (*events as u64).saturating_mul(1_000) / millis;
    let trouble = format!(
        "{} crashes, {} connections lost, {} repeats, {} held up, {} slow answers",
        troubles.crashes, troubles.lost, troubles.duplicates, troubles.reordered, troubles.slow
    );
    let refused: u64 = refusals.values().sum();
    let mut codes: Vec<_> = refusals.iter().collect();
    codes.sort_by_key(|(code, times)| (std::cmp::Reverse(**times), **code));
    let codes: Vec<String> = codes.iter().take(4).map(|(code, times)| format!("{code} {times}")).collect();
    let root = root.iter().fold(String::new(), |mut hex, byte| {
        // Writing to a string does not fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    let lines = [
        ("seed", args.seed.to_string()),
        ("days", days.to_string()),
        ("events", events.to_string()),
        ("operations", operations.to_string()),
        ("refusals", format!("{refused}: {}", codes.join(", "))),
        ("due work", due_work.to_string()),
        ("trouble", trouble),
        ("checks", format!("{checks}, all passed")),
        ("speed", format!("{rate} events/s, {}.{:01} s", millis / 1_000, millis % 1_000 / 100)),
        ("root", root),
    ];
    lines.iter().fold(String::new(), |mut text, (name, value)| {
        let _ = writeln!(text, "{name:<11} {value}");
        text
    })
}
