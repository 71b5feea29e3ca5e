//! Who is logged in where.

use std::collections::HashMap;

use bursar_domain::kernel::{SessionId, UserId};
use bursar_domain::sessions::{Issued, SessionEvent, Started};
use bursar_domain::users::UserEvent;
use bursar_domain::{Event, Kind, Position, Recorded};
use jiff::Timestamp;
use jiff_sqlx::ToSqlx as _;
use serde::{Deserialize, Serialize};
use sqlx::types::Json;
use sqlx::{PgConnection, PgPool};

use crate::read_model::{FoldError, ReadModel, Table};
use crate::records::{Record, Records};
use crate::row::{named, owner};

/// A session that is not over. The field names are the table's columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRow {
    /// Its id.
    pub session_id: SessionId,
    /// Who logged in.
    pub owner: UserId,
    /// The device it is bound to.
    pub device_id: String,
    /// When they logged in.
    pub started_at: Timestamp,
    /// When its tokens were last exchanged.
    pub refreshed_at: Option<Timestamp>,
    /// When it is over unless it is refreshed before.
    pub expires_at: Timestamp,
    /// Position of the last event that changed the row.
    pub last_position: Position,
}

impl Record for SessionRow {
    const TABLE: &'static Table = &Sessions::TABLES[0];
    const GROUP: &'static str = "owner";
    type Key = SessionId;
    type Group = UserId;

    fn key(&self) -> SessionId {
        self.session_id
    }

    fn group(&self) -> UserId {
        self.owner
    }
}

/// How many sessions `owner` has at `now`, `except` aside.
///
/// # Errors
/// When the database cannot be read.
pub async fn count_of_owner(
    pool: &PgPool,
    owner: UserId,
    except: Option<SessionId>,
    now: Timestamp,
) -> sqlx::Result<u32> {
    let count = sqlx::query_scalar!(
        r#"SELECT count(*) AS "count!" FROM sessions
            WHERE owner = $1 AND expires_at > $2 AND session_id IS DISTINCT FROM $3"#,
        owner.to_string(),
        now.to_sqlx() as _,
        except.map(|session| session.to_string()),
    );
    Ok(u32::try_from(count.fetch_one(pool).await?).unwrap_or(u32::MAX))
}

/// The sessions that `owner` has on a device at `now`, and when each was last used.
///
/// # Errors
/// When the database cannot be read.
pub async fn of_device(
    pool: &PgPool,
    owner: UserId,
    device_id: &str,
    now: Timestamp,
) -> sqlx::Result<Vec<(SessionId, Timestamp)>> {
    let sql = "SELECT to_jsonb(t) FROM sessions t WHERE owner = $1 AND device_id = $2 AND expires_at > $3";
    let query = sqlx::query_scalar::<_, Json<SessionRow>>(sql).bind(owner.to_string()).bind(device_id);
    let rows = query.bind(now.to_sqlx()).fetch_all(pool).await?;
    Ok(rows
        .into_iter()
        .map(|Json(row)| (row.session_id, row.refreshed_at.unwrap_or(row.started_at)))
        .collect())
}

/// The read model behind [`count_of_owner`].
#[derive(Debug, Default)]
pub struct Sessions {
    rows: Records<SessionRow>,
    /// Whose each session of the batch is: its events do not say.
    owners: HashMap<SessionId, UserId>,
}

impl Sessions {
    fn start(&mut self, event: &Recorded, started: &Started) -> Result<(), FoldError> {
        // Good for one thing only, and soon over.
        if started.awaits.is_some() {
            return Ok(());
        }
        let owner = started.user_id;
        let expired = self.rows.rows(&owner).filter(|row| row.expires_at <= event.recorded_at);
        let expired: Vec<SessionId> = expired.map(|row| row.session_id).collect();
        for session in expired {
            self.rows.remove(&owner, &session);
        }
        self.rows.insert(SessionRow {
            session_id: named(event)?,
            owner,
            device_id: started.device_id.clone(),
            started_at: started.first.issued_at,
            refreshed_at: None,
            expires_at: started.first.refresh_expires_at,
            last_position: event.position,
        });
        Ok(())
    }

    fn refresh(&mut self, event: &Recorded, issued: &Issued) -> Result<(), FoldError> {
        let session: SessionId = named(event)?;
        if let Some(owner) = self.owners.get(&session) {
            self.rows.change(
                owner,
                |row| row.session_id == session,
                |row| {
                    row.refreshed_at = Some(issued.issued_at);
                    row.expires_at = issued.refresh_expires_at;
                    row.last_position = event.position;
                },
            );
        }
        Ok(())
    }

    fn end(&mut self, event: &Recorded) -> Result<(), FoldError> {
        let session: SessionId = named(event)?;
        if let Some(owner) = self.owners.get(&session) {
            self.rows.remove(owner, &session);
        }
        Ok(())
    }

    fn end_all(&mut self, owner: UserId, except: Option<SessionId>) {
        let over = self.rows.rows(&owner).map(|row| row.session_id);
        let over: Vec<SessionId> = over.filter(|session| Some(*session) != except).collect();
        for session in over {
            self.rows.remove(&owner, &session);
        }
    }
}

impl ReadModel for Sessions {
    const NAME: &'static str = "sessions";
    const READS: &'static [Kind] = &[Kind::Session, Kind::User];
    const TABLES: &'static [Table] =
        &[Table { name: "sessions", key: &["session_id"], position: "last_position", append_only: false }];

    async fn load(&mut self, db: &mut PgConnection, events: &[Recorded]) -> sqlx::Result<()> {
        let mut unknown = Vec::new();
        let mut owners = Vec::new();
        for event in events {
            match &event.event {
                Event::Session(SessionEvent::Started(started)) => {
                    owners.push(started.user_id);
                    self.owners.extend(named(event).map(|session| (session, started.user_id)));
                }
                Event::Session(_) => unknown.push(event.stream.id.to_string()),
                Event::User(UserEvent::SessionsEnded(_) | UserEvent::Erased(_)) => {
                    owners.extend(owner(event))
                }
                _ => {}
            }
        }
        let sql = "SELECT session_id, owner FROM sessions WHERE session_id = ANY($1)";
        if !unknown.is_empty() {
            let found: Vec<(String, String)> = sqlx::query_as(sql).bind(&unknown).fetch_all(&mut *db).await?;
            for (session, owner) in found {
                // A row whose ids cannot be read is nobody's.
                if let (Ok(session), Ok(owner)) = (session.parse(), owner.parse()) {
                    self.owners.insert(session, owner);
                    owners.push(owner);
                }
            }
        }
        self.rows.load(db, owners.into_iter()).await
    }

    fn fold(&mut self, event: &Recorded) -> Result<(), FoldError> {
        match &event.event {
            Event::Session(SessionEvent::Started(started)) => self.start(event, started),
            Event::Session(SessionEvent::Refreshed(issued) | SessionEvent::Reissued(issued)) => {
                self.refresh(event, issued)
            }
            Event::Session(SessionEvent::Ended { .. }) => self.end(event),
            Event::User(UserEvent::SessionsEnded(ended)) => {
                self.end_all(owner(event)?, ended.except);
                Ok(())
            }
            Event::User(UserEvent::Erased(_)) => {
                self.end_all(owner(event)?, None);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn pending(&self) -> usize {
        self.rows.pending()
    }

    async fn save(&mut self, db: &mut PgConnection) -> sqlx::Result<()> {
        self.rows.save(db).await?;
        // From here on the table knows them.
        self.owners.clear();
        Ok(())
    }
}
