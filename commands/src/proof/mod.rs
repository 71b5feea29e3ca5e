//! Proof of the log: what was written stays written, and anybody can check it.
//!
//! ```text
//!   events ---line by line---> leaves ---RFC 6962---> tiles (the tree)      journal.tiles
//!                                                       '-- root, signed    journal.seals, a file, an address
//! ```
//!
//! A checkpoint is a promise about every event up to it. Kept outside, it needs no trust in whoever runs the database:
//! [`inclusion`] proves that an event is below one, [`consistency`] that one continues another.

pub mod merkle;
pub mod note;
mod sealer;
mod tiles;

use bursar_domain::Position;
use jiff::Timestamp;
use sqlx::PgPool;

use crate::journal::StoreError;
use crate::journal::lines::lines;
use merkle::{Hash, leaf_hash};
pub use sealer::{NoClient, Outside, Sealer};
pub(crate) use tiles::leaves;

/// A root of the tree that was signed.
#[derive(Debug, Clone)]
pub struct Sealed {
    /// Events in the tree: positions 1 to this one.
    pub size: Position,
    /// Their root.
    pub root: Hash,
    /// When it was signed.
    pub sealed_at: Timestamp,
    /// The signed note.
    pub note: String,
}

/// Proof that an event is in the log.
#[derive(Debug, Clone)]
pub struct Inclusion {
    /// Where the event stands.
    pub position: Position,
    /// The event as it was hashed.
    pub record: Vec<u8>,
    /// Hashes from the event up to the root (RFC 6962, section 2.1.1).
    pub path: Vec<Hash>,
    /// The tree it is in.
    pub checkpoint: Sealed,
}

impl Inclusion {
    /// The hash of the event.
    #[must_use]
    pub fn leaf(&self) -> Hash {
        leaf_hash(&self.record)
    }
}

/// The checkpoints, newest first, after the newest `offset`.
///
/// # Errors
/// [`StoreError`].
pub async fn checkpoints(pool: &PgPool, offset: i64, limit: i64) -> Result<Vec<Sealed>, StoreError> {
    let rows = sqlx::query_as!(
        SealRow,
        r#"SELECT size, root, sealed_at AS "sealed_at: _", note
             FROM seals ORDER BY size DESC OFFSET $1 LIMIT $2"#,
        offset,
        limit,
    )
    .fetch_all(pool)
    .await?;
    rows.into_iter().map(Sealed::try_from).collect()
}

/// The checkpoints of more than `after` and at most `through` events, oldest first.
///
/// # Errors
/// [`StoreError`].
pub(crate) async fn checkpoints_after(
    pool: &PgPool,
    after: Position,
    through: Position,
    limit: i64,
) -> Result<Vec<Sealed>, StoreError> {
    let rows = sqlx::query_as!(
        SealRow,
        r#"SELECT size, root, sealed_at AS "sealed_at: _", note
             FROM seals WHERE size > $1 AND size <= $2 ORDER BY size LIMIT $3"#,
        after,
        through,
        limit,
    )
    .fetch_all(pool)
    .await?;
    rows.into_iter().map(Sealed::try_from).collect()
}

/// The first checkpoint that vouches for the event at `position`; none when it is not sealed yet.
///
/// # Errors
/// [`StoreError`].
pub async fn checkpoint_over(pool: &PgPool, position: Position) -> Result<Option<Sealed>, StoreError> {
    let row = sqlx::query_as!(
        SealRow,
        r#"SELECT size, root, sealed_at AS "sealed_at: _", note
             FROM seals WHERE size >= $1 ORDER BY size LIMIT 1"#,
        position,
    )
    .fetch_optional(pool)
    .await?;
    row.map(Sealed::try_from).transpose()
}

/// How many checkpoints there are.
///
/// # Errors
/// [`StoreError`].
pub async fn count(pool: &PgPool) -> Result<i64, StoreError> {
    Ok(sqlx::query_scalar!(r#"SELECT count(*) AS "count!" FROM seals"#).fetch_one(pool).await?)
}

/// Proves that the event at `position` is in the log; none when there is no such event, or it is not sealed yet.
///
/// # Errors
/// [`StoreError`].
pub async fn inclusion(pool: &PgPool, position: Position) -> Result<Option<Inclusion>, StoreError> {
    let Some(checkpoint) = checkpoint_over(pool, position).await? else { return Ok(None) };
    let Some((found, record)) = lines(pool, position.saturating_sub(1), 1).await?.pop() else {
        return Ok(None);
    };
    if found != position {
        return Ok(None);
    }
    let path = merkle::inclusion((position - 1).unsigned_abs(), checkpoint.size.unsigned_abs());
    let path = tiles::hashes(pool, &path).await?;
    Ok(Some(Inclusion { position, record, path, checkpoint }))
}

/// Proves that the tree of `to` events begins with the tree of `from` events (RFC 6962, section 2.1.2); none when fewer
/// are sealed.
///
/// # Errors
/// [`StoreError`].
pub async fn consistency(pool: &PgPool, from: u64, to: u64) -> Result<Option<Vec<Hash>>, StoreError> {
    if checkpoint_over(pool, position(to)).await?.is_none() {
        return Ok(None);
    }
    tiles::hashes(pool, &merkle::consistency(from, to)).await.map(Some)
}

/// The position of the last of so many events.
pub(crate) fn position(size: u64) -> Position {
    // A log has fewer than 2^63 events.
    Position::try_from(size).unwrap_or(Position::MAX)
}

/// One row of `seals`.
struct SealRow {
    size: Position,
    root: Vec<u8>,
    sealed_at: jiff_sqlx::Timestamp,
    note: String,
}

impl TryFrom<SealRow> for Sealed {
    type Error = StoreError;

    fn try_from(row: SealRow) -> Result<Self, StoreError> {
        let SealRow { size, root, sealed_at, note } = row;
        let damaged = |_| StoreError::Damaged(format!("the root of checkpoint {size}"));
        let root = root.try_into().map_err(damaged)?;
        Ok(Self { size, root, sealed_at: sealed_at.to_jiff(), note })
    }
}
