//! What people call transactions by, and the transactions they did.

use std::collections::{BTreeSet, HashMap};

use bursar_domain::kernel::{TagId, TransactionId, UserId};
use bursar_domain::tags::{Placed, Tag, TagsEvent};
use bursar_domain::{Event, Kind, Personal, Position, Recorded};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sqlx::types::Json;
use sqlx::{PgConnection, PgPool, Postgres, QueryBuilder};

use crate::page::{Page, Paged, Sort, SortField, contains};
use crate::read_model::{FoldError, Mask, ReadModel, Table};
use crate::records::{Record, Records, list};
use crate::row::{ERASED, erase, erasure, owner};

/// A tag. The field names are the table's columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TagRow {
    /// Its id.
    pub tag_id: TagId,
    /// Who made it.
    pub owner: UserId,
    /// What it is called.
    pub name: String,
    /// `#` and hexadecimal digits, or the name of a colour.
    pub color: Option<String>,
    /// As apps name it.
    pub icon: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Whether apps offer it first.
    pub is_default: bool,
    /// Whether it can be put on transactions.
    pub is_active: bool,
    /// Transactions that carry it.
    pub transaction_count: i64,
    /// When it was made.
    pub created_at: Timestamp,
    /// Position of the last event that changed the row.
    pub last_position: Position,
}

/// A transaction that somebody has put tags or notes on. The field names are the table's columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct TaggedRow {
    owner: UserId,
    transaction_id: TransactionId,
    tag_ids: Vec<TagId>,
    notes: Option<String>,
    tagged_at: Timestamp,
    last_position: Position,
}

/// What somebody has put on a transaction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tagged {
    /// Its tags, in the order they were given.
    pub tags: Vec<TagRow>,
    /// What they note about it.
    pub notes: Option<String>,
}

impl TagRow {
    fn created(event: &Recorded, owner: UserId, tag: &Tag) -> Self {
        Self {
            tag_id: tag.id,
            owner,
            name: tag.name.or_erased().to_owned(),
            color: tag.color.clone(),
            icon: tag.icon.clone(),
            description: text(tag.description.as_ref()),
            is_default: tag.is_default,
            is_active: tag.is_active,
            transaction_count: 0,
            created_at: event.recorded_at,
            last_position: event.position,
        }
    }

    fn change(&mut self, event: &Recorded, tag: &Tag) {
        tag.name.or_erased().clone_into(&mut self.name);
        self.color.clone_from(&tag.color);
        self.icon.clone_from(&tag.icon);
        self.description = text(tag.description.as_ref());
        self.is_default = tag.is_default;
        self.is_active = tag.is_active;
        self.last_position = event.position;
    }
}

fn text(value: Option<&Personal<String>>) -> Option<String> {
    value.map(|text| text.or_erased().to_owned())
}

impl Record for TagRow {
    const TABLE: &'static Table = &Tags::TABLES[0];
    const GROUP: &'static str = "owner";
    type Key = TagId;
    type Group = UserId;

    fn key(&self) -> TagId {
        self.tag_id
    }

    fn group(&self) -> UserId {
        self.owner
    }
}

impl Record for TaggedRow {
    const TABLE: &'static Table = &Tags::TABLES[1];
    const GROUP: &'static str = "owner";
    type Key = TransactionId;
    type Group = UserId;

    fn key(&self) -> TransactionId {
        self.transaction_id
    }

    fn group(&self) -> UserId {
        self.owner
    }
}

/// What a list can be sorted by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TagSort {
    /// When they were made.
    #[default]
    CreatedAt,
    /// What they are called.
    Name,
    /// How many transactions carry them.
    TransactionCount,
}

impl SortField for TagSort {
    const NAMES: &'static [(&'static str, Self)] = &[
        ("createdAt", Self::CreatedAt),
        ("tagName", Self::Name),
        ("transactionCount", Self::TransactionCount),
    ];
}

/// Which tags a list shows; everything that is `None` does not matter.
#[derive(Debug, Clone, Default)]
pub struct TagFilter {
    /// Only those that can be put on transactions, or only the others.
    pub is_active: Option<bool>,
    /// Only those that apps offer first, or only the others.
    pub is_default: Option<bool>,
    /// With this in name or description; case does not matter.
    pub q: Option<String>,
}

/// One page of `owner`'s tags.
///
/// # Errors
/// When the database cannot be read.
pub async fn of_owner(
    pool: &PgPool,
    owner: UserId,
    filter: &TagFilter,
    sort: Sort<TagSort>,
    page: Page,
) -> sqlx::Result<Paged<TagRow>> {
    let column = match sort.field {
        TagSort::CreatedAt => "created_at",
        TagSort::Name => "lower(name)",
        TagSort::TransactionCount => "transaction_count",
    };
    let order = format!("{column} {}", sort.direction());
    let matching = |query: &mut QueryBuilder<'_, Postgres>| {
        if let Some(active) = filter.is_active {
            query.push(" AND is_active = ").push_bind(active);
        }
        if let Some(default) = filter.is_default {
            query.push(" AND is_default = ").push_bind(default);
        }
        if let Some(q) = &filter.q {
            query.push(" AND concat_ws(' ', name, description) ILIKE ").push_bind(contains(q));
        }
    };
    list(pool, &owner, matching, &order, page).await
}

/// What `owner` has put on each of `transactions`; those without anything are absent.
///
/// # Errors
/// When the database cannot be read.
pub async fn on(
    pool: &PgPool,
    owner: UserId,
    transactions: impl Iterator<Item = TransactionId>,
) -> sqlx::Result<HashMap<TransactionId, Tagged>> {
    let ids: Vec<String> = transactions.map(|id| id.to_string()).collect();
    let sql = "SELECT to_jsonb(g) FROM tagged_transactions g WHERE owner = $1 AND transaction_id = ANY($2)";
    let rows = sqlx::query_scalar::<_, Json<TaggedRow>>(sql).bind(owner.to_string()).bind(&ids);
    let rows = rows.fetch_all(pool).await?;
    let wanted: BTreeSet<TagId> = rows.iter().flat_map(|Json(row)| &row.tag_ids).copied().collect();
    let wanted: Vec<String> = wanted.iter().map(TagId::to_string).collect();
    let sql = "SELECT to_jsonb(t) FROM tags t WHERE tag_id = ANY($1)";
    let tags = if wanted.is_empty() {
        Vec::new()
    } else {
        sqlx::query_scalar::<_, Json<TagRow>>(sql).bind(&wanted).fetch_all(pool).await?
    };
    let tags: HashMap<TagId, TagRow> = tags.into_iter().map(|Json(tag)| (tag.tag_id, tag)).collect();
    let tagged = rows.into_iter().map(|Json(row)| {
        let tags = row.tag_ids.iter().filter_map(|id| tags.get(id).cloned()).collect();
        (row.transaction_id, Tagged { tags, notes: row.notes })
    });
    Ok(tagged.collect())
}

/// The read model behind [`of_owner`] and [`on`].
#[derive(Debug, Default)]
pub struct Tags {
    tags: Records<TagRow>,
    tagged: Records<TaggedRow>,
}

impl Tags {
    fn place(&mut self, event: &Recorded, owner: UserId, placed: &Placed) {
        let before = self.tagged.get(&owner, &placed.transaction_id);
        let before: BTreeSet<TagId> = before.into_iter().flat_map(|row| &row.tag_ids).copied().collect();
        let tag_ids: Vec<TagId> = placed.tags.iter().map(|tag| tag.id).collect();
        let after: BTreeSet<TagId> = tag_ids.iter().copied().collect();
        self.tags.change(
            &owner,
            |row| before.contains(&row.tag_id) != after.contains(&row.tag_id),
            |row| {
                row.transaction_count += if after.contains(&row.tag_id) { 1 } else { -1 };
                row.last_position = event.position;
            },
        );
        let (transaction_id, notes) = (placed.transaction_id, text(placed.notes.as_ref()));
        if tag_ids.is_empty() && notes.is_none() {
            self.tagged.remove(&owner, &transaction_id);
        } else {
            let (tagged_at, last_position) = (event.recorded_at, event.position);
            self.tagged.insert(TaggedRow { owner, transaction_id, tag_ids, notes, tagged_at, last_position });
        }
    }

    fn erase(&mut self, event: &Recorded, owner: UserId) {
        let tag = |row: &mut TagRow| {
            ERASED.clone_into(&mut row.name);
            erase(&mut row.description);
            row.last_position = event.position;
        };
        self.tags.change(&owner, |_| true, tag);
        let notes = |row: &mut TaggedRow| {
            erase(&mut row.notes);
            row.last_position = event.position;
        };
        self.tagged.change(&owner, |row| row.notes.is_some(), notes);
    }

    fn remove(&mut self, event: &Recorded, owner: UserId, tag: TagId) {
        self.tags.remove(&owner, &tag);
        self.tagged.change(
            &owner,
            |row| row.tag_ids.contains(&tag),
            |row| {
                row.tag_ids.retain(|id| *id != tag);
                row.last_position = event.position;
            },
        );
    }
}

impl ReadModel for Tags {
    const NAME: &'static str = "tags";
    const READS: &'static [Kind] = &[Kind::Tags, Kind::User];

    const ROW_SETS: &'static [Kind] = &[Kind::Tags, Kind::User];

    fn mask(&mut self, mask: &Mask) {
        self.tags.mask(mask);
        self.tagged.mask(mask);
    }
    const TABLES: &'static [Table] = &[
        Table { name: "tags", key: &["tag_id"], position: "last_position", append_only: false },
        Table {
            name: "tagged_transactions",
            key: &["owner", "transaction_id"],
            position: "last_position",
            append_only: false,
        },
    ];

    async fn load(&mut self, db: &mut PgConnection, events: &[Recorded]) -> sqlx::Result<()> {
        let concerned = |event: &&Recorded| event.stream.kind == Kind::Tags || erasure(event).is_some();
        let owners = || events.iter().filter(concerned).filter_map(|event| owner(event).ok());
        self.tags.load(db, owners()).await?;
        self.tagged.load(db, owners()).await
    }

    fn fold(&mut self, event: &Recorded) -> Result<(), FoldError> {
        if let Some((user, _)) = erasure(event) {
            self.erase(event, user);
        }
        let Event::Tags(what) = &event.event else { return Ok(()) };
        let owner = owner(event)?;
        match what {
            TagsEvent::Created(tag) => self.tags.insert(TagRow::created(event, owner, tag)),
            TagsEvent::Changed(tag) => {
                self.tags.change(&owner, |row| row.tag_id == tag.id, |row| row.change(event, tag));
            }
            TagsEvent::Removed { id, .. } => self.remove(event, owner, *id),
            TagsEvent::Placed(placed) => self.place(event, owner, placed),
        }
        Ok(())
    }

    fn pending(&self) -> usize {
        self.tags.pending() + self.tagged.pending()
    }

    async fn save(&mut self, db: &mut PgConnection) -> sqlx::Result<()> {
        self.tags.save(db).await?;
        self.tagged.save(db).await
    }
}
