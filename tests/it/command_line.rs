//! `bursar` as a command: what it prints, how it ends, and how it gets on with a server beside it.

use std::path::Path;
use std::process::Stdio;

use bursar_api::config::{Config, Loader};
use bursar_api::database::Database;
use serde_json::{Value, json};

use crate::support::client::{PASSWORD, transfer};
use crate::support::process::{Ended, Server, bursar, directory, run};
use crate::support::{Client, check, people_database};

/// Runs `bursar` on the embedded Postgres in `dir`.
async fn on(dir: &Path, arguments: &[&str]) -> Ended {
    run(bursar(&[arguments, &["--data-dir", dir.to_str().unwrap()]].concat())).await
}

async fn database(dir: &Path) -> Database {
    Database::open(&Config { data_dir: dir.to_owned(), ..Config::default() }).await.unwrap()
}

async fn account(client: &Client) -> String {
    let accounts = client.get("/v1/accounts?type=CURRENT").await.is(200);
    accounts.list_at("accounts")[0]["accountNumber"].as_str().unwrap().to_owned()
}

/// Whether a Postgres runs on `dir`, whoever its owner is.
fn has_postgres(dir: &Path) -> bool {
    dir.join("postgres/postmaster.pid").exists()
}

#[tokio::test]
async fn config_prints_every_setting_and_reads_what_it_printed() {
    let printed = run(bursar(&["config"])).await;
    assert_eq!((printed.code, &*printed.err), (0, ""));
    let defaults = serde_json::to_value(Config::default()).unwrap();
    let mut keys = Vec::new();
    for (name, value) in defaults.as_object().unwrap() {
        match value {
            Value::Object(section) => {
                assert!(printed.out.contains(&format!("\n[{name}]\n")), "{name}");
                keys.extend(
                    section.keys().map(|field| (format!("BURSAR_{name}_{field}").to_uppercase(), field)),
                );
            }
            _ => keys.push((format!("BURSAR_{name}").to_uppercase(), name)),
        }
    }
    for (variable, field) in keys {
        assert!(printed.out.contains(&format!("[{variable}]")), "{variable}");
        assert!(
            printed.out.lines().any(|line| line.trim_start_matches("# ").starts_with(&format!("{field} ="))),
            "{field}"
        );
    }
    let read = Loader::new().toml(&printed.out, "bursar.toml").unwrap().finish().unwrap();
    assert_eq!(serde_json::to_value(read).unwrap(), defaults);

    let dir = directory("config");
    let file = dir.join("bursar.toml");
    std::fs::write(&file, &printed.out).unwrap();
    let again = run(bursar(&["config", "--config", file.to_str().unwrap()])).await;
    assert_eq!((again.code, again.out), (0, printed.out));
    std::fs::remove_dir_all(dir).unwrap();
}

#[tokio::test]
async fn a_setting_that_does_not_exist_is_refused_in_one_line_that_says_where() {
    let dir = directory("settings");
    let refused = async |toml: &str, variable: Option<(&str, &str)>| {
        std::fs::write(dir.join("bursar.toml"), toml).unwrap();
        let mut command = bursar(&["migrate"]);
        command.current_dir(&dir).envs(variable);
        let ended = run(command).await;
        assert_eq!(ended.code, 2, "{ended:?}");
        assert_eq!(ended.err.trim_end().lines().count(), 1, "{}", ended.err);
        assert!(!has_postgres(&dir.join("bursar-data")), "nothing was started");
        ended.err
    };
    let unknown = refused("[server]\nlissten = \"127.0.0.1:1\"\n", None).await;
    assert!(unknown.contains("bursar.toml") && unknown.contains("lissten"), "{unknown}");
    let section = refused("[sever]\n", None).await;
    assert!(section.contains("sever"), "{section}");
    let kind = refused("[server]\nrequest_seconds = \"soon\"\n", None).await;
    assert!(kind.contains("bursar.toml"), "{kind}");
    let variable = refused("", Some(("BURSAR_SERVER_LISSTEN", "x"))).await;
    assert!(variable.contains("BURSAR_SERVER_LISSTEN"), "{variable}");
    let number = refused("", Some(("BURSAR_JOURNAL_QUEUE", "many"))).await;
    assert!(number.contains("BURSAR_JOURNAL_QUEUE") && number.contains("whole number"), "{number}");
    // A line with a secret in it is never shown.
    let secret = refused("master_key = \"canary-5170\nx = 1\n", None).await;
    assert!(!secret.contains("canary"), "{secret}");
    let flag = run(bursar(&["migrate", "--no-such-flag"])).await;
    assert_eq!(flag.code, 2);
    std::fs::remove_dir_all(dir).unwrap();
}

#[tokio::test]
async fn a_server_that_may_forget_payments_is_refused_with_the_reason() {
    // Another cluster than ours may well be durable.
    if std::env::var_os("TEST_DATABASE_URL").is_some() {
        return;
    }
    let database = people_database().await;
    for command in [&["migrate"][..], &["serve", "--listen", "127.0.0.1:0"], &["audit", "replay"]] {
        let mut command = bursar(command);
        command.env("DATABASE_URL", &database.url);
        let refused = run(command).await;
        assert_eq!(refused.code, 2);
        assert!(refused.err.contains("fsync = off"), "{}", refused.err);
    }
    let flag = run(bursar(&["migrate", "--database-url", &database.url])).await;
    assert!(flag.code == 2 && flag.err.contains("fsync = off"), "{}", flag.err);
    let nowhere = run(bursar(&["migrate", "--database-url", "postgres://postgres@127.0.0.1:1/bank"])).await;
    assert!(nowhere.code == 2 && nowhere.err.contains("cannot be reached"), "{}", nowhere.err);
    database.drop_now().await.unwrap();
}

/// Every command that looks at a bank or mends it.
async fn all_is_well(dir: &Path) {
    let migrated = on(dir, &["migrate"]).await;
    assert!(migrated.code == 0 && migrated.out.starts_with("up to date: "), "{migrated:?}");
    let listed = on(dir, &["projections", "list"]).await;
    assert_eq!(listed.code, 0, "{listed:?}");
    for entry in bursar_projections::catalogue() {
        let line = listed.out.lines().find(|line| line.starts_with(entry.name)).unwrap();
        assert!(line.ends_with("following"), "{line}");
    }
    let verified = on(dir, &["projections", "verify", "--all"]).await;
    assert_eq!(
        (verified.code, verified.out.matches("equal to the log").count()),
        (0, bursar_projections::catalogue().len()),
        "{verified:?}"
    );
    let rebuilt = on(dir, &["projections", "rebuild", "accounts", "daily_balances"]).await;
    assert_eq!(
        (rebuilt.code, rebuilt.out.matches("rebuilt; equal to the log").count()),
        (0, 2),
        "{rebuilt:?}"
    );
    let replayed = on(dir, &["audit", "replay"]).await;
    assert_eq!(replayed.code, 0, "{replayed:?}");
    let total = replayed.out.lines().find(|line| line.trim_start().starts_with("total")).unwrap();
    assert!(total.ends_with(" 0") && replayed.out.contains("equal: "), "{}", replayed.out);
    for (format, files) in [
        ("beancount", &["ledger.beancount"][..]),
        ("hledger", &["ledger.journal"]),
        ("parquet", &["accounts.parquet", "events.parquet", "postings.parquet"]),
        ("csv", &["accounts.csv", "events.csv", "load.sql", "postings.csv"]),
    ] {
        let to = dir.join(format!("to/{format}"));
        let written = on(dir, &["audit", "export", "--format", format, "--to", to.to_str().unwrap()]).await;
        assert_eq!((written.code, &*written.err), (0, ""), "{written:?}");
        assert!(written.out.contains("exported: "), "{}", written.out);
        let entries = std::fs::read_dir(&to).unwrap();
        let mut found: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        found.sort();
        assert_eq!(found, files, "whole, and nothing else");
    }
    let events = on(dir, &["audit", "events", "--after", "3", "--limit", "5"]).await;
    let events: Vec<Value> = events.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let positions: Vec<&Value> = events.iter().map(|event| &event["position"]).collect();
    assert_eq!(positions, [4, 5, 6, 7, 8]);
    assert!(events.iter().all(|event| !event["payload"].is_null() && event["metadata"]["actor"].is_string()));
    let unknown = on(dir, &["projections", "verify", "no_such_model"]).await;
    assert!(unknown.code == 2 && unknown.err.contains("no_such_model"), "{unknown:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_works_beside_a_server_and_without_one() {
    let dir = directory("beside");
    let server = Server::start(&dir).await;
    all_is_well(&dir).await;
    // The server has not noticed.
    Client::new(server.address).login("ada@example.com").await.get("/v1/accounts").await.is(200);
    assert_eq!(server.stop().await, 0);
    assert!(!has_postgres(&dir), "Postgres goes with the server");
    all_is_well(&dir).await;
    assert!(!has_postgres(&dir), "Postgres goes with the command");
    std::fs::remove_dir_all(dir).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_edited_by_hand_is_named_and_the_command_fails() {
    let dir = directory("edited");
    let server = Server::start(&dir).await;
    let account = account(&Client::new(server.address).login("ada@example.com").await).await;
    let bank = database(&dir).await;
    let edit = async |sql: &str| {
        let edited = sqlx::query(sql).bind(&account).execute(&bank.pool).await.unwrap();
        assert_eq!(edited.rows_affected(), 1);
    };
    edit("UPDATE ledger_accounts SET balance = balance + 1 WHERE account = $1").await;
    let replayed = on(&dir, &["audit", "replay"]).await;
    assert_eq!(replayed.code, 1, "{replayed:?}");
    let different = replayed.out.lines().find(|line| line.starts_with("DIFFERENT")).unwrap();
    assert!(different.contains(&account) && different.contains("position"), "{different}");
    edit("UPDATE ledger_accounts SET balance = balance - 1 WHERE account = $1").await;
    assert_eq!(on(&dir, &["audit", "replay"]).await.code, 0);

    edit("UPDATE accounts SET account_name = 'Mallory' WHERE account_number = $1").await;
    let verified = on(&dir, &["projections", "verify", "--all"]).await;
    assert_eq!(verified.code, 1, "{verified:?}");
    for told in [&*account, "account_name", "Mallory", "1 rows differed"] {
        assert!(verified.out.contains(told), "{told}: {}", verified.out);
    }
    assert_eq!(on(&dir, &["projections", "rebuild", "--all"]).await.code, 0);
    assert_eq!(on(&dir, &["projections", "verify", "--all"]).await.code, 0);
    bank.close().await;
    assert_eq!(server.stop().await, 0);
    std::fs::remove_dir_all(dir).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_server_on_the_same_directory_joins_the_first() {
    let dir = directory("second");
    let first = Server::start(&dir).await;
    let second = Server::start(&dir).await;
    let ada = Client::new(first.address).login("ada@example.com").await;
    let (source, destination) =
        (account(&ada).await, account(&Client::new(second.address).login("bola@example.com").await).await);
    let there = ada.at(second.address);
    let paid = there.pay(&source, &destination, 100, "one").await.is(201);
    let again = ada.pay(&source, &destination, 100, "one").await.is(201);
    assert_eq!((&again.text, again.header("idempotent-replayed")), (&paid.text, "true"));
    assert_eq!(there.balance(&source).await, ada.balance(&source).await);
    // The second goes without taking the database along.
    assert_eq!(second.stop().await, 0);
    ada.pay(&source, &destination, 100, "two").await.is(201);
    assert_eq!(first.stop().await, 0);
    assert!(!has_postgres(&dir));
    let bank = database(&dir).await;
    check(&bank.pool).await;
    bank.close().await;
    std::fs::remove_dir_all(dir).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_its_database_says_so_and_stops_when_asked() {
    let dir = directory("bereft");
    let first = Server::start(&dir).await;
    // It will complain a lot.
    let second = Server::start_with(&dir, |command| _ = command.stderr(Stdio::null())).await;
    let ada = Client::new(second.address).login("ada@example.com").await;
    let source = account(&ada).await;
    // The database was the first one's.
    assert_eq!(first.stop().await, 0);
    let ready = ada.get("/readyz").await.is(503);
    assert_eq!((ready.text_at("status"), &ready.body["database"]), ("NOT_READY", &json!(false)));
    assert!(!ada.get("/v1/accounts").await.problem(503, "UNAVAILABLE").header("retry-after").is_empty());
    let pays = ada.pay(&source, "1000000008", 1, "k").await.problem(503, "UNAVAILABLE");
    assert!(!pays.header("retry-after").is_empty());
    ada.get("/healthz").await.is(200);
    assert_eq!(second.stop().await, 0);
    std::fs::remove_dir_all(dir).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_asked_to_stop_answers_what_it_has_begun() {
    let dir = directory("stop");
    let server = Server::start(&dir).await;
    let anybody = Client::new(server.address);
    let (ada, bola) = (anybody.login("ada@example.com").await, anybody.login("bola@example.com").await);
    let (source, destination) = (account(&ada).await, account(&bola).await);
    let clients: Vec<_> = (0..8)
        .map(|n| {
            let (ada, body) = (ada.clone(), transfer(&source, &destination, 1));
            tokio::spawn(async move {
                let mut paid = 0;
                for i in 0.. {
                    let request = ada.request(reqwest::Method::POST, "/v1/payments/transfer/internal");
                    match request.key(&format!("stop-{n}-{i}")).json(&body).try_send().await {
                        Some(answer) if answer.status == 201 => paid += 1,
                        Some(answer) => drop(answer.problem(503, "UNAVAILABLE")),
                        None => break,
                    }
                }
                paid
            })
        })
        .collect();
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(server.stop().await, 0);
    assert!(!has_postgres(&dir), "an orphan is left");
    let mut paid = 0;
    for client in clients {
        paid += client.await.unwrap();
    }
    let bank = database(&dir).await;
    let sql = "SELECT count(*) FROM events WHERE event_type = 'payment.completed' AND payload -> 'completed' ->> 'narration' = 'Lunch'";
    let recorded: i64 = sqlx::query_scalar(sql).fetch_one(&bank.pool).await.unwrap();
    assert_eq!(recorded, paid, "a clean stop leaves no payment unanswered");
    check(&bank.pool).await;
    bank.close().await;
    std::fs::remove_dir_all(dir).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_is_in_the_log_however_much_is_logged() {
    let dir = directory("log");
    let log = dir.join("server.log");
    let file = std::fs::File::create(&log).unwrap();
    let server = Server::start_with(&dir, |command| {
        command.env("BURSAR_TELEMETRY_LOG", "trace").stdout(file.try_clone().unwrap()).stderr(file);
    })
    .await;
    let anybody = Client::new(server.address);
    let session = anybody.session("ada@example.com", "phone").await;
    let wrong = json!({"username": "ada@example.com", "password": "canary-wrong-5170", "deviceInfo": {"deviceId": "d"}});
    anybody.post("/v1/users/password/login", &wrong).await.is(401);
    let refresh = json!({"refreshToken": session["refreshToken"], "deviceId": "phone"});
    let next = anybody.post("/v1/users/token/refresh", &refresh).await.is(200);
    let ada = anybody.with_token(next.text_at("accessToken"));
    ada.request(reqwest::Method::GET, "/v1/accounts")
        .header("X-Request-Id", "visible-17")
        .send()
        .await
        .is(200);
    ada.post_with_key("/v1/users/token/revoke", "canary-key-5170", &json!({})).await.is(200);
    assert_eq!(server.stop().await, 0);
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(text.contains("visible-17"), "nothing was logged");
    // What the demo prints for people to paste has the demo's password in it, and that is all.
    let pasted = text.lines().filter(|line| line.contains(PASSWORD));
    assert!(
        pasted.clone().all(|line| line.starts_with("people, all") || line.starts_with("TOKEN=")),
        "{pasted:?}"
    );
    let tokens = [&session, &next.body]
        .map(|body| ["accessToken", "refreshToken"].map(|name| body[name].as_str().unwrap()));
    for secret in tokens.iter().flatten().chain(&["canary-wrong-5170", "canary-key-5170"]) {
        let secret = secret.rsplit('.').next().unwrap();
        assert!(!text.contains(secret), "{secret} was logged");
    }
    std::fs::remove_dir_all(dir).unwrap();
}

#[tokio::test]
async fn an_auditor_in_the_wrong_directory_is_told_so() {
    let dir = directory("nobank");
    for command in [["audit", "replay"], ["audit", "events"], ["projections", "list"]] {
        let ended = run(bursar(&[command.as_slice(), &["--data-dir", dir.to_str().unwrap()]].concat())).await;
        assert_eq!(ended.code, 2, "{}", ended.out);
        assert!(ended.err.contains("there is no bank in"), "{}", ended.err);
    }
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 0, "and nothing is made there");
    std::fs::remove_dir_all(dir).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn staff_are_named_made_and_unmade_beside_a_server() {
    let dir = directory("staff");
    let server = Server::start(&dir).await;
    let staff = async |arguments: &[&str]| on(&dir, &[&["staff"], arguments].concat()).await;
    let chidi = Client::new(server.address).login("chidi@example.com").await;
    let listed = staff(&["list"]).await;
    assert_eq!(listed.code, 0, "{}", listed.err);
    assert!(listed.out.contains("teller@example.com") && !listed.out.contains("chidi@example.com"));
    let given = staff(&["grant", "Chidi@example.com", "CARD_OPS", "account_ops"]).await;
    assert_eq!(given.code, 0, "{}", given.err);
    assert!(given.out.trim_end().ends_with("chidi@example.com ACCOUNT_OPS CARD_OPS"), "{}", given.out);
    chidi.get("/v1/accounts").await.is(200);
    let id = given.out.split_whitespace().next().unwrap();
    let taken = staff(&["revoke", id, "CARD_OPS"]).await;
    assert!(taken.out.trim_end().ends_with("chidi@example.com ACCOUNT_OPS"), "{} {}", taken.out, taken.err);
    // The server hears of it by itself.
    let heard = async {
        while chidi.get("/v1/accounts").await.status != 401 {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(5), heard).await.expect("the session is over");
    assert!(staff(&["revoke", id, "CARD_OPS"]).await.out.contains("it was so already"));
    assert_ne!(staff(&["grant", id, "READ_ACCOUNT"]).await.code, 0);
    assert_ne!(staff(&["grant", "nobody@example.com", "CARD_OPS"]).await.code, 0);
    assert_eq!(server.stop().await, 0);
    std::fs::remove_dir_all(dir).unwrap();
}
