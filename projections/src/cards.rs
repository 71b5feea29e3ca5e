//! Cards that customers have.

use bursar_domain::cards::{CardEvent, CardExpiry, CardForm, CardStatus, CardType, Linked, Requested};
use bursar_domain::codec::Codec;
use bursar_domain::kernel::{CardId, UserId};
use bursar_domain::{AccountNumber, Currency, Event, Kind, Personal, Position, Recorded};
use jiff::Timestamp;
use jiff_sqlx::ToSqlx;
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgPool, Postgres, QueryBuilder};

use crate::page::{Page, Paged, Sort, SortField};
use crate::past::{Of, each};
use crate::read_model::{FoldError, ReadModel, Table};
use crate::records::{Record, Records, find, list};
use crate::row::{erase, erasure};
use crate::statement_entries::AsOf;

/// A card. The field names are the table's columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardRow {
    /// Its id.
    pub card_id: CardId,
    /// Whose it is.
    pub owner: UserId,
    /// The number's first six digits.
    pub bin: String,
    /// The number's last four digits.
    pub last_four: String,
    /// The brand's code.
    pub brand: String,
    /// Whose money it spends.
    pub card_type: CardType,
    /// What became of it; whether it has expired is a question of the clock, see [`status_at`](Self::status_at).
    pub status: CardStatus,
    /// Until when it is good.
    pub expiry: CardExpiry,
    /// From when on it is not.
    pub expires_at: Timestamp,
    /// Whether it is something to hold; none for a card of another bank.
    pub form: Option<CardForm>,
    /// The account whose money it spends; none for a card of another bank.
    pub linked_account: Option<AccountNumber>,
    /// The name on it.
    pub holder_name: Option<String>,
    /// Who issued it.
    pub issuing_bank: Option<String>,
    /// Whether it is its holder's default.
    pub is_default: bool,
    /// What it is charged in.
    pub currency: Currency,
    /// What may be taken from it a UTC day, minor units.
    pub daily_limit: i64,
    /// What may be taken from it a UTC month, minor units.
    pub monthly_limit: i64,
    /// When money was last taken from it.
    pub last_transaction_at: Option<Timestamp>,
    /// When it was linked, or asked for.
    pub linked_at: Timestamp,
    /// Events so far.
    pub version: i64,
    /// Position of the last event that changed the row.
    pub last_position: Position,
}

impl CardRow {
    fn linked(event: &Recorded, card_id: CardId, card: &Linked) -> Self {
        Self {
            card_id,
            owner: card.owner,
            bin: card.bin.clone(),
            last_four: card.last_four.clone(),
            brand: card.brand.clone(),
            card_type: card.card_type,
            status: CardStatus::Active,
            expiry: card.expiry,
            expires_at: card.expiry.ends_at(),
            form: None,
            linked_account: None,
            holder_name: card.holder_name.as_ref().map(Personal::or_erased).map(str::to_owned),
            issuing_bank: card.issuing_bank.clone(),
            is_default: card.is_default,
            currency: card.limits.currency,
            daily_limit: card.limits.daily,
            monthly_limit: card.limits.monthly,
            last_transaction_at: None,
            linked_at: event.recorded_at,
            version: event.sequence,
            last_position: event.position,
        }
    }

    fn requested(event: &Recorded, card_id: CardId, card: &Requested) -> Self {
        Self {
            card_id,
            owner: card.owner,
            bin: card.bin.clone(),
            last_four: card.last_four.clone(),
            brand: card.brand.clone(),
            card_type: CardType::Debit,
            status: CardStatus::Pending,
            expiry: card.expiry,
            expires_at: card.expiry.ends_at(),
            form: Some(card.form),
            linked_account: Some(card.linked_account.clone()),
            holder_name: card.holder_name.as_ref().map(Personal::or_erased).map(str::to_owned),
            issuing_bank: None,
            is_default: false,
            currency: card.limits.currency,
            daily_limit: card.limits.daily,
            monthly_limit: card.limits.monthly,
            last_transaction_at: None,
            linked_at: event.recorded_at,
            version: event.sequence,
            last_position: event.position,
        }
    }

    /// Whether it can be used at `now`.
    #[must_use]
    pub fn status_at(&self, now: Timestamp) -> CardStatus {
        if now < self.expires_at { self.status } else { CardStatus::Expired }
    }
}

impl Record for CardRow {
    const TABLE: &'static Table = &Cards::TABLES[0];
    const GROUP: &'static str = "owner";
    type Key = CardId;
    type Group = UserId;

    fn key(&self) -> CardId {
        self.card_id
    }

    fn group(&self) -> UserId {
        self.owner
    }
}

/// What a list can be sorted by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CardSort {
    /// When they were linked.
    #[default]
    LinkedAt,
    /// When they expire.
    ExpiryDate,
}

impl SortField for CardSort {
    const NAMES: &'static [(&'static str, Self)] =
        &[("linkedAt", Self::LinkedAt), ("expiryDate", Self::ExpiryDate)];
}

/// One page of the cards that `owner` has, those with the status `status` at `now`.
///
/// # Errors
/// When the database cannot be read.
pub async fn of_owner(
    pool: &PgPool,
    owner: UserId,
    status: Option<CardStatus>,
    now: Timestamp,
    sort: Sort<CardSort>,
    page: Page,
) -> sqlx::Result<Paged<CardRow>> {
    let column = match sort.field {
        CardSort::LinkedAt => "linked_at",
        CardSort::ExpiryDate => "expires_at",
    };
    let order = format!("{column} {}", sort.direction());
    let matching = |query: &mut QueryBuilder<'_, Postgres>| {
        let Some(status) = status else { return };
        query.push(" AND CASE WHEN expires_at <= ").push_bind(now.to_sqlx());
        query.push(" THEN 'EXPIRED' ELSE status END = ").push_bind(status.as_str());
    };
    list(pool, &owner, matching, &order, page).await
}

/// The card, if `owner` has it.
///
/// # Errors
/// When the database cannot be read.
pub async fn owned(pool: &PgPool, owner: UserId, card_id: CardId) -> sqlx::Result<Option<CardRow>> {
    Ok(find::<CardRow>(pool, &card_id).await?.filter(|card| card.owner == owner))
}

/// The card of `owner`'s as it was at a past moment, and when that was; none when they did not have it then.
///
/// # Errors
/// When the database cannot be read.
pub async fn as_of(
    pool: &PgPool,
    codec: &Codec,
    owner: UserId,
    card_id: CardId,
    as_of: AsOf,
) -> sqlx::Result<Option<(CardRow, Timestamp)>> {
    let mut model = Cards::default();
    // All of theirs: which is the default follows from the others too.
    let at = each(pool, codec, Of::Cards(owner), Some(as_of), |event| model.fold(event)).await?;
    Ok(model.rows.get(&owner, &card_id).cloned().map(|row| (row, at)))
}

/// The read model behind [`of_owner`].
#[derive(Debug, Default)]
pub struct Cards {
    rows: Records<CardRow>,
}

impl Cards {
    /// There is one default: the card that was last made it.
    fn make_way(&mut self, event: &Recorded, owner: UserId) {
        let made_way = |row: &mut CardRow| {
            row.is_default = false;
            row.last_position = event.position;
        };
        self.rows.change(&owner, |row| row.is_default, made_way);
    }

    fn change(&mut self, event: &Recorded, owner: UserId, card_id: CardId, change: impl FnMut(&mut CardRow)) {
        let mut change = change;
        self.rows.change(
            &owner,
            |row| row.card_id == card_id,
            |row| {
                change(row);
                row.version = event.sequence;
                row.last_position = event.position;
            },
        );
    }
}

impl ReadModel for Cards {
    const NAME: &'static str = "cards";
    const READS: &'static [Kind] = &[Kind::Card, Kind::User];
    const TABLES: &'static [Table] =
        &[Table { name: "cards", key: &["card_id"], position: "last_position", append_only: false }];

    async fn load(&mut self, db: &mut PgConnection, events: &[Recorded]) -> sqlx::Result<()> {
        let owners = events.iter().filter_map(|event| match &event.event {
            Event::Card(what) => Some(what.owner()),
            _ => erasure(event).map(|(user, _)| user),
        });
        self.rows.load(db, owners).await
    }

    fn fold(&mut self, event: &Recorded) -> Result<(), FoldError> {
        if let Some((user, _)) = erasure(event) {
            let of_theirs = |row: &mut CardRow| {
                erase(&mut row.holder_name);
                row.last_position = event.position;
            };
            self.rows.change(&user, |row| row.holder_name.is_some(), of_theirs);
        }
        let Event::Card(what) = &event.event else { return Ok(()) };
        let foreign = |_| FoldError::ForeignStream(event.stream.id.to_string());
        let card_id: CardId = event.stream.id.parse().map_err(foreign)?;
        let owner = what.owner();
        match what {
            CardEvent::Linked(card) => {
                if card.is_default {
                    self.make_way(event, owner);
                }
                self.rows.insert(CardRow::linked(event, card_id, card));
            }
            CardEvent::Requested(card) => self.rows.insert(CardRow::requested(event, card_id, card)),
            CardEvent::Activated(activated) => {
                if activated.is_default {
                    self.make_way(event, owner);
                }
                self.change(event, owner, card_id, |row| {
                    row.status = CardStatus::Active;
                    row.is_default = activated.is_default;
                });
            }
            CardEvent::Charged(_) => {
                let at = event.recorded_at;
                self.change(event, owner, card_id, |row| row.last_transaction_at = Some(at));
            }
            CardEvent::Blocked(_) => {
                self.change(event, owner, card_id, |row| row.status = CardStatus::Blocked)
            }
            CardEvent::Unblocked { .. } => {
                self.change(event, owner, card_id, |row| row.status = CardStatus::Active);
            }
            CardEvent::ChargeReturned(_) => self.change(event, owner, card_id, |_| {}),
            CardEvent::Removed { .. } => {
                self.rows.remove(&owner, &card_id);
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
