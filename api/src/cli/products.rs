//! `bursar products ...`: what the bank offers, said by whoever runs its servers. Through the journal, like everything.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use bursar_commands::journal::{JournalOptions, Observer};
use bursar_commands::products::{self, Catalogue};
use bursar_commands::{Context, Journal};
use bursar_domain::Metadata;
use bursar_domain::kernel::uuid_v7;
use clap::Subcommand;

use super::Outcome;
use crate::config::Config;
use crate::database::Database;
use crate::products::read_file;
use crate::wiring::wire_on;

/// Who acted, as the log says it.
const ACTOR: &str = "system:command-line";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Put the products of a JSON file on offer, or change them: all of it or nothing
    ///
    /// {"accountProducts": [{"productId": "SAV-002", ...}], "loanProducts": [...]}, each with the fields of
    /// POST /v1/staff/account-products and /v1/staff/loan-products. What runs on a product stays as it was agreed; a product that
    /// the file does not name stays as it is. A second time changes nothing.
    Import {
        /// The file
        file: PathBuf,
    },
}

pub(super) async fn run(config: &Config, command: Command) -> Outcome {
    let Command::Import { file } = command;
    // A file that cannot be meant needs no bank.
    let catalogue = read(&file)?;
    let wired = wire_on(config, Database::open_existing(config).await?).await?;
    let wiring = wired.wiring;
    let vault = wiring.secrets.vault;
    let journal = Journal::open(wiring.pool, wiring.sources, vault, JournalOptions::default()).await?;
    journal.observe(Arc::clone(&wired.clock) as Arc<dyn Observer>);
    let outcome = import(&journal, catalogue).await;
    journal.close().await;
    wired.database.close().await;
    outcome.map(|()| ExitCode::SUCCESS)
}

/// Every error of the file, a line each.
pub(super) fn read(file: &Path) -> Result<Catalogue, Box<dyn Error + Send + Sync>> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    read_file(&text).map_err(|faults| {
        let lines =
            faults.iter().map(|fault| format!("\n  {}: {} ({})", fault.pointer, fault.message, fault.code));
        format!("{}: nothing was imported{}", file.display(), lines.collect::<String>()).into()
    })
}

async fn import(journal: &Journal, catalogue: Catalogue) -> Result<(), Box<dyn Error + Send + Sync>> {
    let named = catalogue.accounts.len() + catalogue.loans.len();
    let correlation_id = uuid_v7(journal.sources()).as_simple().to_string();
    let metadata = Metadata::by(ACTOR, correlation_id);
    let context = Context { metadata, ..Context::default() };
    let committed = products::import(journal, context, catalogue).await?;
    for recorded in &committed.events {
        println!("{} {}", recorded.stream.id, recorded.event.name());
    }
    println!("{} of {named} products changed", committed.events.len());
    Ok(())
}
