//! What the bank has told its customers.

use std::collections::{BTreeMap, BTreeSet};

use bursar_domain::kernel::{MessageId, UserId};
use bursar_domain::messages::{Category, Channel, MessagesEvent, Notice};
use bursar_domain::{Event, Kind, Position, Recorded};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgPool, Postgres, QueryBuilder};

use crate::page::{Page, Paged, Sort, SortField, contains};
use crate::read_model::{FoldError, Mask, ReadModel, Table};
use crate::records::{Record, Records, equal, list};
use crate::row::{ERASED, erasure, named};

/// A message. The field names are the table's columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageRow {
    /// Its id.
    pub message_id: MessageId,
    /// Whose it is.
    pub owner: UserId,
    /// What kind of news it is.
    pub category: Category,
    /// What it is about, in a few words.
    pub subject: String,
    /// What people read.
    pub body: String,
    /// Ids of what it is about, by name.
    pub about: BTreeMap<String, String>,
    /// The ways it was handed over besides being kept here.
    pub sent_by: BTreeSet<Channel>,
    /// When.
    pub created_at: Timestamp,
    /// Position of the last event that changed the row.
    pub last_position: Position,
}

impl MessageRow {
    fn posted(event: &Recorded, owner: UserId, notice: &Notice) -> Self {
        Self {
            message_id: notice.id,
            owner,
            category: notice.category,
            subject: notice.subject.clone(),
            body: notice.body.or_erased().to_owned(),
            about: notice.about.clone(),
            sent_by: BTreeSet::new(),
            created_at: event.recorded_at,
            last_position: event.position,
        }
    }
}

impl Record for MessageRow {
    const TABLE: &'static Table = &MessageList::TABLES[0];
    const GROUP: &'static str = "owner";
    type Key = MessageId;
    type Group = UserId;

    fn key(&self) -> MessageId {
        self.message_id
    }

    fn group(&self) -> UserId {
        self.owner
    }
}

/// What a list can be sorted by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MessageSort {
    /// When they were written.
    #[default]
    CreatedAt,
    /// What kind of news they are.
    Category,
}

impl SortField for MessageSort {
    const NAMES: &'static [(&'static str, Self)] =
        &[("createdAt", Self::CreatedAt), ("category", Self::Category)];
}

/// Which messages a list shows; everything that is `None` does not matter.
#[derive(Debug, Clone, Default)]
pub struct MessageFilter {
    /// Only this kind of news.
    pub category: Option<Category>,
    /// Only with this text in subject or body, upper or lower case.
    pub text: Option<String>,
}

/// One page of `owner`'s messages that `filter` lets through.
///
/// # Errors
/// When the database cannot be read.
pub async fn of_owner(
    pool: &PgPool,
    owner: UserId,
    filter: &MessageFilter,
    sort: Sort<MessageSort>,
    page: Page,
) -> sqlx::Result<Paged<MessageRow>> {
    let order = match sort.field {
        MessageSort::CreatedAt => format!("created_at {}", sort.direction()),
        MessageSort::Category => format!("category {}, created_at DESC", sort.direction()),
    };
    let matching = |query: &mut QueryBuilder<'_, Postgres>| {
        equal(query, [("category", filter.category.map(|category| category.to_string()))]);
        if let Some(text) = &filter.text {
            query.push(" AND subject || ' ' || body ILIKE ").push_bind(contains(text));
        }
    };
    list(pool, &owner, matching, &order, page).await
}

/// The read model behind [`of_owner`].
#[derive(Debug, Default)]
pub struct MessageList {
    rows: Records<MessageRow>,
}

impl ReadModel for MessageList {
    const NAME: &'static str = "messages";
    const READS: &'static [Kind] = &[Kind::Messages, Kind::User];

    const ROW_SETS: &'static [Kind] = &[Kind::Messages, Kind::User];

    fn mask(&mut self, mask: &Mask) {
        self.rows.mask(mask);
    }
    const TABLES: &'static [Table] = &[Table {
        name: "messages",
        key: &["owner", "message_id"],
        position: "last_position",
        append_only: false,
    }];

    async fn load(&mut self, db: &mut PgConnection, events: &[Recorded]) -> sqlx::Result<()> {
        let messages =
            events.iter().filter(|event| event.stream.kind == Kind::Messages || erasure(event).is_some());
        self.rows.load(db, messages.filter_map(|event| named(event).ok())).await
    }

    fn fold(&mut self, event: &Recorded) -> Result<(), FoldError> {
        if let Some((user, _)) = erasure(event) {
            self.rows.change(
                &user,
                |_| true,
                |row| {
                    ERASED.clone_into(&mut row.body);
                    row.last_position = event.position;
                },
            );
        }
        let Event::Messages(what) = &event.event else { return Ok(()) };
        let owner = named(event)?;
        match what {
            MessagesEvent::Posted(notice) => self.rows.insert(MessageRow::posted(event, owner, notice)),
            MessagesEvent::Delivered { id, channel } => {
                let change = |row: &mut MessageRow| {
                    row.sent_by.insert(*channel);
                    row.last_position = event.position;
                };
                self.rows.change(&owner, |row| row.message_id == *id, change);
            }
            MessagesEvent::Undelivered { .. } => {}
            MessagesEvent::Deleted { id } => {
                self.rows.remove(&owner, id);
            }
        }
        Ok(())
    }

    fn pending(&self) -> usize {
        self.rows.pending()
    }

    async fn save(&mut self, db: &mut PgConnection) -> sqlx::Result<()> {
        self.rows.save(db).await
    }
}
