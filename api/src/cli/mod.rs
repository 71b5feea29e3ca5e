//! The command line of `bursar`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command line prints")]

mod analysts;
mod audit;
mod explain;
mod import;
mod keys;
mod payments;
mod products;
mod progress;
mod projections;
mod serve;
mod sim;
mod staff;
mod subjects;

use std::error::Error;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::config::{Config, Loader};
use crate::database::Database;

pub(crate) use progress::Bar;
pub(crate) use serve::{listen, stop_signal};

/// What a command ends with.
pub(crate) type Outcome = Result<ExitCode, Box<dyn Error + Send + Sync>>;

/// A banking core on one event log.
#[derive(Debug, Parser)]
#[command(name = "bursar", version, about, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Args)]
struct Common {
    /// Address and port to listen on [default: 127.0.0.1:8080]
    #[arg(long, global = true, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Where the embedded Postgres and the master key live [default: ./bursar-data]
    #[arg(long, global = true, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// A Postgres to use instead of the embedded one
    #[arg(long, global = true, value_name = "URL")]
    database_url: Option<String>,
    /// Configuration file [default: bursar.toml, if there is one]
    #[arg(long, global = true, value_name = "FILE", env = "BURSAR_CONFIG")]
    config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the bank
    Serve {
        /// Test bank: messages are shown instead of sent, the clock can be moved. Never for real money
        #[arg(long)]
        sandbox: bool,
    },
    /// Run a test bank with people, accounts and a month of movements in it
    Demo(crate::demo::DemoArgs),
    /// Open a bank from another bank's data: customers, accounts, transactions
    Import(import::ImportArgs),
    /// Bring the database to this version and stop
    Migrate,
    /// Read models: what there is, how far it is, rebuild it, check it
    #[command(subcommand)]
    Projections(projections::Command),
    /// Database users who read the read models in SQL, and nothing else
    #[command(subcommand)]
    Analysts(analysts::Command),
    /// Check the bank from its log
    #[command(subcommand)]
    Audit(audit::Command),
    /// Why a number is what it is: the events that made it, and the arithmetic
    #[command(subcommand)]
    Explain(explain::Command),
    /// Payments, for other systems
    #[command(subcommand)]
    Payments(payments::Command),
    /// What the bank offers
    #[command(subcommand)]
    Products(products::Command),
    /// People and what the bank keeps of them
    #[command(subcommand)]
    Subjects(subjects::Command),
    /// The master key
    #[command(subcommand)]
    Keys(keys::Command),
    /// People who may do more than a customer: name them, give and take back permissions
    #[command(subcommand)]
    Staff(staff::Command),
    /// Run a bank in memory for simulated days, with everything going wrong that can, and check it
    Sim(sim::SimArgs),
    /// Print every setting with its default, as a commented bursar.toml
    Config,
    /// Measure this machine: transfers a second in process and over HTTP, rebuild, replay
    Bench(crate::bench::BenchArgs),
}

/// Runs the command line `arguments` (the program's name first) and tells how it ended.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are "errors" of clap's, with exit code 0; printing can only fail on a closed terminal.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&error),
    };
    let outcome = runtime.block_on(dispatch(cli));
    // A worker that hashes a password does not keep the program from ending.
    runtime.shutdown_background();
    outcome.unwrap_or_else(|error| failed(&*error))
}

fn failed(error: &dyn Error) -> ExitCode {
    eprintln!("bursar: {error}");
    ExitCode::from(2)
}

async fn dispatch(cli: Cli) -> Outcome {
    let config = configure(&cli.common)?;
    match cli.command {
        Command::Serve { sandbox } => {
            let sandbox = sandbox || config.sandbox;
            Box::pin(serve::serve(Config { sandbox, ..config })).await
        }
        Command::Demo(args) => Box::pin(crate::demo::run(config, args)).await,
        Command::Migrate => {
            let database = Database::open(&config).await?;
            println!("up to date: {}", database.whereabouts());
            database.close().await;
            Ok(ExitCode::SUCCESS)
        }
        Command::Import(args) => Box::pin(import::run(&config, args)).await,
        Command::Projections(command) => projections::run(&config, command).await,
        Command::Analysts(command) => analysts::run(&config, command).await,
        Command::Audit(command) => audit::run(&config, command).await,
        Command::Explain(command) => explain::run(&config, command).await,
        Command::Payments(command) => payments::run(&config, command).await,
        Command::Products(command) => products::run(&config, command).await,
        Command::Subjects(command) => Box::pin(subjects::run(&config, command)).await,
        Command::Keys(command) => keys::run(&config, command).await,
        Command::Staff(command) => staff::run(&config, command).await,
        Command::Sim(args) => sim::run(&config, cli.common.config.as_deref(), args).await,
        Command::Config => {
            print!("{}", crate::config::reference());
            Ok(ExitCode::SUCCESS)
        }
        Command::Bench(args) => crate::bench::run(config, args).await,
    }
}

/// Defaults, then the file, then the environment, then the flags.
fn configure(common: &Common) -> Result<Config, Box<dyn Error + Send + Sync>> {
    let file = common.config.as_deref().unwrap_or_else(|| Path::new("bursar.toml"));
    // What is not Unicode is not ours to read.
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut loader = Loader::new().file(file, common.config.is_some())?.environment(variables)?;
    if let Some(listen) = common.listen {
        loader = loader.set("server", "listen", &listen.to_string(), "--listen")?;
    }
    if let Some(data_dir) = &common.data_dir {
        loader = loader.set("", "data_dir", &data_dir.to_string_lossy(), "--data-dir")?;
    }
    if let Some(url) = &common.database_url {
        loader = loader.set("database", "url", url, "--database-url")?;
    }
    Ok(loader.finish()?)
}
