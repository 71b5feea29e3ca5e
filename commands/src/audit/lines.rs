//! The log as JSON lines, for people and other programs.

use std::io::Write;

use bursar_domain::Position;
use sqlx::PgPool;

use crate::journal::StoreError;
use crate::journal::lines::lines;

/// Events read at once.
const PAGE: i64 = 1_000;

/// Writes the events after position `after`, at most `limit` of them, one JSON object a line; payloads are the stored bytes.
///
/// # Errors
/// [`StoreError`]; a writer that fails ends it as [`StoreError::Output`].
pub async fn write_events(
    pool: &PgPool,
    after: Position,
    limit: Option<i64>,
    out: &mut (dyn Write + Send),
) -> Result<(), StoreError> {
    let (mut after, mut left) = (after, limit.unwrap_or(i64::MAX));
    while left > 0 {
        let page = lines(pool, after, left.min(PAGE)).await?;
        for (_, line) in &page {
            out.write_all(line).and_then(|()| out.write_all(b"\n")).map_err(StoreError::Output)?;
        }
        let Some((last, _)) = page.last() else { break };
        after = *last;
        left -= PAGE.min(left);
    }
    out.flush().map_err(StoreError::Output)?;
    Ok(())
}
