//! `rebuilds`: how far a rebuild is and what came of it, where every server and a later process can read it.

use bursar_domain::Position;
use jiff::Timestamp;
use jiff_sqlx::ToSqlx as _;
use sqlx::types::Json;
use sqlx::{PgConnection, PgPool};

use super::diff::Difference;
use super::{RebuildError, Report};
use crate::catalogue::{Entry, catalogue};
use crate::runner::Lock;

bursar_domain::spelled! {
    /// What a rebuild is doing or has come to.
    pub enum RebuildState {
        /// Never asked for.
        None = "NONE",
        /// Being carried out.
        Running = "RUNNING",
        /// Whoever carried it out is gone; the next one goes on where it stopped.
        Interrupted = "INTERRUPTED",
        /// The tables were replaced.
        Swapped = "SWAPPED",
        /// Checked: the tables are what the log says.
        Equal = "EQUAL",
        /// Checked: some rows are not.
        Different = "DIFFERENT",
        /// It cannot be done; see the reason.
        Failed = "FAILED",
    }
}

/// How far a rebuild or check of a read model is, or what came of the last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RebuildStatus {
    /// The read model.
    pub model: &'static str,
    /// What it is doing.
    pub state: RebuildState,
    /// Whether the tables are compared only.
    pub verify: bool,
    /// Position of the order in the log; 0 when it was given on the command line.
    pub ordered_at: Position,
    /// The last event in the tables that are being made.
    pub position: Position,
    /// Where they are being brought to.
    pub target: Position,
    /// Events of the log passed a second.
    pub events_per_second: i64,
    /// When it was begun.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// The position at which the tables were compared.
    pub compared_at: Option<Position>,
    /// Rows that were compared.
    pub rows_compared: i64,
    /// How many of them differ.
    pub differing: i64,
    /// The first of them in the order of the log.
    pub differences: Vec<Difference>,
    /// Why it failed or was interrupted.
    pub reason: Option<String>,
    pub(super) program: String,
}

impl RebuildStatus {
    const fn none(model: &'static str) -> Self {
        Self {
            model,
            state: RebuildState::None,
            verify: false,
            ordered_at: 0,
            position: 0,
            target: 0,
            events_per_second: 0,
            started_at: None,
            finished_at: None,
            compared_at: None,
            rows_compared: 0,
            differing: 0,
            differences: Vec::new(),
            reason: None,
            program: String::new(),
        }
    }

    /// The report that was made before an interruption; the values of the rows were not kept.
    pub(super) fn report(&self) -> Option<Report> {
        let diffs = self.differences.iter().filter_map(|difference| difference.diff(self.model)).collect();
        Some(Report {
            model: self.model,
            position: self.compared_at?,
            rows: self.rows_compared,
            differing: self.differing,
            diffs,
        })
    }
}

/// The rebuild of the read model `model`: the running one, or what came of the last.
///
/// # Errors
/// [`RebuildError::UnknownModel`], or when the database cannot be read.
pub async fn rebuild_status(pool: &PgPool, model: &str) -> Result<RebuildStatus, RebuildError> {
    let entry = super::find(model)?;
    let mut db = pool.acquire().await?;
    Ok(status(&mut db, entry).await?)
}

pub(super) async fn status(db: &mut PgConnection, entry: &'static Entry) -> sqlx::Result<RebuildStatus> {
    // Whoever carries it out holds an advisory lock; a look at the list of locks takes none.
    let row = sqlx::query!(
        r#"SELECT ordered_at, verify, state, program, position, target, events_per_second,
                  started_at AS "started_at: jiff_sqlx::Timestamp", finished_at AS "finished_at: jiff_sqlx::Timestamp",
                  compared_at, rows_compared, differing, differences AS "differences: Json<Vec<Difference>>", reason,
                  EXISTS (SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database, pg_class c
                           WHERE d.datname = current_database() AND c.oid = 'checkpoints'::regclass
                             AND l.locktype = 'advisory' AND l.granted AND l.objsubid = 2
                             AND l.classid::bigint = $2
                             AND l.objid::bigint = hashtext(c.relnamespace::text || r.model)::bigint & 4294967295)
                  AS "is_held!"
           FROM rebuilds r WHERE model = $1"#,
        entry.name,
        i64::from(Lock::Rebuild as i32)
    );
    let Some(row) = row.fetch_optional(db).await? else { return Ok(RebuildStatus::none(entry.name)) };
    let state: RebuildState = crate::row::parsed(&row.state)?;
    let state =
        if state == RebuildState::Running && !row.is_held { RebuildState::Interrupted } else { state };
    Ok(RebuildStatus {
        model: entry.name,
        state,
        verify: row.verify,
        ordered_at: row.ordered_at,
        position: row.position,
        target: row.target,
        events_per_second: row.events_per_second,
        started_at: Some(row.started_at.to_jiff()),
        finished_at: row.finished_at.map(jiff_sqlx::Timestamp::to_jiff),
        compared_at: row.compared_at,
        rows_compared: row.rows_compared,
        differing: row.differing,
        differences: row.differences.0,
        reason: row.reason,
        program: row.program,
    })
}

/// What a new rebuild begins with.
pub(super) struct Beginning<'a> {
    pub(super) ordered_at: Position,
    pub(super) verify: bool,
    pub(super) program: &'a str,
    pub(super) at: Timestamp,
}

/// Writes the rows of `rebuilds` by name of schema: unqualified names mean the tables in the making.
pub(super) struct Rows<'a>(pub(super) &'a str);

impl Rows<'_> {
    /// A rebuild begins with nothing.
    pub(super) async fn begin(
        &self,
        db: &mut PgConnection,
        model: &str,
        with: &Beginning<'_>,
    ) -> sqlx::Result<()> {
        let sql = format!(
            "INSERT INTO {}.rebuilds (model, ordered_at, verify, state, program, position, target, events_per_second,
                                      started_at, rows_compared, differing, differences)
             VALUES ($1, $2, $3, 'RUNNING', $4, 0, 0, 0, $5, 0, 0, '[]')
             ON CONFLICT (model) DO UPDATE
             SET ordered_at = EXCLUDED.ordered_at, verify = EXCLUDED.verify, state = 'RUNNING',
                 program = EXCLUDED.program, position = 0, target = 0, events_per_second = 0,
                 started_at = EXCLUDED.started_at, finished_at = NULL, compared_at = NULL, rows_compared = 0,
                 differing = 0, differences = '[]', reason = NULL",
            self.0
        );
        let query = sqlx::query(&sql).bind(model).bind(with.ordered_at).bind(with.verify);
        query.bind(with.program).bind(with.at.to_sqlx()).execute(db).await?;
        Ok(())
    }

    /// A rebuild goes on where another process stopped.
    pub(super) async fn resume(
        &self,
        db: &mut PgConnection,
        model: &str,
        with: &Beginning<'_>,
    ) -> sqlx::Result<()> {
        let sql = format!(
            "UPDATE {}.rebuilds SET ordered_at = $2, verify = $3, reason = NULL WHERE model = $1",
            self.0
        );
        let query = sqlx::query(&sql).bind(model).bind(with.ordered_at).bind(with.verify);
        query.execute(db).await?;
        Ok(())
    }

    /// The tables in the making contain everything up to a position; in the transaction that makes it so.
    pub(super) async fn folded(
        &self,
        db: &mut PgConnection,
        folded: &[(&str, Position, Position)],
        events_per_second: i64,
    ) -> sqlx::Result<()> {
        let sql = format!(
            "UPDATE {}.rebuilds r SET position = n.position, target = n.target, events_per_second = $4
             FROM UNNEST($1::text[], $2::bigint[], $3::bigint[]) AS n (model, position, target)
             WHERE r.model = n.model",
            self.0
        );
        let models: Vec<&str> = folded.iter().map(|(model, ..)| *model).collect();
        let positions: Vec<i64> = folded.iter().map(|(_, position, _)| *position).collect();
        let targets: Vec<i64> = folded.iter().map(|(.., target)| *target).collect();
        let query = sqlx::query(&sql).bind(models).bind(positions).bind(targets);
        query.bind(events_per_second).execute(db).await?;
        Ok(())
    }

    /// Live and rebuilt tables were compared.
    pub(super) async fn compared(&self, db: &mut PgConnection, report: &Report) -> sqlx::Result<()> {
        let sql = format!(
            "UPDATE {}.rebuilds SET compared_at = $2, rows_compared = $3, differing = $4, differences = $5
             WHERE model = $1",
            self.0
        );
        let differences: Vec<Difference> = report.diffs.iter().map(Difference::of).collect();
        let query = sqlx::query(&sql).bind(report.model).bind(report.position).bind(report.rows);
        query.bind(report.differing).bind(Json(differences)).execute(db).await?;
        Ok(())
    }

    /// The rebuild of `model` has come to an end, or was given up with a `reason`.
    pub(super) async fn ended(
        &self,
        db: &mut PgConnection,
        model: &str,
        (state, at, reason): (RebuildState, Option<Timestamp>, Option<&str>),
    ) -> sqlx::Result<()> {
        let sql = format!(
            "UPDATE {}.rebuilds SET state = $2, finished_at = $3, reason = $4 WHERE model = $1",
            self.0
        );
        let query = sqlx::query(&sql).bind(model).bind(state.as_str());
        query.bind(at.map(jiff_sqlx::ToSqlx::to_sqlx)).bind(reason).execute(db).await?;
        Ok(())
    }
}

/// The static name of a table of the read model `model`.
pub(super) fn table(model: &str, name: &str) -> Option<&'static str> {
    let entry = catalogue().iter().find(|entry| entry.name == model)?;
    entry.tables.iter().map(|table| table.name).find(|table| *table == name)
}
