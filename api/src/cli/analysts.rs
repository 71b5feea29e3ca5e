//! `bursar analysts ...`: database users who read the read models in SQL.

use std::process::ExitCode;

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::{hmac, pbkdf2};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bursar_domain::Entropy;
use bursar_projections::analysts::{self, Allowance};
use clap::{Args, Subcommand};
use sqlx::{ConnectOptions as _, Connection as _};

use super::Outcome;
use crate::config::Config;
use crate::database::Database;
use crate::sources;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Make a user who may read the schemas read and reference; prints the password, once
    CreateUser(New),
    /// Name everybody who is one
    List,
    /// Take a user away and end their sessions
    DropUser {
        /// The user
        name: String,
    },
}

#[derive(Debug, Args)]
pub(super) struct New {
    /// The user: lower case, digits, underscores
    #[arg(value_parser = user_name)]
    name: String,
    /// Seconds after which a statement is cancelled
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    statement_timeout: u32,
    /// Connections at once
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=100))]
    connections: u16,
    /// A new password for somebody who is there already
    #[arg(long)]
    new_password: bool,
}

pub(super) async fn run(config: &Config, command: Command) -> Outcome {
    let database = Database::open_existing(config).await?;
    let mut db = database.pool.connect_options().as_ref().clone().connect().await?;
    match command {
        Command::CreateUser(new) => create(&mut db, new).await?,
        Command::List => {
            for analyst in analysts::list(&mut db).await? {
                let settings = analyst.settings.join(", ");
                println!("{} at most {} connections, {settings}", analyst.name, analyst.connections);
            }
        }
        Command::DropUser { name } => {
            analysts::remove(&mut db, &name).await?;
            println!("{name} is gone");
        }
    }
    db.close().await?;
    database.close().await;
    Ok(ExitCode::SUCCESS)
}

async fn create(
    db: &mut sqlx::PgConnection,
    new: New,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let allowance = Allowance { statement_seconds: new.statement_timeout, connections: new.connections };
    let is_known = analysts::list(&mut *db).await?.iter().any(|analyst| analyst.name == new.name);
    let password = (!is_known || new.new_password).then(|| {
        let (sources, _) = sources::system();
        Password::new(&*sources.entropy)
    });
    let verifier = password.as_ref().map(|password| password.verifier.as_str());
    analysts::create(db, &new.name, verifier, allowance).await?;
    match password {
        Some(password) => {
            println!("user      {}\npassword  {}", new.name, password.text);
            eprintln!(
                "The password is shown this once. It reads the schemas read and reference, and nothing else."
            );
        }
        None => println!("{} is there already, and may read what there is today", new.name),
    }
    Ok(())
}

/// A password, and what Postgres keeps of it: the statement that sets it may be logged.
struct Password {
    text: String,
    verifier: String,
}

impl Password {
    fn new(entropy: &dyn Entropy) -> Self {
        const ROUNDS: std::num::NonZeroU32 = std::num::NonZeroU32::MIN.saturating_add(4_095);
        let (mut secret, mut salt, mut salted) = ([0; 24], [0; 16], [0; 32]);
        entropy.fill(&mut secret);
        entropy.fill(&mut salt);
        let text = URL_SAFE_NO_PAD.encode(secret);
        // RFC 5803: what a server keeps for SCRAM-SHA-256 (RFC 7677).
        pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, ROUNDS, &salt, text.as_bytes(), &mut salted);
        let key = hmac::Key::new(hmac::HMAC_SHA256, &salted);
        let client = digest(&SHA256, hmac::sign(&key, b"Client Key").as_ref());
        let server = hmac::sign(&key, b"Server Key");
        let encode = |bytes: &[u8]| STANDARD.encode(bytes);
        let verifier = format!(
            "SCRAM-SHA-256${ROUNDS}:{}${}:{}",
            encode(&salt),
            encode(client.as_ref()),
            encode(server.as_ref())
        );
        Self { text, verifier }
    }
}

/// A name that needs no quotes in SQL.
fn user_name(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let is_good = (1..=63).contains(&text.len())
        && text.chars().all(plain)
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && !text.starts_with("pg_");
    if is_good { Ok(text.to_owned()) } else { Err("1 to 63 lower case letters, digits and _".to_owned()) }
}
