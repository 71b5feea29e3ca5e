//! `bursar keys ...`: for whoever keeps the master key.

use std::path::PathBuf;
use std::process::ExitCode;

use bursar_commands::keys::MasterKey;
use bursar_commands::vault;
use clap::{Args, Subcommand};

use super::{Bar, Outcome};
use crate::config::Config;
use crate::database::Database;
use crate::sources;
use crate::wiring::{self, KeyFile};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Change the master key: wrap every other key anew
    ///
    /// One transaction: writers wait for it, and when it is interrupted nothing has changed. Tokens, passwords and
    /// sessions stay good. Afterwards start every server again, with the new key; until then they answer 503 to whatever
    /// needs a key that they have not read yet. Then destroy the old key and every copy of it: with it, a backup from
    /// before brings erased people back.
    Rotate(Rotate),
}

#[derive(Debug, Args)]
pub(super) struct Rotate {
    /// The file that holds the new key; when there is none, a key is drawn and written there. Needed when the master key is
    /// BURSAR_MASTER_KEY; otherwise the new key takes the place of master.key in the data directory
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
}

pub(super) async fn run(config: &Config, command: Command) -> Outcome {
    let Command::Rotate(rotate) = command;
    let database = Database::open_existing(config).await?;
    let outcome = self::rotate(config, &database, rotate).await;
    database.close().await;
    outcome
}

async fn rotate(config: &Config, database: &Database, rotate: Rotate) -> Outcome {
    let (sources, _) = sources::system();
    let key_file = KeyFile::of(config);
    // Also finishes a rotation whose files have not changed places yet.
    drop(wiring::secrets(config, &database.pool, &sources).await?);
    let to = match (rotate.to, &key_file) {
        (Some(to), _) => to,
        (None, Some(file)) => file.next_path(),
        (None, None) => return Err("name the file of the new key: --to FILE".into()),
    };
    let old = wiring::master_key(config)?;
    let new = match wiring::read_key(&to)? {
        Some(key) => key,
        None => {
            let key = MasterKey::draw(&*sources.entropy);
            wiring::write_key(&to, &key)?;
            key
        }
    };
    let mut bar = Bar::new("rotate");
    let keys =
        vault::rotate(&database.pool, &old, &new, &*sources.entropy, &mut |done, total| bar.at(done, total))
            .await
            .map_err(wiring::WiringError::from)?;
    let took = bar.finish();
    let place = match &key_file {
        Some(file) if to == file.next_path() => {
            file.put_next_in_place()?;
            "in its place in the data directory".to_owned()
        }
        _ => format!("in {}", to.display()),
    };
    println!("{keys} data keys wrapped anew in {:.1} s; the master key is {place}", took.as_secs_f64());
    println!("start the servers again with it, and destroy the old one");
    Ok(ExitCode::SUCCESS)
}
