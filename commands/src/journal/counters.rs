//! What all servers count together, beside the log: token buckets, and guesses at passwords. Times are microseconds since
//! 1970, by the bank's clock.
//!
//! Each question is one statement that asks and counts at once, so that of any number of callers at any number of servers
//! no more get through than may. Keys are keyed hashes: the tables name nobody.

use sqlx::PgPool;

use super::StoreError;

/// What a counter is kept under.
pub type CounterKey = [u8; 16];

/// A token bucket that something is to be taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    /// Whose.
    pub key: CounterKey,
    /// How long what is taken needs to come back, microseconds.
    pub cost: i64,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    /// Whether there was enough.
    pub granted: bool,
    /// When the bucket is full again.
    pub full_at: i64,
}

/// Takes from each bucket that has enough; a bucket is empty when it needs `window` to be full again. Answers in the order
/// of `buckets`, whose keys differ.
///
/// # Errors
/// [`StoreError`].
pub async fn take(
    pool: &PgPool,
    buckets: &[Bucket],
    window: i64,
    now: i64,
) -> Result<Vec<Taken>, StoreError> {
    let keys: Vec<&[u8]> = buckets.iter().map(|bucket| bucket.key.as_slice()).collect();
    let costs: Vec<i64> = buckets.iter().map(|bucket| bucket.cost).collect();
    // One that refuses shows what it was before the statement; one that somebody has made since shows nothing.
    let rows = sqlx::query!(
        r#"WITH asked AS (
               SELECT * FROM UNNEST($1::bytea[], $2::bigint[]) WITH ORDINALITY AS asked (key, cost, nth)
           ), taken AS (
               INSERT INTO buckets AS b (key, full_at) SELECT key, $4 + cost FROM asked ORDER BY key
               ON CONFLICT (key) DO UPDATE SET full_at = greatest(b.full_at, $4) + excluded.full_at - $4
                WHERE greatest(b.full_at, $4) + excluded.full_at - 2 * $4 <= $3
               RETURNING b.key, b.full_at
           )
           SELECT taken.key IS NOT NULL AS "granted!", coalesce(taken.full_at, b.full_at, $4 + $3) AS "full_at!"
             FROM asked LEFT JOIN taken USING (key) LEFT JOIN buckets b USING (key) ORDER BY asked.nth"#,
        &keys as &[&[u8]],
        &costs,
        window,
        now,
    )
    .fetch_all(pool)
    .await?;
    Ok(rows.into_iter().map(|row| Taken { granted: row.granted, full_at: row.full_at }).collect())
}

/// Writes down what was taken elsewhere, however empty a bucket gets. Answers when each is full again, in the order of
/// `buckets`, whose keys differ.
///
/// # Errors
/// [`StoreError`].
pub async fn owe(pool: &PgPool, buckets: &[Bucket], now: i64) -> Result<Vec<i64>, StoreError> {
    let keys: Vec<&[u8]> = buckets.iter().map(|bucket| bucket.key.as_slice()).collect();
    let costs: Vec<i64> = buckets.iter().map(|bucket| bucket.cost).collect();
    let full = sqlx::query_scalar!(
        r#"WITH asked AS (
               SELECT * FROM UNNEST($1::bytea[], $2::bigint[]) WITH ORDINALITY AS asked (key, cost, nth)
           ), owed AS (
               INSERT INTO buckets AS b (key, full_at) SELECT key, $3 + cost FROM asked ORDER BY key
               ON CONFLICT (key) DO UPDATE SET full_at = greatest(b.full_at, $3) + excluded.full_at - $3
               RETURNING b.key, b.full_at
           )
           SELECT owed.full_at AS "full_at!" FROM asked JOIN owed USING (key) ORDER BY asked.nth"#,
        &keys as &[&[u8]],
        &costs,
        now,
    );
    Ok(full.fetch_all(pool).await?)
}

/// How guesses slow down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slowing {
    /// Guesses in a row before the first delay.
    pub free: i32,
    /// The first delay; each further one is twice as long.
    pub first: i64,
    /// The longest delay.
    pub longest: i64,
    /// After so long without a guess all are forgotten.
    pub forget: i64,
}

/// Counts a guess, unless it comes too soon: then answers when it may come. The guess is counted under `own` and then under
/// `all`, each with its own pace. Guesses made at once may be counted in another order than their times: one that needs
/// no delay is open at any time, not from the last one on.
///
/// # Errors
/// [`StoreError`].
pub async fn guess(
    pool: &PgPool,
    (own, own_pace): (CounterKey, Slowing),
    (all, all_pace): (CounterKey, Slowing),
    now: i64,
) -> Result<Result<(), i64>, StoreError> {
    let row = sqlx::query!(
        r#"WITH own AS (
               INSERT INTO guesses AS g (key, failed, last_at, opens_at) VALUES ($1, 1, $3, 0)
               ON CONFLICT (key) DO UPDATE SET (failed, last_at, opens_at) = (
                   SELECT n, $3, CASE WHEN n < $4 THEN 0 ELSE $3 + least($6::bigint, $5::bigint << least(n - $4, 16)) END
                     FROM (SELECT CASE WHEN g.last_at <= $3 - $7 THEN 1 ELSE g.failed + 1 END) AS counted (n))
                WHERE g.opens_at <= $3
               RETURNING g.key
           ), everybody AS (
               INSERT INTO guesses AS g (key, failed, last_at, opens_at) SELECT $2, 1, $3, 0 FROM own
               ON CONFLICT (key) DO UPDATE SET (failed, last_at, opens_at) = (
                   SELECT n, $3, CASE WHEN n < $8 THEN 0 ELSE $3 + least($10::bigint, $9::bigint << least(n - $8, 16)) END
                     FROM (SELECT CASE WHEN g.last_at <= $3 - $11 THEN 1 ELSE g.failed + 1 END) AS counted (n))
                WHERE g.opens_at <= $3
               RETURNING g.key
           )
           SELECT EXISTS (SELECT FROM everybody) AS "open!",
                  coalesce((SELECT max(opens_at) FROM guesses WHERE key IN ($1, $2)), $3) AS "opens_at!""#,
        own.as_slice(),
        all.as_slice(),
        now,
        own_pace.free,
        own_pace.first,
        own_pace.longest,
        own_pace.forget,
        all_pace.free,
        all_pace.first,
        all_pace.longest,
        all_pace.forget,
    )
    .fetch_one(pool)
    .await?;
    Ok(if row.open { Ok(()) } else { Err(row.opens_at) })
}

/// Forgets guesses: one was right.
///
/// # Errors
/// [`StoreError`].
pub async fn forgive(pool: &PgPool, keys: [CounterKey; 2]) -> Result<(), StoreError> {
    let keys = keys.each_ref().map(CounterKey::as_slice);
    sqlx::query!("DELETE FROM guesses WHERE key = ANY($1)", &keys as &[&[u8]]).execute(pool).await?;
    Ok(())
}

/// Takes a guess back: it was never looked at.
///
/// # Errors
/// [`StoreError`].
pub async fn unguess(pool: &PgPool, keys: [CounterKey; 2]) -> Result<(), StoreError> {
    let keys = keys.each_ref().map(CounterKey::as_slice);
    sqlx::query!(
        "UPDATE guesses SET failed = failed - 1, opens_at = 0 WHERE key = ANY($1) AND failed > 0",
        &keys as &[&[u8]]
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Says that `server` runs, and asks how many others have said so since `since`.
///
/// # Errors
/// [`StoreError`].
pub async fn others(pool: &PgPool, server: &str, since: i64, now: i64) -> Result<i64, StoreError> {
    let others = sqlx::query_scalar!(
        r#"WITH me AS (
               INSERT INTO servers (server, seen_at) VALUES ($1, $3)
               ON CONFLICT (server) DO UPDATE SET seen_at = excluded.seen_at
           )
           SELECT count(*) AS "others!" FROM servers WHERE server <> $1 AND seen_at > $2"#,
        server,
        since,
        now,
    );
    Ok(others.fetch_one(pool).await?)
}

/// Forgets what no longer says anything: full buckets, guesses before `forget`, servers that were not heard of since.
///
/// # Errors
/// [`StoreError`].
pub async fn sweep(pool: &PgPool, now: i64, forget: i64) -> Result<(), StoreError> {
    sqlx::query!(
        "WITH full_ones AS (DELETE FROM buckets WHERE full_at <= $1),
              gone AS (DELETE FROM servers WHERE seen_at <= $2)
         DELETE FROM guesses WHERE last_at <= $2 AND opens_at <= $1",
        now,
        forget,
    )
    .execute(pool)
    .await?;
    Ok(())
}
