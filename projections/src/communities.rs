//! Communities, who is in them, and what they take out.

use bursar_domain::communities::{
    Category, CommunityEvent, Created, Rules, WithdrawalPolicy, WithdrawalRequested, WithdrawalStatus,
};
use bursar_domain::kernel::{
    CommunityId, Frequency, MandateId, ParticipantId, TransactionId, UserId, WithdrawalId,
};
use bursar_domain::{AccountNumber, Amount, Currency, Event, Kind, Position, Recorded};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgPool, Postgres, QueryBuilder};

use crate::page::{Page, Paged};
use crate::read_model::{FoldError, ReadModel, Table};
use crate::records::{Record, Records, find, list, list_all};
use crate::row::named;

/// A community. The field names are the table's columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommunityRow {
    /// Its id.
    pub community_id: CommunityId,
    /// What it is called.
    pub community_name: String,
    /// What it is about.
    pub description: Option<String>,
    /// What it is for.
    pub category: Category,
    /// Who administers it.
    pub admin_user_id: UserId,
    /// The account that holds its money.
    pub account_number: AccountNumber,
    /// Who holds that account.
    pub holder: UserId,
    /// In which currency.
    pub currency: Currency,
    /// Where its picture is.
    pub logo: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Its rules in words.
    pub rules: Vec<String>,
    /// How many may be in it.
    pub max_participants: i64,
    /// How many are.
    pub participants: i64,
    /// Whether nobody joins unasked.
    pub is_private: bool,
    /// Whether whoever may join does so at once.
    pub auto_approve: bool,
    /// A contribution, minor units.
    pub contribution_amount: Option<Amount>,
    /// How often one is due.
    pub contribution_frequency: Option<Frequency>,
    /// Who may take money out.
    pub withdrawal_policy: WithdrawalPolicy,
    /// When it began.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// Events so far.
    pub version: i64,
    /// Position of the last event that changed the row.
    pub last_position: Position,
}

/// Somebody in a community. The field names are the table's columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParticipantRow {
    /// What they are as a participant.
    pub participant_id: ParticipantId,
    /// The community.
    pub community_id: CommunityId,
    /// Who.
    pub user_id: UserId,
    /// What they contribute by.
    pub mandate_id: Option<MandateId>,
    /// When they joined.
    pub joined_at: Timestamp,
    /// Position of the last event that changed the row.
    pub last_position: Position,
}

/// A withdrawal. The field names are the table's columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WithdrawalRow {
    /// Its id.
    pub withdrawal_id: WithdrawalId,
    /// The community.
    pub community_id: CommunityId,
    /// Who wants it.
    pub participant_id: ParticipantId,
    /// How much, minor units.
    pub amount: Amount,
    /// The account of theirs that it goes to.
    pub destination_account: AccountNumber,
    /// What it is for.
    pub narration: Option<String>,
    /// What became of it.
    pub status: WithdrawalStatus,
    /// Participants who have agreed.
    pub approvals: i64,
    /// Participants who have not.
    pub rejections: i64,
    /// The payment.
    pub transaction_id: Option<TransactionId>,
    /// When it was asked for.
    pub requested_at: Timestamp,
    /// When somebody last said something about it.
    pub updated_at: Timestamp,
    /// Position of the last event that changed the row.
    pub last_position: Position,
}

impl CommunityRow {
    fn begun(event: &Recorded, community_id: CommunityId, created: &Created) -> Self {
        let mut row = Self {
            community_id,
            community_name: created.name.clone(),
            description: created.description.clone(),
            category: created.category,
            admin_user_id: created.admin,
            account_number: created.account.clone(),
            holder: created.holder,
            currency: created.currency,
            logo: created.logo.clone(),
            tags: created.tags.clone(),
            rules: Vec::new(),
            max_participants: 0,
            participants: 1,
            is_private: false,
            auto_approve: false,
            contribution_amount: None,
            contribution_frequency: None,
            withdrawal_policy: created.rules.withdrawal_policy,
            created_at: event.recorded_at,
            updated_at: event.recorded_at,
            version: event.sequence,
            last_position: event.position,
        };
        row.set_rules(&created.rules);
        row
    }

    fn set_rules(&mut self, rules: &Rules) {
        self.rules.clone_from(&rules.texts);
        self.max_participants = rules.seats.into();
        self.is_private = rules.is_private;
        self.auto_approve = rules.auto_approve;
        self.contribution_amount = rules.contribution_amount;
        self.contribution_frequency = rules.contribution_frequency;
        self.withdrawal_policy = rules.withdrawal_policy;
    }

    fn grow(&mut self, event: &Recorded, what: &CommunityEvent) {
        match what {
            CommunityEvent::RulesSet { rules, .. } => self.set_rules(rules),
            CommunityEvent::Joined { .. } => self.participants += 1,
            CommunityEvent::Removed { .. } => self.participants -= 1,
            CommunityEvent::Created(_)
            | CommunityEvent::Invited(_)
            | CommunityEvent::Requested { .. }
            | CommunityEvent::Denied { .. }
            | CommunityEvent::Pledged { .. }
            | CommunityEvent::WithdrawalRequested(_)
            | CommunityEvent::WithdrawalVoted { .. }
            | CommunityEvent::WithdrawalPaid { .. }
            | CommunityEvent::WithdrawalRejected { .. } => {}
        }
        self.updated_at = event.recorded_at;
        self.version = event.sequence;
        self.last_position = event.position;
    }
}

impl WithdrawalRow {
    fn begun(event: &Recorded, community_id: CommunityId, wanted: &WithdrawalRequested) -> Self {
        Self {
            withdrawal_id: wanted.id,
            community_id,
            participant_id: wanted.participant,
            amount: wanted.amount,
            destination_account: wanted.destination.clone(),
            narration: wanted.narration.clone(),
            status: WithdrawalStatus::Pending,
            approvals: 0,
            rejections: 0,
            transaction_id: None,
            requested_at: event.recorded_at,
            updated_at: event.recorded_at,
            last_position: event.position,
        }
    }
}

impl Record for CommunityRow {
    const TABLE: &'static Table = &Communities::TABLES[0];
    const GROUP: &'static str = "community_id";
    type Key = CommunityId;
    type Group = CommunityId;

    fn key(&self) -> CommunityId {
        self.community_id
    }

    fn group(&self) -> CommunityId {
        self.community_id
    }
}

impl Record for ParticipantRow {
    const TABLE: &'static Table = &Communities::TABLES[1];
    const GROUP: &'static str = "community_id";
    type Key = ParticipantId;
    type Group = CommunityId;

    fn key(&self) -> ParticipantId {
        self.participant_id
    }

    fn group(&self) -> CommunityId {
        self.community_id
    }
}

impl Record for WithdrawalRow {
    const TABLE: &'static Table = &Communities::TABLES[2];
    const GROUP: &'static str = "community_id";
    type Key = WithdrawalId;
    type Group = CommunityId;

    fn key(&self) -> WithdrawalId {
        self.withdrawal_id
    }

    fn group(&self) -> CommunityId {
        self.community_id
    }
}

/// One page of the communities that `user` is in, the newest first.
///
/// # Errors
/// When the database cannot be read.
pub async fn of_user(pool: &PgPool, user: UserId, page: Page) -> sqlx::Result<Paged<CommunityRow>> {
    let matching = |query: &mut QueryBuilder<'_, Postgres>| {
        query.push(" AND community_id IN (SELECT community_id FROM community_participants WHERE user_id = ");
        query.push_bind(user.to_string()).push(")");
    };
    list_all(pool, matching, "created_at DESC", page).await
}

/// The community, if `user` is in it.
///
/// # Errors
/// When the database cannot be read.
pub async fn joined(pool: &PgPool, user: UserId, id: CommunityId) -> sqlx::Result<Option<CommunityRow>> {
    let who = |query: &mut QueryBuilder<'_, Postgres>| {
        query.push(" AND user_id = ").push_bind(user.to_string());
    };
    let one = Page { page: 1, size: 1 };
    let found = list::<ParticipantRow>(pool, &id, who, "joined_at", one).await?;
    if found.items.is_empty() { Ok(None) } else { find(pool, &id).await }
}

/// One page of those who are in a community, in the order in which they joined.
///
/// # Errors
/// When the database cannot be read.
pub async fn participants(pool: &PgPool, id: CommunityId, page: Page) -> sqlx::Result<Paged<ParticipantRow>> {
    list(pool, &id, |_| {}, "joined_at", page).await
}

/// One page of the withdrawals of a community, the newest first.
///
/// # Errors
/// When the database cannot be read.
pub async fn withdrawals(pool: &PgPool, id: CommunityId, page: Page) -> sqlx::Result<Paged<WithdrawalRow>> {
    list(pool, &id, |_| {}, "requested_at DESC", page).await
}

/// The read model behind [`of_user`], [`participants`] and [`withdrawals`].
#[derive(Debug, Default)]
pub struct Communities {
    rows: Records<CommunityRow>,
    participants: Records<ParticipantRow>,
    withdrawals: Records<WithdrawalRow>,
}

impl Communities {
    fn join(&mut self, event: &Recorded, id: CommunityId, participant: ParticipantId, user: UserId) {
        self.participants.insert(ParticipantRow {
            participant_id: participant,
            community_id: id,
            user_id: user,
            mandate_id: None,
            joined_at: event.recorded_at,
            last_position: event.position,
        });
    }

    fn withdrawal(
        &mut self,
        event: &Recorded,
        community: CommunityId,
        id: WithdrawalId,
        change: impl Fn(&mut WithdrawalRow),
    ) {
        self.withdrawals.change(
            &community,
            |row| row.withdrawal_id == id,
            |row| {
                change(row);
                row.updated_at = event.recorded_at;
                row.last_position = event.position;
            },
        );
    }
}

impl ReadModel for Communities {
    const NAME: &'static str = "communities";
    const READS: &'static [Kind] = &[Kind::Community];
    const TABLES: &'static [Table] = &[
        Table { name: "communities", key: &["community_id"], position: "last_position", append_only: false },
        Table {
            name: "community_participants",
            key: &["participant_id"],
            position: "last_position",
            append_only: false,
        },
        Table {
            name: "community_withdrawals",
            key: &["withdrawal_id"],
            position: "last_position",
            append_only: false,
        },
    ];

    async fn load(&mut self, db: &mut PgConnection, events: &[Recorded]) -> sqlx::Result<()> {
        let ids: Vec<CommunityId> = events.iter().filter_map(|event| named(event).ok()).collect();
        self.rows.load(db, ids.iter().copied()).await?;
        self.participants.load(db, ids.iter().copied()).await?;
        self.withdrawals.load(db, ids.into_iter()).await
    }

    fn fold(&mut self, event: &Recorded) -> Result<(), FoldError> {
        let Event::Community(what) = &event.event else { return Ok(()) };
        let id: CommunityId = named(event)?;
        if let CommunityEvent::Created(created) = what {
            self.rows.insert(CommunityRow::begun(event, id, created));
        } else {
            self.rows.change(&id, |_| true, |row| row.grow(event, what));
        }
        match what {
            CommunityEvent::Created(created) => self.join(event, id, created.participant, created.admin),
            CommunityEvent::Joined { participant, user, .. } => self.join(event, id, *participant, *user),
            CommunityEvent::Removed { participant, .. } => {
                self.participants.remove(&id, participant);
            }
            CommunityEvent::Pledged { participant, mandate, .. } => {
                self.participants.change(
                    &id,
                    |row| row.participant_id == *participant,
                    |row| {
                        row.mandate_id = Some(*mandate);
                        row.last_position = event.position;
                    },
                );
            }
            CommunityEvent::WithdrawalRequested(wanted) => {
                self.withdrawals.insert(WithdrawalRow::begun(event, id, wanted));
            }
            CommunityEvent::WithdrawalVoted { id: withdrawal, approve, .. } => {
                self.withdrawal(event, id, *withdrawal, |row| {
                    row.approvals += i64::from(*approve);
                    row.rejections += i64::from(!*approve);
                });
            }
            CommunityEvent::WithdrawalPaid { id: withdrawal, by, .. } => {
                self.withdrawal(event, id, *withdrawal, |row| {
                    (row.status, row.transaction_id) = (WithdrawalStatus::Paid, Some(*by));
                });
            }
            CommunityEvent::WithdrawalRejected { id: withdrawal } => {
                self.withdrawal(event, id, *withdrawal, |row| row.status = WithdrawalStatus::Rejected);
            }
            CommunityEvent::RulesSet { .. }
            | CommunityEvent::Invited(_)
            | CommunityEvent::Requested { .. }
            | CommunityEvent::Denied { .. } => {}
        }
        Ok(())
    }

    fn pending(&self) -> usize {
        self.rows.pending() + self.participants.pending() + self.withdrawals.pending()
    }

    async fn save(&mut self, db: &mut PgConnection) -> sqlx::Result<()> {
        self.rows.save(db).await?;
        self.participants.save(db).await?;
        self.withdrawals.save(db).await
    }
}
