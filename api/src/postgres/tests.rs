//! The whole module against a real Postgres, where one can be found. Each test has a directory of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sqlx::{Connection, PgConnection};

use super::*;

type Outcome = Result<(), PostgresError>;

/// Removed at the end of the test.
struct TempDir(PathBuf);

impl TempDir {
    fn new() -> TempDir {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let name = format!("bursar-pg-{}-{}", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
        // In memory where possible: what is tested is who syncs and recovers when, not how fast this disk is.
        let memory = test_cluster::roomy_memory().map(Path::to_owned);
        TempDir(memory.unwrap_or_else(std::env::temp_dir).join(name))
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

async fn number(url: &str, sql: &str) -> Result<i64, PostgresError> {
    let mut conn = PgConnection::connect(url).await?;
    let number = sqlx::query_scalar(sql).fetch_one(&mut conn).await?;
    conn.close().await?;
    Ok(number)
}

async fn execute(url: &str, sql: &str) -> Outcome {
    let mut conn = PgConnection::connect(url).await?;
    sqlx::raw_sql(sql).execute(&mut conn).await?;
    Ok(conn.close().await?)
}

#[tokio::test]
async fn a_durable_server_starts_is_safe_keeps_its_data_and_is_found_by_others() -> Outcome {
    let dir = TempDir::new();
    assert_eq!(EmbeddedPostgres::attach(&dir.0, "bursar"), None);
    let server = EmbeddedPostgres::start(Options::new(&dir.0))?;
    let url = server.url("bursar");
    assert_eq!(EmbeddedPostgres::attach(&dir.0, "bursar").as_deref(), Some(url.as_str()));
    let mut conn = PgConnection::connect(&url).await?;
    refuse_unsafe(&mut conn, Durability::Required).await?;
    conn.close().await?;
    execute(&url, "CREATE TABLE t AS SELECT 7::bigint AS n").await?;
    server.stop();
    assert_eq!(EmbeddedPostgres::attach(&dir.0, "bursar"), None);

    let server = EmbeddedPostgres::start(Options::new(&dir.0))?;
    assert_eq!(number(&server.url("bursar"), "SELECT n FROM t").await?, 7);
    Ok(())
}

#[tokio::test]
async fn a_second_server_on_a_directory_is_refused_and_the_owner_named() -> Outcome {
    let dir = TempDir::new();
    let _first = EmbeddedPostgres::start(Options::throwaway(&dir.0))?;
    let second = EmbeddedPostgres::start(Options::throwaway(&dir.0));
    let ours = std::process::id();
    assert!(
        matches!(second, Err(PostgresError::AlreadyRunning { pid: Some(pid), .. }) if pid == ours),
        "{second:?}"
    );
    Ok(())
}

#[tokio::test]
async fn a_server_killed_with_all_its_children_comes_back_with_what_it_acknowledged() -> Outcome {
    let dir = TempDir::new();
    let server = EmbeddedPostgres::start(Options::new(&dir.0))?;
    let url = server.url("bursar");
    execute(&url, "CREATE TABLE t (n bigint)").await?;
    for round in 1..=3 {
        execute(&url, "INSERT INTO t VALUES (1)").await?;
        let before = server.pid();
        server.kill_everything();
        let began = Instant::now();
        let counted = loop {
            match number(&url, "SELECT count(*) FROM t").await {
                Ok(counted) => break counted,
                Err(error) if began.elapsed() > Duration::from_secs(20) => return Err(error),
                Err(_) => thread::sleep(Duration::from_millis(20)),
            }
        };
        assert_eq!(counted, round);
        assert_ne!(server.pid(), before);
    }
    Ok(())
}

#[tokio::test]
async fn a_path_too_long_for_a_socket_gets_a_short_one() -> Outcome {
    let dir = TempDir::new();
    let long = dir.0.join("a-rather-long-name-".repeat(8));
    let server = EmbeddedPostgres::start(Options::throwaway(&long))?;
    assert_eq!(number(&server.url("bursar"), "SELECT 1::bigint").await?, 1);
    assert_eq!(EmbeddedPostgres::attach(&long, "bursar"), Some(server.url("bursar")));
    Ok(())
}

#[tokio::test]
async fn an_unsafe_server_is_refused_and_a_stale_pid_file_is_not_believed() -> Outcome {
    let dir = TempDir::new();
    let server = EmbeddedPostgres::start(Options::throwaway(&dir.0))?;
    let mut conn = PgConnection::connect(&server.url("bursar")).await?;
    let refusal = refuse_unsafe(&mut conn, Durability::Required).await;
    assert!(
        matches!(&refusal, Err(PostgresError::Unsafe(lines)) if lines.lines().count() == 3),
        "{refusal:?}"
    );
    refuse_unsafe(&mut conn, Durability::NotChecked).await?;
    conn.close().await?;
    server.stop();

    // Our own number: alive, and certainly no Postgres of that directory.
    let stale = format!("{}\n{}\n1\n5432\n/tmp\n\n  1 1\nready\n", std::process::id(), dir.0.display());
    write(&dir.0.join("postgres/postmaster.pid"), &stale)?;
    write(&dir.0.join("postgres-socket/.s.PGSQL.5432.lock"), &stale)?;
    let server = EmbeddedPostgres::start(Options::throwaway(&dir.0))?;
    assert_eq!(number(&server.url("bursar"), "SELECT 1::bigint").await?, 1);
    Ok(())
}

fn write(path: &Path, text: &str) -> Outcome {
    fs::write(path, text).map_err(PostgresError::io("write", path))
}

#[tokio::test]
async fn every_test_gets_a_copy_of_the_template_that_is_built_once() -> Outcome {
    static BUILT: AtomicU32 = AtomicU32::new(0);
    let key = format!("test of test databases {}", std::process::id());
    let build = async |url: &str| {
        BUILT.fetch_add(1, Ordering::Relaxed);
        let mut conn = PgConnection::connect(url).await?;
        sqlx::raw_sql("CREATE TABLE t AS SELECT 42::bigint AS n").execute(&mut conn).await?;
        conn.close().await
    };
    let (one, two) = tokio::join!(fresh_database(&key, build), fresh_database(&key, build));
    let (one, two) = (one?, two?);
    assert_ne!(one.name, two.name);
    execute(&one.url, "UPDATE t SET n = 0").await?;
    assert_eq!(number(&two.url, "SELECT n FROM t").await?, 42);
    assert_eq!(BUILT.load(Ordering::Relaxed), 1);
    one.drop_now().await?;
    let gone = two.name.clone();
    drop(two); // dropped on the server by the next one
    let three = fresh_database(&key, build).await?;
    let left = format!("SELECT count(*) FROM pg_database WHERE datname = '{gone}'");
    assert_eq!(number(&three.url, &left).await?, 0);
    let template = format!("DROP DATABASE bursar_template_{:016x}", fingerprint(&key));
    execute(&TestCluster::shared()?.url("postgres"), &template).await?;
    three.drop_now().await
}
