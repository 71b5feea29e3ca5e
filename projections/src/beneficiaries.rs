//! Whom a customer pays, and how often they did.

use bursar_domain::beneficiaries::{BeneficiariesEvent, Beneficiary, BeneficiaryKind, Payee};
use bursar_domain::kernel::{BeneficiaryId, UserId};
use bursar_domain::payments::PaymentEvent;
use bursar_domain::users::Erased;
use bursar_domain::{AccountNumber, Event, Kind, Personal, Position, Recorded};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgPool, Postgres, QueryBuilder};

use crate::page::{Page, Paged, Sort, SortField, contains};
use crate::read_model::{FoldError, Mask, ReadModel, Table};
use crate::records::{Record, Records, list};
use crate::row::{erase, erasure, owner, parsed};

/// An entry of somebody's list. The field names are the table's columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BeneficiaryRow {
    /// Its id.
    pub beneficiary_id: BeneficiaryId,
    /// Whose list it is in.
    pub owner: UserId,
    /// How they are paid.
    pub kind: BeneficiaryKind,
    /// Code of the bank or biller, or the wallet provider; none for this bank.
    pub institution: Option<String>,
    /// Name of the bank or biller.
    pub institution_name: Option<String>,
    /// Account, customer or phone number there.
    pub number: String,
    /// The payee's name.
    pub name: Option<String>,
    /// What the customer calls it.
    pub nickname: Option<String>,
    /// Whether it comes first.
    pub is_favorite: bool,
    /// When they were last paid.
    pub last_used_at: Option<Timestamp>,
    /// Payments to them since they were added.
    pub payment_count: i64,
    /// When they were added.
    pub created_at: Timestamp,
    /// Position of the last event that changed the row.
    pub last_position: Position,
}

impl BeneficiaryRow {
    fn added(event: &Recorded, owner: UserId, added: &Beneficiary) -> Self {
        let text = |value: &Option<Personal<String>>| value.as_ref().map(|text| text.or_erased().to_owned());
        Self {
            beneficiary_id: added.id,
            owner,
            kind: added.payee.kind(),
            institution: added.payee.institution().map(str::to_owned),
            institution_name: added.institution.clone(),
            number: added.payee.number().to_owned(),
            name: text(&added.name),
            nickname: text(&added.nickname),
            is_favorite: added.is_favorite,
            last_used_at: None,
            payment_count: 0,
            created_at: event.recorded_at,
            last_position: event.position,
        }
    }

    fn pays(&self, payee: &Payee) -> bool {
        self.kind == payee.kind()
            && self.institution.as_deref() == payee.institution()
            && self.number == payee.number()
    }
}

impl Record for BeneficiaryRow {
    const TABLE: &'static Table = &Beneficiaries::TABLES[0];
    const GROUP: &'static str = "owner";
    type Key = BeneficiaryId;
    type Group = UserId;

    fn key(&self) -> BeneficiaryId {
        self.beneficiary_id
    }

    fn group(&self) -> UserId {
        self.owner
    }
}

/// What a list can be sorted by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BeneficiarySort {
    /// When they were added.
    #[default]
    CreatedAt,
    /// When they were last paid.
    LastUsed,
    /// The payee's name.
    Name,
}

impl SortField for BeneficiarySort {
    const NAMES: &'static [(&'static str, Self)] =
        &[("createdAt", Self::CreatedAt), ("lastUsed", Self::LastUsed), ("name", Self::Name)];
}

/// Which entries a list shows; everything that is `None` does not matter.
#[derive(Debug, Clone, Default)]
pub struct BeneficiaryFilter {
    /// Only those that come first, or only the others.
    pub is_favorite: Option<bool>,
    /// With this in name, nickname, number or institution; case does not matter.
    pub q: Option<String>,
}

/// One page of those of a kind whom `owner` keeps.
///
/// # Errors
/// When the database cannot be read.
pub async fn of_owner(
    pool: &PgPool,
    owner: UserId,
    kind: BeneficiaryKind,
    filter: &BeneficiaryFilter,
    sort: Sort<BeneficiarySort>,
    page: Page,
) -> sqlx::Result<Paged<BeneficiaryRow>> {
    let column = match sort.field {
        BeneficiarySort::CreatedAt => "created_at",
        BeneficiarySort::LastUsed => "last_used_at",
        BeneficiarySort::Name => "name",
    };
    let order = format!("{column} {} NULLS LAST", sort.direction());
    let matching = |query: &mut QueryBuilder<'_, Postgres>| {
        query.push(" AND kind = ").push_bind(kind.as_str());
        if let Some(favorite) = filter.is_favorite {
            query.push(" AND is_favorite = ").push_bind(favorite);
        }
        if let Some(q) = &filter.q {
            query.push(" AND concat_ws(' ', name, nickname, number, institution_name) ILIKE ");
            query.push_bind(contains(q));
        }
    };
    list(pool, &owner, matching, &order, page).await
}

/// The read model behind [`of_owner`].
#[derive(Debug, Default)]
pub struct Beneficiaries {
    rows: Records<BeneficiaryRow>,
}

impl Beneficiaries {
    /// Those in whose lists somebody is who was erased.
    async fn load_who_keeps(&mut self, db: &mut PgConnection, events: &[Recorded]) -> sqlx::Result<()> {
        let erased = events.iter().filter_map(erasure).flat_map(|(_, erased)| &erased.accounts);
        let accounts: Vec<&str> = erased.map(AccountNumber::as_str).collect();
        if accounts.is_empty() {
            return Ok(());
        }
        let keep = sqlx::query_scalar!(
            "SELECT DISTINCT owner FROM beneficiaries WHERE kind = 'INTERNAL' AND number = ANY($1)",
            &accounts as _
        );
        let keep = keep.fetch_all(&mut *db).await?;
        let keep: Vec<UserId> = keep.iter().map(|owner| parsed(owner)).collect::<sqlx::Result<_>>()?;
        self.rows.load(db, keep.into_iter()).await
    }

    /// Whoever is erased keeps nobody, and nobody keeps their name.
    fn erase(&mut self, event: &Recorded, user: UserId, erased: &Erased) {
        // Which of them were paid how often cannot be told without their numbers.
        self.rows.remove_all(&user);
        let theirs = |row: &BeneficiaryRow| {
            row.kind == BeneficiaryKind::Internal
                && erased.accounts.iter().any(|account| account.as_str() == row.number)
        };
        self.rows.change_all(theirs, |row| {
            erase(&mut row.name);
            erase(&mut row.nickname);
            row.last_position = event.position;
        });
    }
}

impl ReadModel for Beneficiaries {
    const NAME: &'static str = "beneficiaries";
    const READS: &'static [Kind] = &[Kind::Beneficiaries, Kind::Payment, Kind::User];

    const ROW_SETS: &'static [Kind] = &[Kind::Beneficiaries, Kind::User];

    fn mask(&mut self, mask: &Mask) {
        self.rows.mask(mask);
    }
    const TABLES: &'static [Table] = &[Table {
        name: "beneficiaries",
        key: &["beneficiary_id"],
        position: "last_position",
        append_only: false,
    }];

    async fn load(&mut self, db: &mut PgConnection, events: &[Recorded]) -> sqlx::Result<()> {
        let payers = events.iter().filter_map(|event| match &event.event {
            Event::Payment(PaymentEvent::Completed(payment)) => payment.payer,
            _ => erasure(event).map(|(user, _)| user),
        });
        let lists = events.iter().filter(|event| event.stream.kind == Kind::Beneficiaries);
        self.rows.load(db, payers.chain(lists.filter_map(|event| owner(event).ok()))).await?;
        self.load_who_keeps(db, events).await
    }

    fn fold(&mut self, event: &Recorded) -> Result<(), FoldError> {
        if let Some((user, erased)) = erasure(event) {
            self.erase(event, user, erased);
        }
        match &event.event {
            Event::Beneficiaries(BeneficiariesEvent::Added(added)) => {
                self.rows.insert(BeneficiaryRow::added(event, owner(event)?, added));
            }
            Event::Beneficiaries(BeneficiariesEvent::Removed { id }) => {
                self.rows.remove(&owner(event)?, id);
            }
            Event::Payment(PaymentEvent::Completed(payment)) => {
                if let (Some(payer), Some(payee)) = (payment.payer, payment.payee()) {
                    self.rows.change(
                        &payer,
                        |row| row.pays(&payee),
                        |row| {
                            row.last_used_at = Some(event.recorded_at);
                            row.payment_count += 1;
                            row.last_position = event.position;
                        },
                    );
                }
            }
            _ => {}
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
