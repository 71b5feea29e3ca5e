//! Events as people look at them: decoded from JSON, and what is personal still sealed.

use bursar_domain::codec::sealed_for;
use bursar_domain::{Kind, Metadata, Position};
use jiff::Timestamp;
use serde_json::Value;
use sqlx::PgPool;

use super::StoreError;

/// An event of the log for whoever looks into it.
#[derive(Debug, Clone)]
pub struct Shown {
    /// Its place in the log.
    pub position: Position,
    /// When it was recorded.
    pub recorded_at: Timestamp,
    /// The noun it happened to.
    pub aggregate_type: String,
    /// Which one of them.
    pub aggregate_id: String,
    /// Its place in that stream, from 1.
    pub sequence: i64,
    /// What happened.
    pub event_type: String,
    /// The version of its shape.
    pub event_version: String,
    /// What it says. A part that is personal is `{"sealed": "usr_..."}`: whose key would open it, and no more.
    pub payload: Value,
    /// Who and why.
    pub metadata: Metadata,
}

/// At most `limit` events after position `after`, in order: of everything named `id`, or of the whole log.
///
/// # Errors
/// [`StoreError`].
pub async fn shown(
    pool: &PgPool,
    id: Option<&str>,
    after: Position,
    limit: i64,
) -> Result<Vec<Shown>, StoreError> {
    // An id of all nouns is so many probes of the index by stream; without them it would be a walk along the log.
    let kinds: Vec<&str> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
    let rows = sqlx::query!(
        r#"SELECT position AS "position!", recorded_at AS "recorded_at!: jiff_sqlx::Timestamp", sequence AS "sequence!",
                  aggregate_type AS "aggregate_type!", aggregate_id AS "aggregate_id!", event_type AS "event_type!",
                  event_version AS "event_version!", payload::text AS "payload!", metadata::text AS "metadata!"
             FROM ((SELECT * FROM events WHERE $1::text IS NULL AND position > $3 ORDER BY position LIMIT $4)
                   UNION ALL
                   (SELECT * FROM events
                     WHERE aggregate_type = ANY($2) AND aggregate_id = $1 AND position > $3
                     ORDER BY position LIMIT $4)) e
            ORDER BY position"#,
        id,
        &kinds as &[&str],
        after,
        limit,
    )
    .fetch_all(pool)
    .await?;
    rows.into_iter()
        .map(|row| {
            let damaged =
                |e: serde_json::Error| StoreError::Damaged(format!("position {}: {e}", row.position));
            let mut payload = serde_json::from_str(&row.payload).map_err(damaged)?;
            hide(&mut payload);
            Ok(Shown {
                position: row.position,
                recorded_at: row.recorded_at.to_jiff(),
                aggregate_type: row.aggregate_type,
                aggregate_id: row.aggregate_id,
                sequence: row.sequence,
                event_type: row.event_type,
                event_version: row.event_version,
                payload,
                metadata: serde_json::from_str(&row.metadata).map_err(damaged)?,
            })
        })
        .collect()
}

/// Leaves of what is sealed only whose it is.
fn hide(value: &mut Value) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(text)) = members.get_mut("sealed")
                && let Some(subject) = sealed_for(text)
            {
                *text = subject.to_string();
                return;
            }
            members.values_mut().for_each(hide);
        }
        Value::Array(items) => items.iter_mut().for_each(hide),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ciphertext_is_left_out_and_everything_else_stays() {
        let subject = "usr_0192f0c1a00070008000000000000abc";
        let mut payload = json!({
            "first_name": {"sealed": format!("1.{subject}.Zm9v")}, "list": [{"sealed": format!("1.{subject}.YmFy")}],
            "amount": 9_007_199_254_740_993_i64, "sealed": "with wax",
        });
        hide(&mut payload);
        assert_eq!(
            payload,
            json!({
                "first_name": {"sealed": subject}, "list": [{"sealed": subject}],
                "amount": 9_007_199_254_740_993_i64, "sealed": "with wax",
            })
        );
    }
}
