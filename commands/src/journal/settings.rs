//! Facts that every server process on a database must agree on.

use sqlx::PgPool;

use super::StoreError;

/// Remembers `value` under `name`, whatever was there before.
///
/// # Errors
/// [`StoreError`].
pub async fn remember(pool: &PgPool, name: &str, value: &[u8]) -> Result<(), StoreError> {
    sqlx::query!(
        "INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        name,
        value
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// What was remembered under `name`.
///
/// # Errors
/// [`StoreError`].
pub async fn recall(pool: &PgPool, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
    Ok(sqlx::query_scalar!("SELECT value FROM settings WHERE name = $1", name).fetch_optional(pool).await?)
}

/// Remembers `value` under `name` unless something is there: of several servers the first decides, for all of them.
///
/// # Errors
/// [`StoreError`].
pub async fn remember_first(pool: &PgPool, name: &str, value: &[u8]) -> Result<(), StoreError> {
    sqlx::query!(
        "INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
        name,
        value
    )
    .execute(pool)
    .await?;
    Ok(())
}
