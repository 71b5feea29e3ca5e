//! A new master key.

use bursar_domain::Entropy;
use bursar_domain::kernel::UserId;
use sqlx::{Connection as _, PgPool};

use super::purpose;
use super::secrets::UnlockError;
use super::wrapping::{BANK_KEY, Wrapping};
use crate::journal::StoreError;
use crate::keys::MasterKey;

/// Keys wrapped anew at once.
const PAGE: i64 = 5_000;

/// Wraps the bank's key and every data key anew, so that `new` opens them and `old` does not. `progress` hears how many
/// keys of how many are done. Answers how many data keys there are.
///
/// One transaction that holds the head of the log: writers wait for it (some seconds for a million people), nobody mints
/// a key for the old master key meanwhile, and whoever is interrupted has changed nothing. Servers that were started
/// with the old key read no further keys from then on, and make none: they must be started with the new one.
///
/// # Errors
/// [`UnlockError`]; `ForeignKey` when `old` is not the master key. Nothing has changed then.
pub async fn rotate(
    pool: &PgPool,
    old: &MasterKey,
    new: &MasterKey,
    entropy: &dyn Entropy,
    progress: &mut (dyn FnMut(u64, u64) + Send),
) -> Result<u64, UnlockError> {
    let (old, new) = (Wrapping::of(old), Wrapping::of(new));
    let mut own = pool.acquire().await?.detach();
    let mut transaction = own.begin().await?;
    sqlx::query!("SELECT position FROM head FOR UPDATE").fetch_one(&mut *transaction).await?;
    let bank_key = sqlx::query_scalar!("SELECT value FROM settings WHERE name = $1 FOR UPDATE", BANK_KEY)
        .fetch_optional(&mut *transaction)
        .await?;
    let bank_key = bank_key.ok_or_else(|| StoreError::Damaged("there is no key of the bank".to_owned()))?;
    let bank_key = old.unwrap_bank_key(&bank_key).ok_or(UnlockError::ForeignKey)?;
    sqlx::query!(
        "UPDATE settings SET value = $2 WHERE name = $1",
        BANK_KEY,
        new.wrap_bank_key(&bank_key, entropy)
    )
    .execute(&mut *transaction)
    .await?;
    let total =
        sqlx::query_scalar!(r#"SELECT count(*) AS "count!" FROM data_keys WHERE wrapped IS NOT NULL"#)
            .fetch_one(&mut *transaction)
            .await?;
    let (mut done, mut after) = (0, String::new());
    loop {
        let page = sqlx::query!(
            r#"SELECT subject, wrapped AS "wrapped!" FROM data_keys
                WHERE subject > $1 AND wrapped IS NOT NULL ORDER BY subject LIMIT $2"#,
            after,
            PAGE
        )
        .fetch_all(&mut *transaction)
        .await?;
        let Some(last) = page.last() else { break };
        after.clone_from(&last.subject);
        let (mut subjects, mut wrapped) = (Vec::with_capacity(page.len()), Vec::with_capacity(page.len()));
        for row in page {
            let damaged = || StoreError::Damaged(format!("the data key of {}", row.subject));
            let purpose = purpose(row.subject.parse::<UserId>().map_err(|_| damaged())?);
            let key = old.unwrap(&purpose, &row.wrapped).ok_or_else(damaged)?;
            wrapped.push(new.wrap(&purpose, &key, entropy));
            subjects.push(row.subject);
        }
        done += sqlx::query!(
            "UPDATE data_keys k SET wrapped = n.wrapped, wrapped_by = $3
               FROM UNNEST($1::text[], $2::bytea[]) AS n (subject, wrapped) WHERE k.subject = n.subject COLLATE \"C\"",
            &subjects,
            &wrapped,
            new.id.as_slice()
        )
        .execute(&mut *transaction)
        .await?
        .rows_affected();
        progress(done, total.unsigned_abs());
    }
    transaction.commit().await?;
    Ok(done)
}
