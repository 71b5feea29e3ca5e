//! The schedule's SQL.

use jiff::Timestamp;
use jiff_sqlx::ToSqlx;

use super::Work;
use crate::journal::{Backing, StoreError};

/// A row that is ours for a while.
pub(crate) struct Claimed {
    pub(crate) task: String,
    pub(crate) subject: String,
    pub(crate) due_at: Timestamp,
    pub(crate) attempts: u32,
}

/// A row as whoever looks after the bank sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the columns of journal.schedule, documented there")]
pub struct Planned {
    pub task: String,
    pub subject: String,
    pub due_at: Timestamp,
    pub attempts: u32,
    pub leased_until: Option<Timestamp>,
    pub last_error: Option<String>,
}

/// One page of the rows of `task`, or of all, soonest first; and how many there are.
pub(super) async fn planned(
    backing: &Backing,
    task: Option<&str>,
    offset: i64,
    limit: i64,
) -> Result<(Vec<Planned>, i64), StoreError> {
    let pool = match backing {
        Backing::Postgres(pool) => pool,
        Backing::InMemory(door) => return door.planned(task, offset, limit).await,
    };
    let total = sqlx::query_scalar!(
        r#"SELECT count(*) AS "count!" FROM schedule WHERE $1::text IS NULL OR task = $1"#,
        task
    );
    let total = total.fetch_one(pool).await?;
    let rows = sqlx::query!(
        r#"SELECT task, subject, due_at AS "due_at: jiff_sqlx::Timestamp", attempts,
                  leased_until AS "leased_until: jiff_sqlx::Timestamp", last_error
             FROM schedule WHERE $1::text IS NULL OR task = $1
            ORDER BY due_at, task, subject OFFSET $2 LIMIT $3"#,
        task,
        offset,
        limit,
    )
    .fetch_all(pool)
    .await?;
    let planned = rows.into_iter().map(|row| Planned {
        task: row.task,
        subject: row.subject,
        due_at: row.due_at.to_jiff(),
        attempts: u32::try_from(row.attempts).unwrap_or(u32::MAX),
        leased_until: row.leased_until.map(|at| at.to_jiff()),
        last_error: row.last_error,
    });
    Ok((planned.collect(), total))
}

/// Claims up to `most` rows of `tasks` that are due, oldest first, and counts the try.
pub(super) async fn claim(
    backing: &Backing,
    tasks: &[&str],
    now: Timestamp,
    until: Timestamp,
    most: i64,
) -> Result<Vec<Claimed>, StoreError> {
    let pool = match backing {
        Backing::Postgres(pool) => pool,
        Backing::InMemory(door) => return door.claim(tasks, now, until, most).await,
    };
    let rows = sqlx::query!(
        r#"UPDATE schedule s SET leased_until = $3, attempts = attempts + 1
             FROM (SELECT task, subject FROM schedule
                    WHERE due_at <= $2 AND task = ANY($1) AND (leased_until IS NULL OR leased_until < $2)
                    ORDER BY due_at LIMIT $4 FOR UPDATE SKIP LOCKED) due
            WHERE s.task = due.task AND s.subject = due.subject
        RETURNING s.task, s.subject, s.due_at AS "due_at: jiff_sqlx::Timestamp", s.attempts"#,
        tasks as &[&str],
        now.to_sqlx() as _,
        until.to_sqlx() as _,
        most,
    )
    .fetch_all(pool)
    .await?;
    let mut claimed: Vec<Claimed> = rows
        .into_iter()
        .map(|row| Claimed {
            task: row.task,
            subject: row.subject,
            due_at: row.due_at.to_jiff(),
            attempts: u32::try_from(row.attempts).unwrap_or(u32::MAX),
        })
        .collect();
    claimed.sort_by_key(|row| row.due_at);
    Ok(claimed)
}

/// Adds a row, unless there is one.
pub(super) async fn add(
    backing: &Backing,
    task: &str,
    subject: &str,
    at: Timestamp,
) -> Result<(), StoreError> {
    let pool = match backing {
        Backing::Postgres(pool) => pool,
        Backing::InMemory(door) => return door.add(task, subject, at).await,
    };
    sqlx::query!(
        "INSERT INTO schedule (task, subject, due_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
        task,
        subject,
        at.to_sqlx() as _,
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Adds the first row of a task, unless it has one, of whatever subject.
pub(super) async fn begin(
    backing: &Backing,
    task: &str,
    subject: &str,
    at: Timestamp,
) -> Result<(), StoreError> {
    let pool = match backing {
        Backing::Postgres(pool) => pool,
        Backing::InMemory(door) => return door.begin(task, subject, at).await,
    };
    sqlx::query!(
        "INSERT INTO schedule (task, subject, due_at)
         SELECT $1, $2, $3 WHERE NOT EXISTS (SELECT FROM schedule WHERE task = $1) ON CONFLICT DO NOTHING",
        task,
        subject,
        at.to_sqlx() as _,
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Whether a row of `tasks` is due, somebody else's or nobody's.
pub(super) async fn is_anything_due(
    backing: &Backing,
    tasks: &[&str],
    now: Timestamp,
) -> Result<bool, StoreError> {
    let pool = match backing {
        Backing::Postgres(pool) => pool,
        Backing::InMemory(door) => return door.is_anything_due(tasks, now).await,
    };
    let due = sqlx::query_scalar!(
        r#"SELECT EXISTS (SELECT FROM schedule WHERE due_at <= $1 AND task = ANY($2)) AS "due!""#,
        now.to_sqlx() as _,
        tasks as &[&str],
    );
    Ok(due.fetch_one(pool).await?)
}

/// Drops the row, unless an event has ordered the work anew in the meantime.
pub(super) async fn finish(backing: &Backing, task: &str, work: &Work) -> Result<(), StoreError> {
    let pool = match backing {
        Backing::Postgres(pool) => pool,
        Backing::InMemory(door) => return door.finish(task, work).await,
    };
    sqlx::query!(
        "DELETE FROM schedule WHERE task = $1 AND subject = $2 AND due_at = $3 AND attempts > 0",
        task,
        work.subject,
        work.due_at.to_sqlx() as _,
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Moves the row to `at`, unless an event has moved it. A try without a `reason` was no failure.
pub(super) async fn put_off(
    backing: &Backing,
    task: &str,
    work: &Work,
    at: Timestamp,
    reason: Option<&str>,
) -> Result<(), StoreError> {
    let pool = match backing {
        Backing::Postgres(pool) => pool,
        Backing::InMemory(door) => return door.put_off(task, work, at, reason).await,
    };
    sqlx::query!(
        "UPDATE schedule SET due_at = $4, leased_until = NULL, last_error = $5,
                             attempts = CASE WHEN $5::text IS NULL THEN 0 ELSE attempts END
          WHERE task = $1 AND subject = $2 AND due_at = $3 AND attempts > 0",
        task,
        work.subject,
        work.due_at.to_sqlx() as _,
        at.to_sqlx() as _,
        reason,
    )
    .execute(pool)
    .await?;
    Ok(())
}
