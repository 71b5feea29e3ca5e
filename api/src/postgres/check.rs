//! What a server must promise before money goes in.

use sqlx::PgConnection;

use super::{OLDEST_MAJOR, PostgresError};

/// Whether a server must keep what it acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// A bank's server.
    Required,
    /// A test's server: only its version counts.
    NotChecked,
}

/// Why each setting matters, in words for the person who must change it.
const REASONS: [(&str, &str); 3] = [
    ("fsync", "a power cut can destroy the whole database; set `fsync = on`"),
    ("full_page_writes", "a power cut can leave half-written pages; set `full_page_writes = on`"),
    ("synchronous_commit", "acknowledged payments can be lost; set `synchronous_commit = on`"),
];

/// Refuses a server that is too old, or that may lose what it acknowledged; one line for each reason.
pub async fn refuse_unsafe(conn: &mut PgConnection, durability: Durability) -> Result<(), PostgresError> {
    let sql = "SELECT name, setting FROM pg_settings
               WHERE name IN ('server_version_num', 'fsync', 'full_page_writes', 'synchronous_commit')";
    let settings: Vec<(String, String)> = sqlx::query_as(sql).fetch_all(conn).await?;
    let reasons = objections(&settings, durability);
    if reasons.is_empty() { Ok(()) } else { Err(PostgresError::Unsafe(reasons.join("\n"))) }
}

fn objections(settings: &[(String, String)], durability: Durability) -> Vec<String> {
    let value =
        |name| settings.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.as_str());
    let mut reasons = Vec::new();
    let version = value("server_version_num").parse::<u32>().unwrap_or(0);
    if version < OLDEST_MAJOR * 10_000 {
        let major = version / 10_000;
        reasons.push(format!("the server is Postgres {major}; bursar needs {OLDEST_MAJOR} or newer: name another in DATABASE_URL"));
    }
    if durability == Durability::Required {
        for (name, reason) in REASONS {
            if value(name) == "off" {
                reasons.push(format!("the server runs with {name} = off: {reason}"));
            }
        }
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(version: &str, fsync: &str, commit: &str) -> Vec<(String, String)> {
        let pairs = [
            ("server_version_num", version),
            ("fsync", fsync),
            ("full_page_writes", "on"),
            ("synchronous_commit", commit),
        ];
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
    }

    #[test]
    fn a_server_that_may_forget_is_refused_once_for_each_reason() {
        let reasons = objections(&settings("140011", "off", "off"), Durability::Required);
        assert_eq!(reasons.len(), 3);
        assert!(reasons.iter().all(|reason| !reason.contains('\n')));
    }

    #[test]
    fn a_sound_server_and_a_server_of_tests_are_taken() {
        assert!(objections(&settings("150018", "on", "remote_apply"), Durability::Required).is_empty());
        assert!(objections(&settings("150018", "off", "off"), Durability::NotChecked).is_empty());
    }
}
