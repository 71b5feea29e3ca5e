//! Tables beside the live ones: the same names in a schema of their own.

use bursar_domain::Position;
use sqlx::{PgConnection, Row};

use crate::read_model::Table;

/// The schema of the live tables, the schema next to it, and the tables that are built there.
pub(super) struct Shadow {
    /// Quoted, as SQL writes it; so is `next`.
    pub(super) live: String,
    pub(super) next: String,
    tables: Vec<&'static Table>,
}

/// How far a live model is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Live {
    pub(super) position: Position,
    /// Whether it stopped at an event it cannot take.
    pub(super) is_parked: bool,
}

/// What `CREATE TABLE ... (LIKE ...)` leaves behind: storage parameters, the table's comment, grants.
const DRESS: &str = "
    SELECT format('ALTER TABLE %s.%I SET (%s)', $2, relname, array_to_string(reloptions, ', '))
      FROM pg_class WHERE oid = $1::regclass AND reloptions IS NOT NULL
    UNION ALL
    SELECT format('COMMENT ON TABLE %s.%I IS %L', $2, relname, obj_description(oid, 'pg_class'))
      FROM pg_class WHERE oid = $1::regclass AND obj_description(oid, 'pg_class') IS NOT NULL
    UNION ALL
    SELECT format('GRANT %s ON %s.%I TO %s', a.privilege_type, $2, relname,
                  CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END)
      FROM pg_class, aclexplode(relacl) a WHERE oid = $1::regclass AND a.grantee <> relowner
    UNION ALL
    SELECT format('GRANT %s (%I) ON %s.%I TO %s', a.privilege_type, attname, $2, relname,
                  CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END)
      FROM pg_attribute t JOIN pg_class c ON c.oid = t.attrelid, aclexplode(t.attacl) a
     WHERE t.attrelid = $1::regclass AND a.grantee <> c.relowner";

/// The constraints that are indexes, and the other indexes, under the names they have on the live table; those that are
/// there are passed over.
const INDEX: &str = "
    SELECT format('ALTER TABLE %s.%I ADD CONSTRAINT %I %s', $2, relname, conname, pg_get_constraintdef(k.oid))
      FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
     WHERE k.conrelid = $1::regclass AND k.contype IN ('p', 'u', 'x')
       AND to_regclass(format('%s.%I', $2, conname)) IS NULL
    UNION ALL
    SELECT replace(pg_get_indexdef(i.indexrelid), format(' ON %s ', $1), format(' ON %s.%I ', $2, relname))
      FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
     WHERE i.indrelid = $1::regclass
       AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.indexrelid AND conrelid = i.indrelid)
       AND to_regclass(format('%s.%I', $2, (SELECT relname FROM pg_class WHERE oid = i.indexrelid))) IS NULL";

impl Shadow {
    /// Makes unqualified names on `db` mean the tables in the making. From here on `db` cannot touch a live table by
    /// accident.
    pub(super) async fn open(db: &mut PgConnection, tables: Vec<&'static Table>) -> sqlx::Result<Self> {
        let row = sqlx::query(
            "SELECT quote_ident(nspname), quote_ident(nspname || '_next'),
                    (SELECT string_agg(quote_ident(CASE s WHEN nspname THEN nspname || '_next' ELSE s END), ', ' ORDER BY place)
                       FROM unnest(current_schemas(false)) WITH ORDINALITY AS path (s, place))
             FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = 'checkpoints'::regclass",
        )
        .fetch_one(&mut *db)
        .await?;
        let shadow = Self { live: row.try_get(0)?, next: row.try_get(1)?, tables };
        let path: String = row.try_get(2)?;
        // The schema stays: rebuilds of other models use it too.
        match execute(db, &format!("CREATE SCHEMA IF NOT EXISTS {}", shadow.next)).await {
            // Somebody else is just making it.
            Err(e) if e.as_database_error().is_some_and(|e| e.is_unique_violation()) => {}
            made => made?,
        }
        // Sorting, hashing and indexing whole tables is what this connection is for.
        for setting in
            ["maintenance_work_mem = '256MB'", "work_mem = '64MB'", &format!("search_path = {path}")]
        {
            execute(db, &format!("SET {setting}")).await?;
        }
        Ok(shadow)
    }

    /// Creates the tables of a model, empty; what an earlier rebuild has left of them goes.
    pub(super) async fn create(&self, db: &mut PgConnection, tables: &'static [Table]) -> sqlx::Result<()> {
        self.drop_tables(db, tables).await?;
        for table in tables {
            let (live, next) = (self.live(table), self.next(table));
            execute(db, &format!("CREATE TABLE {next} (LIKE {live} INCLUDING ALL EXCLUDING INDEXES)"))
                .await?;
            self.run_all(db, DRESS, table).await?;
            if !table.append_only {
                self.run_all(db, INDEX, table).await?;
            }
        }
        Ok(())
    }

    /// Whether all tables of a model are there, as an interrupted rebuild has left them.
    pub(super) async fn has(&self, db: &mut PgConnection, tables: &[Table]) -> sqlx::Result<bool> {
        let names: Vec<String> = tables.iter().map(|table| self.next(table)).collect();
        let sql = "SELECT bool_and(to_regclass(name) IS NOT NULL) FROM UNNEST($1::text[]) AS name";
        sqlx::query_scalar(sql).bind(names).fetch_one(db).await
    }

    /// Drops the tables of a model.
    pub(super) async fn drop_tables(&self, db: &mut PgConnection, tables: &[Table]) -> sqlx::Result<()> {
        for table in tables {
            execute(db, &format!("DROP TABLE IF EXISTS {}", self.next(table))).await?;
        }
        Ok(())
    }

    pub(super) fn live(&self, table: &Table) -> String {
        format!("{}.{}", self.live, table.name)
    }

    pub(super) fn next(&self, table: &Table) -> String {
        format!("{}.{}", self.next, table.name)
    }

    /// Indexes what was filled without, and tells the planner what is there.
    pub(super) async fn finish(&self, db: &mut PgConnection) -> sqlx::Result<()> {
        for table in &self.tables {
            if table.append_only {
                self.run_all(db, INDEX, table).await?;
            }
            execute(db, &format!("ANALYZE {}", self.next(table))).await?;
        }
        Ok(())
    }

    /// The live checkpoints of `models`, in their order; locked until the transaction ends, if so wanted.
    pub(super) async fn checkpoints(
        &self,
        db: &mut PgConnection,
        models: &[String],
        lock: bool,
    ) -> sqlx::Result<Vec<Live>> {
        let lock = if lock { "FOR UPDATE" } else { "" };
        let sql = format!(
            "SELECT position, generation, poison FROM {}.checkpoints WHERE model = ANY($1)
             ORDER BY array_position($1, model) {lock}",
            self.live
        );
        let rows = sqlx::query(&sql).bind(models).fetch_all(db).await?;
        let checkpoint = |row: &sqlx::postgres::PgRow| {
            let poison: Option<Position> = row.try_get(2)?;
            Ok(Live { position: row.try_get(0)?, is_parked: poison.is_some() })
        };
        rows.iter().map(checkpoint).collect()
    }

    /// Locks the new tables. Nobody waits behind us but Postgres' own housekeeping, which has just found that they are full, and
    /// which gives way to whoever has waited for a second.
    pub(super) async fn lock_next(&self, db: &mut PgConnection) -> sqlx::Result<()> {
        lock(db, "5s", self.tables.iter().map(|table| self.next(table))).await
    }

    /// Locks the live tables, or gives up soon: whoever reads them after us waits behind us.
    pub(super) async fn lock_live(&self, db: &mut PgConnection) -> sqlx::Result<()> {
        lock(db, "500ms", self.tables.iter().map(|table| self.live(table))).await
    }

    /// Puts the tables in the place of the live ones, which go.
    pub(super) async fn swap(
        &self,
        db: &mut PgConnection,
        models: &[String],
        positions: &[Position],
    ) -> sqlx::Result<()> {
        for table in &self.tables {
            execute(db, &format!("DROP TABLE {}", self.live(table))).await?;
            execute(db, &format!("ALTER TABLE {} SET SCHEMA {}", self.next(table), self.live)).await?;
        }
        let sql = format!(
            "UPDATE {}.checkpoints c SET position = n.position, generation = generation + 1, poison = NULL, reason = NULL
             FROM UNNEST($1::text[], $2::bigint[]) AS n (model, position) WHERE c.model = n.model",
            self.live
        );
        sqlx::query(&sql).bind(models).bind(positions).execute(&mut *db).await?;
        let sql = format!("DELETE FROM {}.parked WHERE model = ANY($1)", self.live);
        sqlx::query(&sql).bind(models).execute(db).await?;
        Ok(())
    }

    /// Runs the statements that `query` makes for `table`.
    async fn run_all(&self, db: &mut PgConnection, query: &str, table: &Table) -> sqlx::Result<()> {
        let statements = sqlx::query_scalar(query).bind(self.live(table)).bind(&self.next);
        let statements: Vec<String> = statements.fetch_all(&mut *db).await?;
        for statement in statements {
            execute(db, &statement).await?;
        }
        Ok(())
    }
}

/// Runs a statement that takes no parameters, without preparing it.
pub(crate) async fn execute(db: &mut PgConnection, sql: &str) -> sqlx::Result<()> {
    sqlx::Executor::execute(db, sqlx::raw_sql(sql)).await?;
    Ok(())
}

/// Locks tables for nobody else, or fails when they are not free in time. The patience holds for the rest of the transaction.
async fn lock(
    db: &mut PgConnection,
    patience: &str,
    tables: impl Iterator<Item = String>,
) -> sqlx::Result<()> {
    execute(db, &format!("SET LOCAL lock_timeout = '{patience}'")).await?;
    let tables: Vec<String> = tables.collect();
    execute(db, &format!("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE", tables.join(", "))).await
}
