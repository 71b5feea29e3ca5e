//! What nobody goes on with.

use sqlx::PgConnection;

use super::shadow::execute;
use crate::runner::{Lock, try_lock, unlock_one};

/// Drops the tables of rebuilds that were interrupted and that nobody has gone on with for a day of the log: they would keep
/// showing whoever is erased in the meantime.
pub(crate) async fn sweep(db: &mut PgConnection) -> sqlx::Result<()> {
    let left = sqlx::query_scalar!(
        "SELECT model FROM rebuilds, head WHERE state = 'RUNNING' AND started_at < head.recorded_at - interval '1 day'"
    );
    for model in left.fetch_all(&mut *db).await? {
        let Ok(entry) = super::find(&model) else { continue };
        // Whoever is at work on it has the lock.
        if !try_lock(&mut *db, Lock::Rebuild, entry.name).await? {
            continue;
        }
        let next = "SELECT quote_ident(nspname || '_next') FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
                     WHERE c.oid = 'checkpoints'::regclass";
        let next: String = sqlx::query_scalar(next).fetch_one(&mut *db).await?;
        let exists: bool = sqlx::query_scalar("SELECT to_regnamespace($1) IS NOT NULL")
            .bind(&next)
            .fetch_one(&mut *db)
            .await?;
        for table in if exists { entry.tables } else { &[] } {
            execute(&mut *db, &format!("DROP TABLE IF EXISTS {next}.{}", table.name)).await?;
        }
        sqlx::query!(
            "UPDATE rebuilds SET state = 'FAILED', reason = 'interrupted, and not gone on with for a day' WHERE model = $1",
            entry.name
        )
        .execute(&mut *db)
        .await?;
        unlock_one(&mut *db, Lock::Rebuild, entry.name).await?;
        tracing::info!(model = entry.name, "what an interrupted rebuild has left is gone");
    }
    Ok(())
}
