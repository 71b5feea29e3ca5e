//! `bursar staff ...`: what staff may do, said by whoever runs the bank's servers. Through the journal, like everything.

use std::collections::BTreeSet;
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use bursar_commands::journal::{JournalOptions, Observer};
use bursar_commands::keys::Keys;
use bursar_commands::users::{self, StaffChange};
use bursar_commands::vault::Secrets;
use bursar_commands::{Context, Journal};
use bursar_domain::kernel::{Permission, Spelled as _, UserId, uuid_v7};
use bursar_domain::users::User;
use bursar_domain::{Metadata, Personal};
use bursar_projections::sessions;
use clap::{Args, Subcommand};
use sqlx::PgPool;

use super::Outcome;
use crate::config::Config;
use crate::database::Database;
use crate::wiring::wire_on;

/// Who acted, as the log says it.
const ACTOR: &str = "system:command-line";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Name everybody who may do more than a customer
    List,
    /// Give somebody permissions; sessions begun from then on have them
    Grant(Named),
    /// Take permissions back; the person's sessions end at once
    Revoke(Named),
}

#[derive(Debug, Args)]
pub(super) struct Named {
    /// Email address or user id
    #[arg(value_name = "EMAIL or USER_ID")]
    who: String,
    /// Such as ACCOUNT_OPS
    #[arg(value_name = "PERMISSION", required = true, value_parser = permission)]
    permissions: Vec<Permission>,
}

pub(super) async fn run(config: &Config, command: Command) -> Outcome {
    let wired = wire_on(config, Database::open_existing(config).await?).await?;
    let wiring = wired.wiring;
    let (pool, Secrets { keys, vault }) = (wiring.pool, wiring.secrets);
    let journal = Journal::open(pool.clone(), wiring.sources, vault, JournalOptions::default()).await?;
    journal.observe(Arc::clone(&wired.clock) as Arc<dyn Observer>);
    let outcome = match command {
        Command::List => list(&journal).await,
        Command::Grant(named) => change(&journal, &pool, &keys, named, true).await,
        Command::Revoke(named) => change(&journal, &pool, &keys, named, false).await,
    };
    journal.close().await;
    wired.database.close().await;
    outcome.map(|()| ExitCode::SUCCESS)
}

async fn list(journal: &Journal) -> Result<(), Box<dyn Error + Send + Sync>> {
    for id in journal.staff().await? {
        let (user, _) = journal.load::<User>(&id.to_string()).await?;
        if user.person().is_some_and(|person| !person.staff_permissions.is_empty()) {
            println!("{}", told(id, &user));
        }
    }
    Ok(())
}

async fn change(
    journal: &Journal,
    pool: &PgPool,
    keys: &Keys,
    named: Named,
    gives: bool,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let Named { who, permissions } = named;
    let id = match who.parse() {
        Ok(id) => Some(id),
        Err(_) => users::by_email(journal, keys, &who).await?,
    };
    let id: UserId = id.ok_or_else(|| format!("nobody here is {who}"))?;
    let sources = journal.sources();
    let live = sessions::count_of_owner(pool, id, None, sources.clock.now()).await?;
    let permissions: BTreeSet<_> = permissions.into_iter().collect();
    let change = if gives {
        StaffChange { grant: permissions, ..StaffChange::default() }
    } else {
        StaffChange { revoke: permissions, sessions: live, ..StaffChange::default() }
    };
    let correlation_id = uuid_v7(sources).as_simple().to_string();
    let context = Context { metadata: Metadata::by(ACTOR, correlation_id), ..Context::default() };
    let committed = users::change_staff(journal, context, id, change).await?;
    let (user, _) = journal.load::<User>(&id.to_string()).await?;
    println!("{}", told(id, &user));
    if committed.events.is_empty() {
        println!("it was so already");
    }
    Ok(())
}

/// Id, email address, permissions.
fn told(id: UserId, user: &User) -> String {
    let person = user.person();
    let email = person.map_or("", |person| Personal::or_erased(&person.email));
    let permissions = person.into_iter().flat_map(|person| &person.staff_permissions);
    let permissions: Vec<&str> = permissions.map(|permission| permission.as_str()).collect();
    format!("{id} {email} {}", permissions.join(" ")).trim_end().to_owned()
}

/// A permission that staff can have.
fn permission(text: &str) -> Result<Permission, String> {
    let staff = || Permission::ALL.iter().copied().filter(|permission| permission.is_staff());
    staff().find(|permission| permission.as_str().eq_ignore_ascii_case(text)).ok_or_else(|| {
        let known: Vec<&str> = staff().map(|permission| permission.as_str()).collect();
        format!("expected one of: {}", known.join(", "))
    })
}
