//! The bank that is measured: a thousand accounts with money in them.

use std::sync::Arc;
use std::time::Duration;

use bursar_commands::accounts::{self, NewAccount};
use bursar_commands::journal::{Holding, JournalOptions};
use bursar_commands::keys::{Keys, MasterKey};
use bursar_commands::passwords::{Password, Passwords};
use bursar_commands::payments::{self, Transfer};
use bursar_commands::vault::{Secrets, unlock};
use bursar_commands::{Context, Journal, Owned, products, users};
use bursar_domain::codec::Codec;
use bursar_domain::kernel::{Sources, UserId};
use bursar_domain::products::AccountType;
use bursar_domain::users::RegisterUser;
use bursar_domain::{Amount, Currency};
use bursar_projections::Projections;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use sqlx::PgPool;

use super::Error;
use super::server::Server;
use crate::config::Config;
use crate::sources::{self, BankClock};

/// Accounts that pay and are paid.
pub(super) const ACCOUNTS: usize = 1_000;
/// People who hold them.
const PEOPLE: usize = 8;
/// Their password.
pub(super) const PASSWORD: &str = "benchmark only, 2026";

/// The bank and what its clients need.
pub(super) struct Bank {
    pub(super) pool: PgPool,
    pub(super) journal: Journal,
    pub(super) master: MasterKey,
    pub(super) sources: Sources,
    pub(super) clock: Arc<BankClock>,
    pub(super) accounts: Arc<Vec<Owned<Holding>>>,
    /// The login of the holder of account `n` is `logins[n % PEOPLE]`.
    pub(super) logins: Vec<String>,
}

impl Bank {
    /// Opens the accounts and funds them.
    pub(super) async fn found(server: &Server, _config: &Config) -> Result<Self, Error> {
        let (sources, clock) = sources::system();
        let pool = server.pool();
        let options = JournalOptions::default();
        let master = MasterKey::draw(&*sources.entropy);
        let Secrets { keys, vault } = unlock(&pool, &master, &sources).await?;
        let journal = Journal::open(pool.clone(), sources.clone(), vault, options).await?;
        let passwords = Passwords::new(&keys, Arc::clone(&sources.entropy))?;
        products::ensure_defaults(&journal).await?;
        let logins: Vec<String> = (0..PEOPLE).map(|n| format!("payer{n}@example.com")).collect();
        let mut holders = Vec::with_capacity(PEOPLE);
        for login in &logins {
            holders.push(register(&journal, &keys, &passwords, login).await?);
        }
        let accounts = stream::iter(0..ACCOUNTS)
            .map(|n| open(&journal, holders[n % PEOPLE]))
            .buffered(64)
            .try_collect::<Vec<_>>()
            .await?;
        Ok(Self { pool, journal, master, sources, clock, accounts: Arc::new(accounts), logins })
    }

    /// A codec with keys of its own, as another process would have.
    pub(super) async fn codec(&self) -> Result<Arc<Codec>, Error> {
        Ok(unlock(&self.pool, &self.master, &self.sources).await?.vault.codec())
    }

    /// Waits until the read models have followed the log to its head.
    pub(super) async fn caught_up(&self, projections: &Projections) -> Result<(), Error> {
        let head = *self.journal.head().borrow();
        Ok(projections.freshness().wait(&[], head, Duration::from_secs(600)).await?)
    }
}

async fn register(
    journal: &Journal,
    keys: &Keys,
    passwords: &Passwords,
    login: &str,
) -> Result<UserId, Error> {
    let person = RegisterUser {
        first_name: "Bench".to_owned(),
        last_name: "Payer".to_owned(),
        email: login.to_owned(),
        phone_number: "+2348030000000".to_owned(),
        date_of_birth: jiff::civil::date(1990, 1, 1),
        country_code: "NG".to_owned(),
        preferred_language: None,
    };
    let registered = users::register(journal, keys, Context::default(), person).await?;
    let user = registered.events.first().ok_or("a registration without an event")?.stream.id.parse()?;
    users::activate(journal, Context::default(), user).await?;
    let password = Password::chosen(PASSWORD.to_owned())?;
    users::set_password(journal, passwords, Context::default(), user, password).await?;
    Ok(user)
}

async fn open(journal: &Journal, holder: UserId) -> Result<Owned<Holding>, Error> {
    let request = NewAccount {
        name: Some("Bench Payer".to_owned()),
        product_id: "CUR-001".to_owned(),
        account_type: Some(AccountType::Current),
        currency: Currency::NGN,
        initial_deposit: None,
        plan: None,
        saves_from: None,
    };
    let opened = accounts::open(journal, &Context::default(), holder, request).await?;
    let number = opened.events.first().ok_or("an opening without an event")?.stream.id.as_str().into();
    let funds = Transfer {
        amount: Amount::try_from(100_000_000)?,
        currency: Currency::NGN,
        narration: None,
        reference: None,
    };
    payments::deposit(journal, Context::default(), number, funds).await?;
    let number = opened.events.first().ok_or("an opening without an event")?.stream.id.as_str().into();
    Ok(accounts::owned(journal, holder, &number).await?)
}
