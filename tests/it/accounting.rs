//! Accountants and analysts: the whole ledger in the words of their programs, which find every balance where the audit does.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use bursar_commands::audit::accounting::{self, Books, Format};
use bursar_commands::audit::{self, CUSTOMERS};
use bursar_domain::codec::Codec;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;
use serde_json::json;
use sqlx::{Connection as _, PgConnection};

use crate::ratchet::closing::{asks, opens};
use crate::ratchet::lending::{applies, staff};
use crate::support::{Bank, Scratch};

/// A bank in which something of everything has happened: months, loans, interest, rails, an account that was closed.
pub async fn lived() -> Bank {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let (teller, approver) = (bank.teller().await, bank.approver().await);
    for n in 0..5 {
        ada.client.pay(&ada.current, &bola.current, 100 + n, &format!("lived-{n}")).await.is(201);
    }
    // One that settles, one that is refused at once, one that comes back, one that is still on its way.
    for number in ["0123450005", "0123450001", "0123450002", "0123450004"] {
        let body = json!({
            "sourceAccount": ada.current, "destinationAccount": number, "bankCode": "058", "amount": 5_000,
            "currency": "NGN",
        });
        ada.client.post("/v1/payments/transfer/external", &body).await.is(201);
    }
    let loan = applies(&ada).await;
    staff(&teller.client, &loan, "start-review", &json!({})).await;
    staff(&approver.client, &loan, "approve", &json!({})).await;
    staff(&teller.client, &loan, "disburse", &json!({})).await;
    let account = opens(&ada, "SAV-001", 150_000).await;
    let application = asks(&ada, &account, &ada.current).await;
    let path = format!("/v1/staff/account-closures/{application}");
    approver.client.post(&format!("{path}/approve"), &json!({"note": "Seen"})).await.is(200);
    teller.client.post(&format!("{path}/finalize"), &json!({"note": "Done"})).await.is(200);
    bank.later(40 * 24 * 60 * 60).await;
    bank
}

async fn export(bank: &Bank, format: Format, dir: &Path) -> Books {
    accounting::export(&bank.pool, format, dir, &mut |_, _| {}).await.unwrap()
}

fn ran(program: &str, arguments: &[&str], file: &Path) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).env("LC_ALL", "C.UTF-8");
    if program == "hledger" {
        command.arg("-f").arg(file)
    } else {
        command.arg(file)
    };
    command.output().unwrap_or_else(|e| panic!("{program}: {e}; .ci/run says how to install it"))
}

/// Whether the program finds nothing to say against the file.
fn accepted(program: &str, arguments: &[&str], file: &Path) -> Result<(), String> {
    let Output { status, stdout, stderr } = ran(program, arguments, file);
    let said = String::from_utf8([stdout, stderr].concat()).unwrap();
    if status.success() && said.trim().is_empty() { Ok(()) } else { Err(format!("{status}: {said}")) }
}

/// The balances that the program arrives at, in minor units: by account, a debit positive.
fn balances(program: &str, file: &Path) -> BTreeMap<String, i128> {
    let table = match program {
        "hledger" => ran(program, &["balance", "--flat", "--empty", "--no-total", "-O", "csv"], file),
        _ => Command::new("bean-query")
            .args(["-f", "csv"])
            .arg(file)
            .arg("SELECT account, sum(number), currency GROUP BY account, currency")
            .output()
            .unwrap(),
    };
    assert!(table.status.success(), "{}", String::from_utf8_lossy(&table.stderr));
    let mut rows = csv::ReaderBuilder::new().flexible(true).from_reader(&*table.stdout);
    rows.records()
        .map(|row| {
            let row = row.unwrap();
            let amount = row[1].split_whitespace().next().unwrap();
            // Naira, all of them: two places, and hledger writes a zero without any.
            let minor = if amount == "0" { "000".to_owned() } else { amount.replace(['.', ','], "") };
            (row[0].trim().to_owned(), minor.parse().unwrap_or_else(|_| panic!("{row:?}")))
        })
        .collect()
}

/// The line of the trial balance that an account of the export is in.
fn line(account: &str) -> String {
    let (_, rest) = account.split_once(':').unwrap();
    if rest.starts_with("Customers:") {
        return CUSTOMERS.to_owned();
    }
    let (role, currency) = rest.rsplit_once(':').unwrap();
    let role = role.replace("Settlement:", "settlement.").replace("Wallet-", "wallet.").replace('-', "_");
    format!("bank:{}:{currency}", role.to_lowercase())
}

#[tokio::test]
async fn beancount_and_hledger_accept_the_ledger_and_find_the_balances_of_the_audit() {
    let bank = lived().await;
    bank.events().await;
    let report = audit::replay(&bank.pool, &Codec::default(), &mut |_, _| {}).await.unwrap();
    assert_eq!(report.difference, None);
    let expected = report.trial_balance[&"NGN".parse().unwrap()].clone();
    let scratch = Scratch::new("accounting");
    for (format, program, checks) in [
        (Format::Beancount, "bean-check", &[][..]),
        (Format::Hledger, "hledger", &["check", "--strict", "ordereddates"]),
    ] {
        let books = export(&bank, format, scratch.path()).await;
        assert_eq!((books.events, books.accounts), (report.events, report.accounts as u64));
        let [file] = &books.files[..] else { panic!("{books:?}") };
        accepted(program, checks, file).unwrap();
        let mut found: BTreeMap<String, i128> = BTreeMap::new();
        for (account, debit) in balances(program, file) {
            *found.entry(line(&account)).or_default() -= debit;
        }
        found.retain(|_, balance| *balance != 0);
        let expected: BTreeMap<_, _> = expected.clone().into_iter().filter(|(_, b)| *b != 0).collect();
        assert_eq!(found, expected, "{program}");
        // Nobody's name, address or number is in it.
        let text = std::fs::read_to_string(file).unwrap();
        for personal in ["Ada", "Obi", "example.com", "+234", "narration", "0123450005"] {
            assert!(!text.contains(personal), "{personal}");
        }
        let positions = text.lines().filter_map(|line| {
            let (key, rest) = line.trim_start_matches([' ', ';']).split_once(':')?;
            let number = rest.trim_start().split([',', ' ']).next()?;
            (key == "position").then(|| number.parse::<i64>().unwrap())
        });
        assert!(positions.is_sorted(), "in the order of the log");
        assert!(
            text.contains("ACCOUNT_CLOSURE") && text.contains("RETURN") && text.contains("SAVINGS_INTEREST")
        );
        // Controls: a sum that was changed in the file, and a balance that was changed in the bank's table.
        let changed = text.replacen("  -1.00 NGN", "  -1.01 NGN", 1);
        assert_ne!(changed, text);
        std::fs::write(file, changed).unwrap();
        accepted(program, checks, file).unwrap_err();
        let edit = |by: i64| {
            let sql = "UPDATE ledger_accounts SET balance = balance + $1 WHERE account = 'bank:cash:NGN'";
            sqlx::query(sql).bind(by).execute(&bank.pool)
        };
        edit(1).await.unwrap();
        export(&bank, format, scratch.path()).await;
        let refused = accepted(program, checks, file).unwrap_err();
        assert!(refused.contains("Cash"), "{refused}");
        edit(-1).await.unwrap();
    }
    bank.close().await;
}

/// What must come out of any copy of the tables.
#[derive(Debug, PartialEq, Eq)]
struct Sums {
    events: i64,
    postings: i64,
    accounts: i64,
    payloads: i64,
    /// Sum of the debits, minor units, and of all lines in major units times ten thousand.
    debits: i64,
    all: i128,
    /// By account: what its postings sum to, which is what the table of accounts says.
    balances: BTreeMap<String, i64>,
    closed: i64,
    first: i64,
}

async fn of_the_log(pool: &sqlx::PgPool) -> Sums {
    let one = async |sql: &str| sqlx::query_scalar::<_, i64>(sql).fetch_one(pool).await.unwrap();
    let balances: Vec<(String, i64)> =
        sqlx::query_as("SELECT account, balance FROM ledger_accounts").fetch_all(pool).await.unwrap();
    let lines = "jsonb_path_query(payload::jsonb, '$.*.postings[*].amount')::bigint AS amount";
    let lines = format!("(SELECT {lines} FROM events WHERE aggregate_type = 'payment') AS l");
    Sums {
        events: one("SELECT count(*) FROM events").await,
        postings: one(&format!("SELECT count(*) FROM {lines}")).await,
        accounts: one("SELECT count(*) FROM ledger_accounts").await,
        payloads: one("SELECT sum(length(payload::text))::bigint FROM events").await,
        debits: one(&format!("SELECT sum(amount)::bigint FROM {lines} WHERE amount < 0")).await,
        all: 0,
        balances: balances.into_iter().collect(),
        closed: one("SELECT count(*) FROM ledger_accounts WHERE status = 'CLOSED'").await,
        first: one("SELECT (extract(epoch FROM min(recorded_at)) * 1000000)::bigint FROM events").await,
    }
}

#[tokio::test]
async fn postgres_takes_the_tables_as_csv_with_every_sum_in_them() {
    let bank = lived().await;
    bank.events().await;
    let expected = of_the_log(&bank.pool).await;
    assert!(expected.closed > 0 && expected.debits < 0);
    let scratch = Scratch::new("tables");
    let books = export(&bank, Format::Csv, scratch.path()).await;
    assert_eq!((books.events, books.files.len()), (expected.events, 4));
    let mut db = PgConnection::connect(bank.url()).await.unwrap();
    load(&mut db, scratch.path()).await;
    let count = async |sql: &str| -> i64 {
        let mut db = PgConnection::connect(bank.url()).await.unwrap();
        sqlx::query("SET search_path TO bursar").execute(&mut db).await.unwrap();
        sqlx::query_scalar(sql).fetch_one(&mut db).await.unwrap()
    };
    let balances: Vec<(String, i64)> = sqlx::query_as("SELECT account, balance_minor FROM bursar.accounts")
        .fetch_all(&mut db)
        .await
        .unwrap();
    let found = Sums {
        events: count("SELECT count(*) FROM events").await,
        postings: count("SELECT count(*) FROM postings").await,
        accounts: count("SELECT count(*) FROM accounts").await,
        payloads: count("SELECT sum(length(payload::text))::bigint FROM events").await,
        debits: count("SELECT sum(amount_minor)::bigint FROM postings WHERE amount_minor < 0").await,
        all: count("SELECT (sum(amount) * 10000)::bigint FROM postings").await.into(),
        balances: balances.into_iter().collect(),
        closed: count("SELECT count(*) FROM accounts WHERE closed_at IS NOT NULL").await,
        first: count("SELECT (extract(epoch FROM min(recorded_at)) * 1000000)::bigint FROM events").await,
    };
    assert_eq!(found, expected);
    // Every row is equal, not only the sums; and what the postings sum to is what the accounts hold.
    for sql in [
        "SELECT count(*) FROM events e JOIN public.events o USING (position, recorded_at, sequence, aggregate_type,
                aggregate_id, event_type, event_version)
          WHERE e.payload::text = o.payload::text AND e.metadata::text = o.metadata::text",
        "SELECT count(*) + (SELECT max(position) FROM events) FROM (
             SELECT account, sum(amount_minor) AS m, sum(amount) AS d FROM postings GROUP BY account) p
           JOIN accounts a USING (account) WHERE a.balance_minor <> p.m OR a.balance <> p.d",
        "SELECT count(*) + (SELECT max(position) FROM events) FROM (
             SELECT 1 FROM postings GROUP BY position, currency HAVING sum(amount) <> 0) p",
    ] {
        let sql = sql.replace("public.", &format!("{}.", schema(&bank.pool).await));
        assert_eq!(count(&sql).await, expected.events, "{sql}");
    }
    sqlx::raw_sql("DROP SCHEMA bursar CASCADE").execute(&mut db).await.unwrap();
    bank.close().await;
}

async fn schema(pool: &sqlx::PgPool) -> String {
    sqlx::query_scalar("SELECT current_schema()::text").fetch_one(pool).await.unwrap()
}

/// What psql makes of the file beside the tables.
async fn load(db: &mut PgConnection, dir: &Path) {
    let script = std::fs::read_to_string(dir.join("load.sql")).unwrap();
    let (mut sql, mut copied) = (String::new(), 0);
    for line in script.lines() {
        let Some(copy) = line.strip_prefix("\\copy ") else {
            sql.push_str(line);
            sql.push('\n');
            continue;
        };
        sqlx::raw_sql(&std::mem::take(&mut sql)).execute(&mut *db).await.unwrap();
        let (file, rest) = copy.split_once(" FROM '").unwrap();
        let (name, options) = rest.split_once('\'').unwrap();
        let mut copy = db.copy_in_raw(&format!("COPY {file} FROM STDIN{options}")).await.unwrap();
        copy.send(std::fs::read(dir.join(name)).unwrap()).await.unwrap();
        copy.finish().await.unwrap();
        copied += 1;
    }
    assert_eq!(copied, 3, "{script}");
}

/// The rows of a file, each a map of its columns.
fn rows(path: &Path) -> Vec<BTreeMap<String, Field>> {
    let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    rows.map(|row| row.unwrap().into_columns().into_iter().collect()).collect()
}

fn whole(field: &Field) -> i64 {
    match field {
        Field::Long(number) | Field::TimestampMicros(number) => *number,
        other => panic!("{other:?}"),
    }
}

fn text(field: &Field) -> &str {
    match field {
        Field::Str(text) => text,
        other => panic!("{other:?}"),
    }
}

fn decimal(field: &Field) -> i128 {
    let Field::Decimal(decimal) = field else { panic!("{field:?}") };
    assert_eq!((decimal.precision(), decimal.scale()), (38, 4));
    i128::from_be_bytes(decimal.data().try_into().unwrap())
}

#[tokio::test]
async fn analysts_read_the_tables_as_parquet_with_every_sum_in_them() {
    let bank = lived().await;
    bank.events().await;
    let expected = of_the_log(&bank.pool).await;
    let scratch = Scratch::new("tables");
    let files: Vec<PathBuf> = export(&bank, Format::Parquet, scratch.path()).await.files;
    let [events, postings, accounts] = [0, 1, 2].map(|file| rows(&files[file]));
    let is_null = |field: &Field| matches!(field, Field::Null);
    let found = Sums {
        events: events.len().try_into().unwrap(),
        postings: postings.len().try_into().unwrap(),
        accounts: accounts.len().try_into().unwrap(),
        payloads: events
            .iter()
            .map(|row| i64::try_from(text(&row["payload"]).chars().count()).unwrap())
            .sum(),
        debits: postings.iter().map(|row| whole(&row["amount_minor"]).min(0)).sum(),
        all: postings.iter().map(|row| decimal(&row["amount"])).sum(),
        balances: accounts
            .iter()
            .map(|row| (text(&row["account"]).to_owned(), whole(&row["balance_minor"])))
            .collect(),
        closed: accounts.iter().filter(|row| !is_null(&row["closed_at"])).count().try_into().unwrap(),
        first: events.iter().map(|row| whole(&row["recorded_at"])).min().unwrap(),
    };
    assert_eq!(found, expected);
    let mut sums: BTreeMap<&str, i128> = BTreeMap::new();
    for row in &postings {
        *sums.entry(text(&row["account"])).or_default() += decimal(&row["amount"]);
        assert_eq!(decimal(&row["amount"]), i128::from(whole(&row["amount_minor"])) * 100);
    }
    for row in &accounts {
        assert_eq!(sums.get(text(&row["account"])).copied().unwrap_or(0), decimal(&row["balance"]));
        assert_eq!(is_null(&row["owner"]), text(&row["role"]) != "customer");
    }
    bank.close().await;
}
