//! How a community looks from outside.

use bursar_commands::Committed;
use bursar_domain::communities::{CommunityEvent, Created, Invited, Rules, WithdrawalStatus};
use bursar_domain::kernel::{CommunityId, InvitationId, ParticipantId, UserId, WithdrawalId};
use bursar_domain::mandates::SetUp;
use bursar_domain::{Event, Personal, Recorded};
use bursar_projections::communities::{CommunityRow, ParticipantRow, WithdrawalRow};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::paging::Pagination;
use crate::problem::Problem;
use crate::request::midnight;

/// A community that has begun.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommunityResult {
    /// `SUCCESS`.
    status: &'static str,
    community_id: String,
    community_name: String,
    description: Option<String>,
    /// What it is for.
    category: &'static str,
    max_participants: u32,
    is_private: bool,
    admin_user_id: String,
    /// What the caller is as a participant.
    participant_id: String,
    /// The account that holds what participants put by.
    account_number: String,
    currency: String,
    created_at: Timestamp,
    /// Lets anybody join who has it. It is not shown again.
    invite_code: String,
    message: &'static str,
}

impl CommunityResult {
    pub(super) fn of(recorded: &Recorded, created: &Created, invite_code: String) -> Self {
        Self {
            status: "SUCCESS",
            community_id: recorded.stream.id.to_string(),
            community_name: created.name.clone(),
            description: created.description.clone(),
            category: created.category.as_str(),
            max_participants: created.rules.seats,
            is_private: created.rules.is_private,
            admin_user_id: created.admin.to_string(),
            participant_id: created.participant.to_string(),
            account_number: created.account.to_string(),
            currency: created.currency.to_string(),
            created_at: recorded.recorded_at,
            invite_code,
            message: "Community created",
        }
    }
}

/// A community. Amounts in minor units.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommunityInfo {
    community_id: String,
    community_name: String,
    description: Option<String>,
    /// What it is for.
    category: &'static str,
    max_participants: i64,
    /// How many are in it.
    participant_count: i64,
    is_private: bool,
    admin_user_id: String,
    /// The account that holds its money; any payment into it is a contribution.
    account_number: String,
    currency: String,
    logo: Option<String>,
    tags: Vec<String>,
    rules: Vec<String>,
    auto_approve: bool,
    contribution_amount: Option<i64>,
    contribution_frequency: Option<&'static str>,
    /// `ADMIN_ONLY`, `MAJORITY` or `ROTATING`.
    withdrawal_policy: &'static str,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl From<CommunityRow> for CommunityInfo {
    fn from(row: CommunityRow) -> Self {
        Self {
            community_id: row.community_id.to_string(),
            community_name: row.community_name,
            description: row.description,
            category: row.category.as_str(),
            max_participants: row.max_participants,
            participant_count: row.participants,
            is_private: row.is_private,
            admin_user_id: row.admin_user_id.to_string(),
            account_number: row.account_number.to_string(),
            currency: row.currency.to_string(),
            logo: row.logo,
            tags: row.tags,
            rules: row.rules,
            auto_approve: row.auto_approve,
            contribution_amount: row.contribution_amount.map(|amount| amount.minor()),
            contribution_frequency: row.contribution_frequency.map(|frequency| frequency.as_str()),
            withdrawal_policy: row.withdrawal_policy.as_str(),
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
}

/// Somebody's communities.
#[derive(Debug, Serialize, ToSchema)]
pub struct CommunityList {
    pub(super) communities: Vec<CommunityInfo>,
    pub(super) pagination: Pagination,
}

/// Everything about a community.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommunityDetails {
    #[serde(flatten)]
    community: CommunityInfo,
    /// What it holds now, minor units.
    balance: i64,
    /// Whose turn it is to take money out, where the policy is `ROTATING`.
    turn_user_id: Option<String>,
    /// Who is in it, in the order in which they joined.
    participants: Vec<Participant>,
}

/// Somebody in a community.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Participant {
    participant_id: String,
    user_id: String,
    /// `ADMIN` or `MEMBER`.
    role: &'static str,
    joined_at: Timestamp,
}

impl CommunityDetails {
    pub(super) fn of(
        row: CommunityRow,
        people: Vec<ParticipantRow>,
        balance: i64,
        turn: Option<UserId>,
    ) -> Self {
        let admin = row.admin_user_id;
        let is_rotating = row.withdrawal_policy == bursar_domain::communities::WithdrawalPolicy::Rotating;
        let people = people.into_iter().map(|person| Participant {
            participant_id: person.participant_id.to_string(),
            user_id: person.user_id.to_string(),
            role: if person.user_id == admin { "ADMIN" } else { "MEMBER" },
            joined_at: person.joined_at,
        });
        Self {
            participants: people.collect(),
            turn_user_id: turn.filter(|_| is_rotating).map(|user| user.to_string()),
            balance,
            community: row.into(),
        }
    }
}

/// The rules of a community as they are now.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RulesResult {
    /// `SUCCESS`.
    status: &'static str,
    community_id: String,
    updated_by: String,
    updated_at: Timestamp,
    rules: Vec<String>,
    max_participants: u32,
    is_private: bool,
    auto_approve: bool,
    /// Minor units.
    contribution_amount: Option<i64>,
    contribution_frequency: Option<&'static str>,
    /// `ADMIN_ONLY`, `MAJORITY` or `ROTATING`.
    withdrawal_policy: &'static str,
    message: &'static str,
}

impl RulesResult {
    pub(super) fn of(recorded: &Recorded, by: UserId, rules: &Rules) -> Self {
        Self {
            status: "SUCCESS",
            community_id: recorded.stream.id.to_string(),
            updated_by: by.to_string(),
            updated_at: recorded.recorded_at,
            rules: rules.texts.clone(),
            max_participants: rules.seats,
            is_private: rules.is_private,
            auto_approve: rules.auto_approve,
            contribution_amount: rules.contribution_amount.map(|amount| amount.minor()),
            contribution_frequency: rules.contribution_frequency.map(|frequency| frequency.as_str()),
            withdrawal_policy: rules.withdrawal_policy.as_str(),
            message: "Rules set",
        }
    }
}

/// Somebody who was invited.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvitationResult {
    /// `SUCCESS`.
    status: &'static str,
    invitation_id: String,
    invitee_email: Option<String>,
    invitee_phone: Option<String>,
    invitee_name: Option<String>,
    /// `MEMBER`.
    role: &'static str,
    invited_by: String,
    invited_at: Timestamp,
    expires_at: Timestamp,
    /// Where it is answered.
    pub(super) invite_link: String,
    message: &'static str,
}

impl InvitationResult {
    pub(super) fn of(recorded: &Recorded, invited: &Invited) -> Self {
        let text = |value: &Option<Personal<String>>| value.as_ref().map(|text| text.or_erased().to_owned());
        Self {
            status: "SUCCESS",
            invitation_id: invited.id.to_string(),
            invitee_email: text(&invited.contacts.email),
            invitee_phone: text(&invited.contacts.phone_number),
            invitee_name: text(&invited.name),
            role: invited.role.as_str(),
            invited_by: invited.by.to_string(),
            invited_at: recorded.recorded_at,
            expires_at: invited.expires_at,
            invite_link: format!("/v1/communities/{}/invitations/{}", recorded.stream.id, invited.id),
            message: "Invitation sent",
        }
    }
}

/// Somebody who is in a community no more.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RemovedParticipant {
    /// `SUCCESS`.
    status: &'static str,
    community_id: String,
    participant_id: String,
    removed_by: String,
    removed_at: Timestamp,
    message: &'static str,
}

impl RemovedParticipant {
    pub(super) fn of(recorded: &Recorded, participant: ParticipantId, by: UserId) -> Self {
        Self {
            status: "SUCCESS",
            community_id: recorded.stream.id.to_string(),
            participant_id: participant.to_string(),
            removed_by: by.to_string(),
            removed_at: recorded.recorded_at,
            message: "Participant removed",
        }
    }
}

/// An invitation that was answered.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AnswerResult {
    /// `SUCCESS`.
    status: &'static str,
    invitation_id: String,
    community_id: String,
    /// `ACCEPT` or `DENY`.
    action: &'static str,
    /// What they are as a participant now; none after a no.
    participant_id: Option<String>,
    processed_at: Timestamp,
    message: &'static str,
    community_details: AnsweredCommunity,
}

/// What an invitation was about.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AnsweredCommunity {
    community_name: String,
    description: Option<String>,
    /// What it is for.
    category: &'static str,
}

impl AnswerResult {
    pub(super) fn of(
        recorded: &Recorded,
        invitation: InvitationId,
        participant: Option<ParticipantId>,
        created: &Created,
    ) -> Self {
        let accepted = participant.is_some();
        Self {
            status: "SUCCESS",
            invitation_id: invitation.to_string(),
            community_id: recorded.stream.id.to_string(),
            action: if accepted { "ACCEPT" } else { "DENY" },
            participant_id: participant.map(|id| id.to_string()),
            processed_at: recorded.recorded_at,
            message: if accepted { "Invitation accepted" } else { "Invitation denied" },
            community_details: AnsweredCommunity {
                community_name: created.name.clone(),
                description: created.description.clone(),
                category: created.category.as_str(),
            },
        }
    }
}

/// Somebody who has joined, or has asked to.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JoinResult {
    /// `SUCCESS`, or `INVITATION_REQUESTED` when the admin is to answer.
    status: &'static str,
    community_id: String,
    /// What the caller is as a participant.
    participant_id: Option<String>,
    /// What the admin answers.
    invitation_id: Option<String>,
    processed_at: Timestamp,
    message: &'static str,
}

impl JoinResult {
    pub(super) fn of(
        recorded: &Recorded,
        (participant, invitation): (Option<ParticipantId>, Option<InvitationId>),
    ) -> Self {
        let joined = participant.is_some();
        Self {
            status: if joined { "SUCCESS" } else { "INVITATION_REQUESTED" },
            community_id: recorded.stream.id.to_string(),
            participant_id: participant.map(|id| id.to_string()),
            invitation_id: invitation.map(|id| id.to_string()),
            processed_at: recorded.recorded_at,
            message: if joined { "Joined" } else { "The admin has been asked" },
        }
    }
}

/// How somebody contributes.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContributionResult {
    /// `SUCCESS`.
    status: &'static str,
    community_id: String,
    /// What pays it, in `/v1/mandates`.
    mandate_id: String,
    /// Minor units.
    amount: i64,
    currency: String,
    /// `DAILY`, `WEEKLY`, `MONTHLY`, `QUARTERLY` or `YEARLY`.
    frequency: &'static str,
    /// When the first contribution is made.
    next_execution_date: Timestamp,
    created_at: Timestamp,
    message: &'static str,
}

impl ContributionResult {
    pub(super) fn of(community: CommunityId, recorded: &Recorded, set_up: &SetUp) -> Self {
        Self {
            status: "SUCCESS",
            community_id: community.to_string(),
            mandate_id: recorded.stream.id.to_string(),
            amount: set_up.plan.amount.minor(),
            currency: set_up.currency.to_string(),
            frequency: set_up.plan.calendar.frequency().as_str(),
            next_execution_date: midnight(set_up.first),
            created_at: recorded.recorded_at,
            message: "Contribution set up",
        }
    }
}

/// A withdrawal, and what became of it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WithdrawalInfo {
    withdrawal_id: String,
    /// Who wants it.
    participant_id: String,
    /// Minor units.
    amount: i64,
    destination_account: String,
    narration: Option<String>,
    /// `PENDING`, `PAID` or `REJECTED`.
    withdrawal_status: &'static str,
    /// Participants who have agreed.
    approvals: i64,
    /// Participants who have not.
    rejections: i64,
    /// The payment; none unless it was paid.
    transaction_id: Option<String>,
    requested_at: Timestamp,
    updated_at: Timestamp,
}

impl From<WithdrawalRow> for WithdrawalInfo {
    fn from(row: WithdrawalRow) -> Self {
        Self {
            withdrawal_id: row.withdrawal_id.to_string(),
            participant_id: row.participant_id.to_string(),
            amount: row.amount.minor(),
            destination_account: row.destination_account.to_string(),
            narration: row.narration,
            withdrawal_status: row.status.as_str(),
            approvals: row.approvals,
            rejections: row.rejections,
            transaction_id: row.transaction_id.map(|id| id.to_string()),
            requested_at: row.requested_at,
            updated_at: row.updated_at,
        }
    }
}

/// Withdrawals of a community.
#[derive(Debug, Serialize, ToSchema)]
pub struct WithdrawalList {
    pub(super) withdrawals: Vec<WithdrawalInfo>,
    pub(super) pagination: Pagination,
}

/// What became of a withdrawal.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WithdrawalResult {
    /// `SUCCESS`.
    status: &'static str,
    community_id: String,
    withdrawal_id: String,
    /// `PENDING`, `PAID` or `REJECTED`.
    withdrawal_status: &'static str,
    /// The payment; none unless it was paid.
    transaction_id: Option<String>,
    processed_at: Timestamp,
    message: &'static str,
}

impl WithdrawalResult {
    pub(super) fn of(
        committed: &Committed,
        community: CommunityId,
        id: WithdrawalId,
    ) -> Result<Self, Problem> {
        let first = committed.events.first().ok_or_else(Problem::internal)?;
        let decided = committed.events.iter().find_map(|recorded| match &recorded.event {
            Event::Community(CommunityEvent::WithdrawalPaid { by, .. }) => {
                Some((WithdrawalStatus::Paid, Some(by.to_string()), "Withdrawal paid"))
            }
            Event::Community(CommunityEvent::WithdrawalRejected { .. }) => {
                Some((WithdrawalStatus::Rejected, None, "Withdrawal rejected"))
            }
            _ => None,
        });
        let pending = (WithdrawalStatus::Pending, None, "More than half of the participants must agree");
        let (status, transaction_id, message) = decided.unwrap_or(pending);
        Ok(Self {
            status: "SUCCESS",
            community_id: community.to_string(),
            withdrawal_id: id.to_string(),
            withdrawal_status: status.as_str(),
            transaction_id,
            processed_at: first.recorded_at,
            message,
        })
    }
}
