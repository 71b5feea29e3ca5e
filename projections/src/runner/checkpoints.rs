//! `read.checkpoints`: how far each model is, and who may move it.

use bursar_domain::Position;
use futures_util::FutureExt as _;
use sqlx::PgConnection;
use sqlx::types::Json;

use crate::catalogue::catalogue;
use crate::read_model::{Mask, ParkedRows, Poison};

/// How far a model is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    /// The last event its tables contain.
    pub(crate) position: Position,
    /// How often a rebuild has replaced the tables; what is held in memory belongs to one generation.
    pub(crate) generation: i64,
    /// The event it could not take.
    pub(crate) poison: Option<(Position, String)>,
    /// The row sets it has left behind.
    pub(crate) parked: Vec<ParkedRows>,
}

impl Checkpoint {
    /// Hides the row sets that were left behind.
    pub(crate) fn mask(&self) -> Mask {
        Mask::these(self.parked.iter().map(|parked| parked.row_set.clone()).collect())
    }
}

/// Makes sure that each model of the catalogue has a checkpoint.
pub(crate) async fn register(db: &mut PgConnection) -> sqlx::Result<()> {
    let names: Vec<String> = catalogue().iter().map(|entry| entry.name.to_owned()).collect();
    sqlx::query!(
        "INSERT INTO checkpoints (model, position) SELECT name, 0 FROM UNNEST($1::text[]) AS name
         ON CONFLICT (model) DO NOTHING",
        &names
    )
    .execute(db)
    .await?;
    Ok(())
}

/// The checkpoints of the catalogue, in its order.
pub(crate) async fn read(db: &mut PgConnection) -> sqlx::Result<Vec<Checkpoint>> {
    let rows = sqlx::query!(
        r#"SELECT model, position, generation, poison, reason,
                  (SELECT json_agg(json_build_object('row_set', row_set, 'position', p.position, 'reason', p.reason,
                                                     'owners', owners) ORDER BY p.position, row_set)
                     FROM parked p WHERE p.model = c.model) AS "parked?: Json<Vec<ParkedRows>>"
             FROM checkpoints c"#
    )
    .fetch_all(db)
    .await?;
    let of = |name| {
        rows.iter().find(|row| row.model == name).map_or_else(Checkpoint::default, |row| Checkpoint {
            position: row.position,
            generation: row.generation,
            poison: row.poison.map(|position| (position, row.reason.clone().unwrap_or_default())),
            parked: row.parked.as_ref().map(|Json(parked)| parked.clone()).unwrap_or_default(),
        })
    };
    Ok(catalogue().iter().map(|entry| of(entry.name)).collect())
}

/// A step of one model.
pub(crate) struct Step {
    pub(crate) model: &'static str,
    pub(crate) from: Checkpoint,
    pub(crate) to: Position,
    pub(crate) poison: Option<Poison>,
    /// The row sets that are left behind from here on.
    pub(crate) parked: Vec<Poison>,
}

/// Moves the checkpoints and locks them until the transaction ends. False when one of them is not where we
/// left it, because a rebuild has replaced its tables.
pub(crate) async fn advance(db: &mut PgConnection, steps: &[Step]) -> sqlx::Result<bool> {
    let models: Vec<String> = steps.iter().map(|step| step.model.to_owned()).collect();
    let from: Vec<i64> = steps.iter().map(|step| step.from.position).collect();
    let generations: Vec<i64> = steps.iter().map(|step| step.from.generation).collect();
    let to: Vec<i64> = steps.iter().map(|step| step.to).collect();
    let poisons: Vec<Option<i64>> =
        steps.iter().map(|step| step.poison.as_ref().map(|poison| poison.position)).collect();
    let reasons: Vec<Option<String>> =
        steps.iter().map(|step| step.poison.as_ref().map(|poison| poison.reason.clone())).collect();
    let moved = sqlx::query!(
        "UPDATE checkpoints c SET position = s.upto, poison = s.poison, reason = s.reason
         FROM UNNEST($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[])
              AS s (model, after, generation, upto, poison, reason)
         WHERE c.model = s.model AND c.position = s.after AND c.generation = s.generation",
        &models,
        &from,
        &generations,
        &to,
        &poisons as _,
        &reasons as _
    )
    .execute(&mut *db)
    .await?;
    if usize::try_from(moved.rows_affected()) != Ok(steps.len()) {
        return Ok(false);
    }
    let parked = steps.iter().flat_map(|step| step.parked.iter().map(|poison| (step.model, poison.clone())));
    let parked: Vec<(&'static str, Poison)> = parked.collect();
    for (model, poison) in &parked {
        park(&mut *db, model, poison).boxed().await?;
    }
    Ok(true)
}

/// Leaves row sets behind. Who is concerned: the person or the holder of the account that a row set is named by, and those
/// whom the event names.
async fn park(db: &mut PgConnection, model: &str, poison: &Poison) -> sqlx::Result<()> {
    sqlx::query!(
        r#"INSERT INTO parked (model, row_set, position, reason, owners)
           SELECT $1, row_set, $3, $4, ARRAY(
                  SELECT owner FROM ledger_accounts WHERE (account = row_set OR account = ANY($5)) AND owner IS NOT NULL
                  UNION SELECT named FROM UNNEST($5::text[] || row_set) AS named WHERE named LIKE 'usr\_%')
             FROM UNNEST($2::text[]) AS row_set
           ON CONFLICT (model, row_set) DO NOTHING"#,
        model,
        &poison.row_sets,
        poison.position,
        poison.reason,
        &poison.concerns
    )
    .execute(db)
    .await?;
    Ok(())
}

/// What a session-level lock of this crate is for.
#[derive(Clone, Copy)]
pub(crate) enum Lock {
    /// Writing the live tables.
    Run = 0x6275_7273,
    /// Building tables beside them.
    Rebuild = 0x6275_7274,
}

/// Takes the lock of `model` (`""`: of all of them) for this session, unless somebody has it. It goes with the session.
pub(crate) async fn try_lock(db: &mut PgConnection, lock: Lock, model: &str) -> sqlx::Result<bool> {
    // One of each for each read schema, because several journals may share a database.
    let locked = sqlx::query_scalar!(
        r#"SELECT pg_try_advisory_lock($1, hashtext(relnamespace::text || $2)) AS "locked!"
           FROM pg_class WHERE oid = 'checkpoints'::regclass"#,
        lock as i32,
        model
    );
    locked.fetch_one(db).await
}

/// Gives one lock back.
pub(crate) async fn unlock_one(db: &mut PgConnection, lock: Lock, model: &str) -> sqlx::Result<()> {
    let sql = "SELECT pg_advisory_unlock($1, hashtext(relnamespace::text || $2))
               FROM pg_class WHERE oid = 'checkpoints'::regclass";
    sqlx::query(sql).bind(lock as i32).bind(model).execute(db).await?;
    Ok(())
}

/// Gives the session's lock back at once; a closed session keeps it until the server has noticed.
pub(crate) async fn unlock(db: &mut PgConnection) -> sqlx::Result<()> {
    sqlx::query!("SELECT pg_advisory_unlock_all()").execute(db).await?;
    Ok(())
}
