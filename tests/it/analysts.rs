//! Analysts: what they may read, what they may not, and what is written down for them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use bursar_projections::analysts::{self, Allowance, AnalystError, PERSONAL};
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, Executor as _, PgConnection, PgPool, Row as _};

use crate::personal_data::{HERS, everything};
use crate::support::process::{bursar, directory, run};
use crate::support::{Bank, rebuild};

const PATIENT: Allowance = Allowance { statement_seconds: 60, connections: 3 };

/// A database user of this test's own: they belong to the whole server.
fn name(of: &str) -> String {
    format!("analyst_{of}_{}", std::process::id())
}

async fn owner(bank: &Bank) -> PgConnection {
    bank.url().parse::<PgConnectOptions>().unwrap().connect().await.unwrap()
}

/// A bank and somebody who asks its database.
async fn asked_by(bank: &Bank, name: &str, allowance: Allowance) -> PgConnection {
    assert!(analysts::create(&mut owner(bank).await, name, None, allowance).await.unwrap(), "new");
    connected(bank, name).await.unwrap()
}

async fn connected(bank: &Bank, name: &str) -> sqlx::Result<PgConnection> {
    bank.url().parse::<PgConnectOptions>().unwrap().username(name).connect().await
}

/// The SQLSTATE that a statement is refused with.
async fn refused(db: &mut PgConnection, sql: &str) -> String {
    match db.execute(sql).await {
        Err(sqlx::Error::Database(e)) => e.code().unwrap().into_owned(),
        other => panic!("{sql}: {other:?}"),
    }
}

const NOT_ALLOWED: &str = "42501";

#[tokio::test(flavor = "multi_thread")]
async fn an_analyst_reads_the_read_models_and_nothing_else() {
    let bank = Bank::open().await;
    let name = name("reads");
    let mut db = asked_by(&bank, &name, PATIENT).await;
    for sql in [
        "SELECT sum(ledger_balance) FROM accounts",
        "SELECT count(*) FROM read.users",
        "SELECT count(*) FROM users WHERE status = 'ACTIVE'",
        "SELECT * FROM reference.countries",
        "SELECT * FROM read.trial_balance",
    ] {
        db.execute(sql).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
    }
    for sql in [
        "SELECT email FROM users",
        "SELECT * FROM users",
        "SELECT count(*) FROM users WHERE first_name = 'Ada'",
        "SELECT account_name FROM accounts",
        "SELECT payload FROM journal.events",
        "SELECT count(*) FROM journal.events",
        "SELECT * FROM journal.data_keys",
        "SELECT account FROM journal.ledger_accounts",
    ] {
        assert_eq!(refused(&mut db, sql).await, NOT_ALLOWED, "{sql}");
    }
    let writes = [
        "UPDATE accounts SET ledger_balance = 0",
        "DELETE FROM products",
        "INSERT INTO reference.currencies (currency_code) VALUES ('XXX')",
        "TRUNCATE read.checkpoints",
        "CREATE TABLE read.mine (x int)",
        "DROP TABLE read.tags",
        "CREATE ROLE another",
    ];
    for sql in writes {
        assert_eq!(refused(&mut db, sql).await, "25006", "{sql}: the session is read-only");
    }
    // What is set can be set otherwise; what is granted cannot.
    db.execute("SET default_transaction_read_only = off").await.unwrap();
    for sql in writes {
        assert_eq!(refused(&mut db, sql).await, NOT_ALLOWED, "{sql}");
    }
    // Whoever owns the tables may, so that it is not the statements that are wrong.
    let mut owner = owner(&bank).await;
    let mut tx = owner.begin().await.unwrap();
    for sql in [
        "SELECT email FROM read.users",
        "SELECT count(*) FROM journal.events",
        "CREATE TABLE read.mine (x int)",
    ] {
        tx.execute(sql).await.unwrap();
    }
    tx.rollback().await.unwrap();

    // A rebuild puts another table in the place of this one, with the same grants.
    rebuild(&bank.pool, &["users", "accounts"]).await.unwrap();
    db.execute("SELECT count(*) FROM users WHERE status = 'ACTIVE'").await.unwrap();
    assert_eq!(refused(&mut db, "SELECT email FROM users").await, NOT_ALLOWED);
    assert_eq!(refused(&mut db, "SELECT account_name FROM accounts").await, NOT_ALLOWED);

    // A new table is theirs with the next version of the schemas, but for what is personal.
    let new = format!(
        "CREATE TABLE read.pets (name text, age int); COMMENT ON COLUMN read.pets.name IS 'What it is called. {PERSONAL}'"
    );
    owner.execute(&*new).await.unwrap();
    assert_eq!(refused(&mut db, "SELECT age FROM pets").await, NOT_ALLOWED);
    analysts::renew_grants(&mut owner).await.unwrap();
    db.execute("SELECT age FROM pets").await.unwrap();
    assert_eq!(refused(&mut db, "SELECT name FROM pets").await, NOT_ALLOWED);
    owner.execute("DROP TABLE read.pets").await.unwrap();
    db.close().await.unwrap();
    analysts::remove(&mut owner, &name).await.unwrap();
    assert!(matches!(analysts::remove(&mut owner, &name).await, Err(AnalystError::Nobody(_))));
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_analyst_cannot_keep_the_database_busy() {
    let bank = Bank::open().await;
    let name = name("busy");
    let allowance = Allowance { statement_seconds: 1, connections: 2 };
    let mut db = asked_by(&bank, &name, allowance).await;
    assert_eq!(refused(&mut db, "SELECT pg_sleep(3)").await, "57014", "cancelled");
    db.execute("SELECT pg_sleep(0.1)").await.unwrap();
    let second = connected(&bank, &name).await.unwrap();
    let third = connected(&bank, &name).await;
    assert!(
        matches!(&third, Err(sqlx::Error::Database(e)) if e.code().as_deref() == Some("53300")),
        "{third:?}"
    );
    // Whoever is there already is not new, and is held to what is said now.
    let mut owner = owner(&bank).await;
    assert!(!analysts::create(&mut owner, &name, None, PATIENT).await.unwrap());
    let listed = analysts::list(&mut owner).await.unwrap();
    let listed = listed.iter().find(|analyst| analyst.name == name).unwrap();
    assert_eq!(listed.connections, 3);
    assert!(listed.settings.contains(&"statement_timeout=60s".to_owned()), "{listed:?}");
    // Somebody who has other work is left alone.
    let taken = analysts::create(&mut owner, "postgres", None, PATIENT).await;
    assert!(matches!(taken, Err(AnalystError::SomebodyElse(_))), "{taken:?}");
    assert!(matches!(analysts::remove(&mut owner, "postgres").await, Err(AnalystError::SomebodyElse(_))));
    // Whoever is removed is gone at once.
    analysts::remove(&mut owner, &name).await.unwrap();
    assert!(db.execute("SELECT 1").await.is_err());
    drop(second);
    bank.close().await;
}

/// What an analyst can read of each table, as one expression.
async fn readable(db: &mut PgConnection) -> BTreeMap<String, String> {
    let sql = "SELECT format('%I.%I', table_schema, table_name),
                      string_agg(quote_ident(column_name), ', ' ORDER BY ordinal_position)
                 FROM information_schema.columns WHERE table_schema IN ('read', 'reference', 'journal') GROUP BY 1";
    let rows = sqlx::query(sql).fetch_all(db).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_somebody_has_said_of_themselves_can_be_read_by_an_analyst() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    everything(&bank, &ada, &bola).await;
    bank.caught_up().await;
    let name = name("personal");
    let mut db = asked_by(&bank, &name, PATIENT).await;
    let tables = readable(&mut db).await;
    assert!(tables.len() > 40 && tables.keys().all(|table| !table.starts_with("journal")), "{tables:?}");
    let mut owner = owner(&bank).await;
    let mut kept = 0;
    for text in HERS {
        for (table, columns) in &tables {
            let sql = |what: &str| {
                format!("SELECT count(*) FROM {table} t WHERE position($1 IN ({what})::text) > 0")
            };
            let shown: i64 = sqlx::query_scalar(&sql(&format!("ROW({columns})")))
                .bind(text)
                .fetch_one(&mut db)
                .await
                .unwrap();
            assert_eq!(shown, 0, "{text} in {table}");
            let there: i64 = sqlx::query_scalar(&sql("t")).bind(text).fetch_one(&mut owner).await.unwrap();
            kept += there;
        }
    }
    assert!(kept >= i64::try_from(HERS.len()).unwrap(), "only {kept} rows have any of it");
    db.close().await.unwrap();
    analysts::remove(&mut owner, &name).await.unwrap();
    bank.close().await;
}

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../api/docs")
}

#[tokio::test(flavor = "multi_thread")]
async fn every_example_runs() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    ada.client.pay(&ada.current, &bola.current, 1_000, "example").await.is(201);
    bank.caught_up().await;
    let name = name("examples");
    let mut db = asked_by(&bank, &name, PATIENT).await;
    let mut rows = BTreeMap::new();
    for file in std::fs::read_dir(docs().join("queries")).unwrap() {
        let path = file.unwrap().path();
        let sql = std::fs::read_to_string(&path).unwrap();
        assert!(sql.starts_with("-- "), "{} says what it is for", path.display());
        let found = db.fetch_all(&*sql).await.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        rows.insert(path.file_stem().unwrap().to_str().unwrap().to_owned(), found.len());
    }
    assert!(rows.len() >= 10, "{rows:?}");
    for example in [
        "daily_volumes",
        "balances_by_product",
        "books_that_balance",
        "deposits_over_time",
        "cohort_activity",
    ] {
        assert!(rows[example] > 0, "{rows:?}");
    }
    let sums = std::fs::read_to_string(docs().join("queries/books_that_balance.sql")).unwrap();
    let sums = db.fetch_all(&*sums).await.unwrap();
    assert!(sums.iter().all(|row| row.get::<i64, _>("must_be_zero") == 0));
    db.close().await.unwrap();
    analysts::remove(&mut owner(&bank).await, &name).await.unwrap();
    bank.close().await;
}

/// Tables and columns that nobody has said a word about.
async fn unsaid(pool: &PgPool) -> Vec<String> {
    let sql = "SELECT format('%s.%s', c.oid::regclass, coalesce(attname, '*'))
                 FROM pg_class c LEFT JOIN LATERAL (
                      SELECT attname, attnum FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped
                      UNION ALL SELECT NULL, 0) a ON true
                WHERE relkind IN ('r', 'p') AND NOT relispartition AND relname <> '_sqlx_migrations'
                  AND relnamespace IN ('read'::regnamespace, 'reference'::regnamespace, 'journal'::regnamespace)
                  AND coalesce(CASE a.attnum WHEN 0 THEN obj_description(c.oid, 'pg_class')
                                             ELSE col_description(c.oid, a.attnum) END, '') = ''
                ORDER BY 1";
    sqlx::query_scalar(sql).fetch_all(pool).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_table_and_column_says_what_it_is() {
    let bank = Bank::open().await;
    assert_eq!(unsaid(&bank.pool).await, [""; 0]);
    bank.pool.execute("CREATE TABLE read.pets (name text)").await.unwrap();
    bank.pool.execute("COMMENT ON COLUMN journal.events.payload IS NULL").await.unwrap();
    assert_eq!(unsaid(&bank.pool).await, ["events.payload", "pets.*", "pets.name"]);
    bank.pool.execute("DROP TABLE read.pets").await.unwrap();
    bank.close().await;
}

/// `api/docs/schema.md`, from the comments in the database.
async fn rendered(pool: &PgPool) -> String {
    let mut text = "# The tables\n\nMade from the comments in the database: `UPDATE_SNAPSHOTS=1 cargo test --test it \
analysts::` renews it. Analysts (`bursar analysts create-user`) read the schemas `read` and `reference`, but for columns \
marked *personal*: they hold in the clear what the log has sealed. Sums are whole minor units, times are UTC.\n\
[Examples](queries) are run by the tests.\n"
        .to_owned();
    for (schema, about) in [
        ("read", "Made from the log, and made anew from it whenever somebody likes."),
        ("reference", "Datasets that ship with the bank."),
        ("journal", "The log and what its writers need. Not for analysts."),
    ] {
        writeln!(text, "\n## {schema}\n\n{about}").unwrap();
        let sql = "SELECT relname::text, obj_description(c.oid, 'pg_class'), attname::text,
                          format_type(atttypid, atttypmod), attnotnull, col_description(c.oid, attnum)
                     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
                    WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
                      AND relname <> '_sqlx_migrations'
                      AND attnum > 0 AND NOT attisdropped ORDER BY relname COLLATE \"C\", attnum";
        let mut table = String::new();
        for row in sqlx::query(sql).bind(schema).fetch_all(pool).await.unwrap() {
            let (name, what): (String, String) = (row.get(0), row.get(1));
            if name != table {
                writeln!(text, "\n### {schema}.{name}\n\n{what}\n\n| column | type | |\n|---|---|---|")
                    .unwrap();
                table = name;
            }
            let (column, kind, required): (String, String, bool) = (row.get(2), row.get(3), row.get(4));
            let optional = if required { "" } else { ", optional" };
            let said: String = row.get(5);
            let said = said.replace(PERSONAL, "*Personal.*").replace('|', "\\|");
            writeln!(text, "| `{column}` | {kind}{optional} | {said} |").unwrap();
        }
    }
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn the_committed_description_of_the_tables_is_what_the_database_says() {
    let bank = Bank::open().await;
    let (rendered, path) = (rendered(&bank.pool).await, docs().join("schema.md"));
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &rendered).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap();
    assert!(
        committed == rendered,
        "run UPDATE_SNAPSHOTS=1 cargo test --test it analysts:: and look at {}",
        path.display()
    );
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn analysts_are_made_on_the_command_line() {
    let dir = directory("analysts");
    let at = ["--data-dir", dir.to_str().unwrap()];
    let analysts = async |arguments: &[&str]| {
        let command = bursar(&[&["analysts"], arguments, at.as_slice()].concat());
        run(command).await
    };
    assert_eq!(run(bursar(&[&["migrate"], at.as_slice()].concat())).await.code, 0);
    let made = analysts(&["create-user", "chidi", "--connections", "2"]).await;
    assert_eq!(made.code, 0, "{}", made.err);
    let password = made.out.lines().find_map(|line| line.strip_prefix("password  ")).unwrap();
    assert_eq!(password.len(), 32);
    // Once: nobody is told again, and nobody's password changes because somebody asks twice.
    let again = analysts(&["create-user", "chidi"]).await;
    assert_eq!((again.code, again.out.contains("password")), (0, false), "{}", again.out);
    assert!(analysts(&["list"]).await.out.contains("chidi at most 5 connections"));
    let renewed = analysts(&["create-user", "chidi", "--new-password"]).await;
    assert!(renewed.out.contains("password  ") && !renewed.out.contains(password));
    assert_eq!(analysts(&["create-user", "postgres"]).await.code, 2, "somebody else");
    assert_eq!(analysts(&["create-user", "Robert'); DROP TABLE"]).await.code, 2);
    assert_eq!(analysts(&["drop-user", "chidi"]).await.code, 0);
    assert_eq!(analysts(&["list"]).await.out, "");
    assert_eq!(analysts(&["drop-user", "chidi"]).await.code, 2);
    std::fs::remove_dir_all(dir).unwrap();
}
