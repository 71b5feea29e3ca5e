//! `bursar demo`: a sandbox bank with people, accounts and a month behind it, in one command.

#![allow(clippy::print_stdout, reason = "a command line prints")]

mod contracts;
mod people;
mod seed;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use bursar_domain::kernel::UserId;
use bursar_domain::products::AccountType;
use bursar_projections::accounts::AccountFilter;
use bursar_projections::{Page, Sort};
use clap::Args;
use jiff::SignedDuration;

use crate::app::{self, App};
use crate::cli::{Outcome, listen, stop_signal};
use crate::config::Config;
use crate::sources::BankClock;
use crate::{telemetry, wiring};
pub(crate) use people::name;
use people::{PASSWORD, PEOPLE};
use seed::Seed;

/// Flags of `bursar demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Days of movements, ending now
    #[arg(long, default_value_t = 30)]
    days: u32,
    /// Customers beside the six people with a login
    #[arg(long, default_value_t = 200)]
    customers: usize,
    /// Keep the rate limits on
    #[arg(long)]
    rate_limits: bool,
}

/// Serves a sandbox bank, filled first when its log is empty.
pub(crate) async fn run(mut config: Config, args: DemoArgs) -> Outcome {
    config.sandbox = true;
    config.limits.enabled = args.rate_limits;
    // The demo's terminal is for its curl lines.
    if config.telemetry.log == crate::config::Telemetry::default().log {
        config.telemetry.log = "warn".to_owned();
    }
    let telemetry = telemetry::start(&config.telemetry)?;
    let listener = listen(config.server.listen).await?;
    println!("opening the bank in {} ...", config.data_dir.display());
    let wired = wiring::wire(&config).await?;
    let now = wired.wiring.sources.clock.now();
    let (position, _) = bursar_commands::journal::head(&wired.database.pool).await?;
    if position == 0 {
        // A past needs a clock that starts there.
        wired.clock.set(now - SignedDuration::from_hours(24 * i64::from(args.days)));
    }
    let app = App::build(config, wired.wiring).await?;
    if position == 0 {
        Seed::of(&app, &wired.clock).run(now, args.days, args.customers).await?;
    }
    introduce(&app, listener.local_addr()?, &wired.database.whereabouts()).await?;
    app::serve(app, listener, stop_signal()?).await;
    wired.database.close().await;
    telemetry.stop();
    Ok(ExitCode::SUCCESS)
}

/// Registers the six people with a login, and opens and funds the customers' accounts.
///
/// # Errors
/// Whatever a command of theirs answers.
pub async fn people(app: &App, clock: &BankClock) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    Seed::of(app, clock).run(app.journal.sources().clock.now(), 0, 0).await
}

type Error = Box<dyn std::error::Error + Send + Sync>;

/// The current account of somebody with a login.
async fn account_of(app: &App, email: &str) -> Result<String, Error> {
    let user = bursar_commands::users::by_email(&app.journal, &app.keys, email).await?;
    let user: UserId = user.ok_or("the demo's people are not in this bank")?;
    let head = *app.journal.head().borrow();
    app.freshness.wait(&[], head, Duration::from_secs(60)).await?;
    let filter = AccountFilter { account_type: Some(AccountType::Current), ..AccountFilter::default() };
    let page = Page { page: 1, size: 1 };
    let found =
        bursar_projections::accounts::of_owner(&app.pool, user, &filter, Sort::default(), page).await?;
    Ok(found.items.first().ok_or("somebody of the demo has no account")?.account_number.to_string())
}

async fn introduce(app: &App, address: SocketAddr, whereabouts: &str) -> Result<(), Error> {
    let (ada, bola) = (account_of(app, "ada@example.com").await?, account_of(app, "bola@example.com").await?);
    let data_dir = app.config.data_dir.display().to_string();
    let staff = |email: &str| PEOPLE.iter().any(|p| p.email == email && !p.is_customer());
    println!();
    println!("bursar demo (sandbox: no real money, messages are not sent)");
    println!("  bank       http://{address}");
    println!("  documents  http://{address}/docs");
    println!(
        "  console    http://{address}/console  (approver@example.com decides, teller@example.com prepares)"
    );
    println!("  data       {whereabouts}");
    println!();
    println!("people, all with the password {PASSWORD}");
    for person in &PEOPLE {
        let what = if staff(person.email) { "staff" } else { "customer" };
        println!("  {:<24} {what:<9} {} {}", person.email, person.first_name, person.last_name);
    }
    println!();
    println!("paste these, one after another");
    println!();
    println!("# log in as Ada");
    println!(
        r#"TOKEN=$(curl -s http://{address}/v1/users/password/login -H 'Content-Type: application/json' -d '{{"username":"ada@example.com","password":"{PASSWORD}","deviceInfo":{{"deviceId":"my-laptop","deviceType":"DESKTOP"}}}}' | sed -E 's/.*"accessToken":"([^"]+)".*/\1/')"#
    );
    println!("# her balance, in kobo");
    println!(r#"curl -s http://{address}/v1/accounts/{ada}/balance -H "Authorization: Bearer $TOKEN"; echo"#);
    println!("# pay Bola 2,500 naira; paste it twice: the same key pays once");
    println!(
        r#"curl -s http://{address}/v1/payments/transfer/internal -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -H 'Idempotency-Key: first-transfer' -d '{{"sourceAccount":"{ada}","destinationAccount":"{bola}","destinationName":"Bola Adeyemi","amount":250000,"currency":"NGN","narration":"Lunch"}}'; echo"#
    );
    println!("# her statement");
    println!(
        r#"curl -s "http://{address}/v1/accounts/{ada}/statement?size=5" -H "Authorization: Bearer $TOKEN"; echo"#
    );
    println!("# check the whole bank from its log, in another terminal");
    println!("cargo run --release -- audit replay --data-dir '{data_dir}'");
    println!();
    println!("Ctrl-C stops the bank; what is in {data_dir} stays.");
    Ok(())
}
