//! `bursar subjects ...`: people and what the bank keeps of them.

use std::process::ExitCode;

use bursar_commands::journal::JournalOptions;
use bursar_commands::vault::Secrets;
use bursar_commands::{CommandError, Context, Journal, users};
use bursar_domain::Metadata;
use bursar_domain::kernel::{Permission, UserId};
use bursar_domain::users::User;
use bursar_projections::Projections;
use clap::{Args, Subcommand};

use super::Outcome;
use crate::config::Config;
use crate::database::Database;
use crate::interest::ReadDayEnds;
use crate::{sources, wiring};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Erase a person: destroy the key of everything personal that was ever recorded of them
    ///
    /// As POST /v1/staff/subjects/{userId}/erase does it, in one go: one member of staff asks, another agrees. Balances,
    /// entries and proofs stay.
    Erase(Erase),
}

#[derive(Debug, Args)]
pub(super) struct Erase {
    /// Whom: a user id (usr_...)
    user: UserId,
    /// The member of staff who asks; a user id with the permission PII_ERASE
    #[arg(long, value_name = "USER_ID")]
    maker: UserId,
    /// The member of staff who agrees; somebody else with it
    #[arg(long, value_name = "USER_ID")]
    checker: UserId,
    /// Why, for the file, where it stays readable: no name belongs in it
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

pub(super) async fn run(config: &Config, command: Command) -> Outcome {
    let Command::Erase(wanted) = command;
    let database = Database::open_existing(config).await?;
    let outcome = Box::pin(erase(config, &database, wanted)).await;
    database.close().await;
    outcome
}

async fn erase(config: &Config, database: &Database, wanted: Erase) -> Outcome {
    let (sources, _) = sources::system();
    let Secrets { keys, vault } = wiring::secrets(config, &database.pool, &sources).await?;
    let codec = vault.codec();
    let journal = Journal::open(database.pool.clone(), sources, vault, JournalOptions::default()).await?;
    for staff in [wanted.maker, wanted.checker] {
        let (user, _) = journal.load::<User>(&staff.to_string()).await?;
        if !user.permissions().contains(&Permission::PiiErase) {
            return Err(format!("{staff} has not the permission PII_ERASE").into());
        }
    }
    if wanted.maker == wanted.checker {
        return Err("another member of staff must agree".into());
    }
    let (person, _) = journal.load::<User>(&wanted.user.to_string()).await?;
    let pending = person.person().is_some_and(|person| person.erasure.is_some());
    let steps = [Some(wanted.maker).filter(|_| !pending), Some(wanted.checker)];
    // What their accounts have earned is read from tables that nobody may be keeping up to date now.
    let projections = Projections::start(database.pool.clone(), codec, journal.head());
    let days = ReadDayEnds::new(database.pool.clone(), projections.freshness());
    let all = async {
        for by in steps.into_iter().flatten() {
            let metadata = Metadata::by(by.to_string(), "bursar subjects erase");
            let context = Context { metadata, ..Context::default() };
            users::erase(&journal, &keys, &days, context, by, wanted.user, wanted.reason.clone()).await?;
        }
        Ok::<(), CommandError>(())
    };
    let outcome = all.await;
    projections.stop().await;
    journal.close().await;
    outcome?;
    println!("{} is erased", wanted.user);
    Ok(ExitCode::SUCCESS)
}
