//! Whoever asks the read models in SQL: database users who read the schemas `read` and `reference`, and nothing else.
//!
//! One role holds what analysts may read, and each of them is a member. What is sealed in the log, for the person it is about,
//! is not granted: a column whose comment ends with [`PERSONAL`]. Grants are renewed whenever the schemas are brought to a
//! version, so that a new table is theirs with it, and a rebuild gives a table the grants of the one that it replaces.
//! Columns are granted rather than views: a view would hold the table that a rebuild wants to replace.

use sqlx::{Connection, PgConnection, Row};

use crate::rebuild::execute;

/// How the comment of a column ends that holds what the log has sealed.
pub const PERSONAL: &str = "Personal: not for analysts.";

/// What an analyst is held to.
#[derive(Debug, Clone, Copy)]
pub struct Allowance {
    /// A statement that runs longer is cancelled.
    pub statement_seconds: u32,
    /// Connections at once.
    pub connections: u16,
}

/// An analyst.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Analyst {
    /// The name of the database user.
    pub name: String,
    /// Connections at once.
    pub connections: i32,
    /// What is set for them in this database.
    pub settings: Vec<String>,
}

/// Why something cannot be done about analysts.
#[derive(Debug, thiserror::Error)]
pub enum AnalystError {
    /// A database user of that name has other work.
    #[error("the database has a user {0} who is no analyst")]
    SomebodyElse(String),
    /// Nobody has that name.
    #[error("there is no analyst {0}")]
    Nobody(String),
    /// The database refuses.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// Gives analysts what they may read today, if there are any. Needs a connection whose user owns the tables.
///
/// # Errors
/// When the database refuses.
pub async fn renew_grants(db: &mut PgConnection) -> sqlx::Result<()> {
    let sql = format!(
        "DO $do$
         DECLARE
             t record;
         BEGIN
             IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'bursar_analysts') THEN
                 RETURN;
             END IF;
             GRANT USAGE ON SCHEMA read, reference TO bursar_analysts;
             FOR t IN SELECT c.oid::regclass AS place,
                             string_agg(quote_ident(attname), ', ' ORDER BY attnum)
                                 FILTER (WHERE coalesce(col_description(c.oid, attnum), '') NOT LIKE '%{PERSONAL}') AS shown
                        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
                       WHERE relnamespace IN ('read'::regnamespace, 'reference'::regnamespace) AND relkind = 'r'
                         AND relname <> '_sqlx_migrations' AND attnum > 0 AND NOT attisdropped
                       GROUP BY c.oid
             LOOP
                 EXECUTE format('REVOKE ALL ON %s FROM bursar_analysts', t.place);
                 EXECUTE format('GRANT SELECT (%s) ON %s TO bursar_analysts', t.shown, t.place);
             END LOOP;
         END $do$"
    );
    execute(db, &sql).await
}

/// Makes `name` a user of the database who may do what analysts may. `verifier` is what Postgres keeps of the password; none
/// leaves the password of an analyst who is there already as it is. Answers whether they are new.
///
/// # Errors
/// [`AnalystError`].
pub async fn create(
    db: &mut PgConnection,
    name: &str,
    verifier: Option<&str>,
    allowance: Allowance,
) -> Result<bool, AnalystError> {
    let known = standing(db, name).await?;
    let mut tx = db.begin().await?;
    sqlx::query("SELECT pg_advisory_xact_lock(hashtext('bursar.analysts'))").execute(&mut *tx).await?;
    // Roles belong to the whole server and locks to one database of it: another may make the same role at this moment.
    let group = "DO $$ BEGIN CREATE ROLE bursar_analysts NOLOGIN;
                 EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$";
    execute(&mut tx, group).await?;
    renew_grants(&mut tx).await?;
    let mut statements = Vec::new();
    if !known {
        statements.push("CREATE ROLE %1$I LOGIN IN ROLE bursar_analysts".to_owned());
    }
    if verifier.is_some() {
        statements.push("ALTER ROLE %1$I PASSWORD %2$L".to_owned());
    }
    let Allowance { statement_seconds, connections } = allowance;
    statements.push(format!("ALTER ROLE %1$I CONNECTION LIMIT {connections}"));
    let settings = [
        format!("statement_timeout = '{statement_seconds}s'"),
        "idle_in_transaction_session_timeout = '60s'".to_owned(),
        "lock_timeout = '5s'".to_owned(),
        "default_transaction_read_only = on".to_owned(),
        "search_path = read, reference".to_owned(),
    ];
    statements.extend(settings.map(|setting| format!("ALTER ROLE %1$I IN DATABASE %3$I SET {setting}")));
    for statement in statements {
        run(&mut tx, &statement, name, verifier.unwrap_or_default()).await?;
    }
    tx.commit().await?;
    Ok(!known)
}

/// Everybody who is an analyst.
///
/// # Errors
/// When the database cannot be read.
pub async fn list(db: &mut PgConnection) -> sqlx::Result<Vec<Analyst>> {
    let sql = "SELECT m.rolname::text, m.rolconnlimit, coalesce(s.setconfig, '{}')
                 FROM pg_auth_members a JOIN pg_roles g ON g.oid = a.roleid JOIN pg_roles m ON m.oid = a.member
                 LEFT JOIN pg_db_role_setting s ON s.setrole = m.oid
                       AND s.setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
                WHERE g.rolname = 'bursar_analysts' ORDER BY 1";
    let rows = sqlx::query(sql).fetch_all(db).await?;
    let analyst = |row: &sqlx::postgres::PgRow| {
        Ok(Analyst { name: row.try_get(0)?, connections: row.try_get(1)?, settings: row.try_get(2)? })
    };
    rows.iter().map(analyst).collect()
}

/// Takes the user `name` out of the database, and ends their sessions.
///
/// # Errors
/// [`AnalystError`].
pub async fn remove(db: &mut PgConnection, name: &str) -> Result<(), AnalystError> {
    if !standing(db, name).await? {
        return Err(AnalystError::Nobody(name.to_owned()));
    }
    run(db, "ALTER ROLE %1$I NOLOGIN", name, "").await?;
    // Waits for each of them to be gone, in milliseconds.
    let end = "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE usename = $1";
    sqlx::query(end).bind(name).execute(&mut *db).await?;
    run(db, "DROP ROLE %1$I", name, "").await?;
    Ok(())
}

/// Whether `name` is an analyst; false when nobody has the name.
async fn standing(db: &mut PgConnection, name: &str) -> Result<bool, AnalystError> {
    let sql = "SELECT pg_has_role(m.oid, g.oid, 'MEMBER') AND NOT m.rolsuper
                 FROM pg_roles m LEFT JOIN pg_roles g ON g.rolname = 'bursar_analysts' WHERE m.rolname = $1";
    let found: Option<Option<bool>> = sqlx::query_scalar(sql).bind(name).fetch_optional(db).await?;
    match found {
        None => Ok(false),
        Some(Some(true)) => Ok(true),
        Some(_) => Err(AnalystError::SomebodyElse(name.to_owned())),
    }
}

/// Runs a statement about a role: its name is `%1$I`, the verifier `%2$L`, this database `%3$I`. What is about roles takes no
/// parameters, so that Postgres itself puts them in.
async fn run(db: &mut PgConnection, statement: &str, name: &str, verifier: &str) -> sqlx::Result<()> {
    let filled: String = sqlx::query_scalar("SELECT format($1, $2::text, $3::text, current_database())")
        .bind(statement)
        .bind(name)
        .bind(verifier)
        .fetch_one(&mut *db)
        .await?;
    execute(db, &filled).await
}
