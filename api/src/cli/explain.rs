//! `bursar explain ...`: why a number is what it is.

use std::process::ExitCode;

use bursar_domain::AccountNumber;
use bursar_domain::kernel::{LoanId, MandateId};
use bursar_projections::accounts::{self, AccountField};
use bursar_projections::loans::{self, LoanField};
use bursar_projections::mandates::{self, MandateField};
use bursar_projections::{Explanation, Step};
use clap::Subcommand;

use super::Outcome;
use crate::config::Config;
use crate::database::Database;
use crate::wiring;

/// Steps that are printed one by one.
const STEPS: usize = 1_000;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// An account's: ledgerBalance, availableBalance or holds
    Account {
        /// Its number
        number: AccountNumber,
        /// Which number of it
        #[arg(default_value_t = AccountField::AvailableBalance)]
        field: AccountField,
    },
    /// A loan's: remainingBalance, interestOutstanding, totalPaid, payoffAmount or nextInstalment
    Loan {
        /// Its id
        id: LoanId,
        /// Which number of it
        #[arg(default_value_t = LoanField::RemainingBalance)]
        field: LoanField,
    },
    /// A standing instruction's: executionCount, totalAmountExecuted or failureCount
    Mandate {
        /// Its id
        id: MandateId,
        /// Which number of it
        #[arg(default_value_t = MandateField::TotalAmountExecuted)]
        field: MandateField,
    },
}

pub(super) async fn run(config: &Config, command: Command) -> Outcome {
    let database = Database::open_existing(config).await?;
    let outcome = explain(config, &database, command).await;
    database.close().await;
    outcome
}

async fn explain(config: &Config, database: &Database, command: Command) -> Outcome {
    let codec = wiring::codec(config, &database.pool).await?;
    let (pool, codec) = (&database.pool, &*codec);
    let (name, found) = match &command {
        Command::Account { number, field } => {
            (field.as_str(), accounts::explain(pool, codec, number, *field, None, STEPS).await?)
        }
        Command::Loan { id, field } => {
            (field.as_str(), loans::explain(pool, codec, *id, *field, None, STEPS).await?)
        }
        Command::Mandate { id, field } => {
            (field.as_str(), mandates::explain(pool, codec, *id, *field, None, STEPS).await?)
        }
    };
    let Some(Explanation { earlier, opening, steps, result }) = found else {
        return Err("there is nothing of that name".into());
    };
    println!("{:>12}  {:<27}  {:<24} {:>20} {:>20}", "position", "time", "event", "added", name);
    if earlier > 0 {
        println!(
            "{:>12}  {:<27}  {:<24} {opening:>20} {opening:>20}",
            "",
            "",
            format!("{earlier} earlier events")
        );
    }
    for Step { position, recorded_at, event, subject, added, result } in steps {
        println!(
            "{position:>12}  {:<27}  {event:<24} {added:>20} {result:>20}  {subject}",
            recorded_at.to_string()
        );
    }
    println!("{:>12}  {:<27}  {:<24} {:>20} {result:>20}", "", "", "it is", "");
    Ok(ExitCode::SUCCESS)
}
