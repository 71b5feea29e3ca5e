//! What can happen to a community.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::aggregate::{AggregateEvent, names};
use crate::kernel::{
    AccountNumber, Amount, Currency, Frequency, InvitationId, MandateId, ParticipantId, Personal,
    TransactionId, UserId, WithdrawalId,
};

/// Events of a community.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommunityEvent {
    /// It has begun, with its admin in it.
    Created(Box<Created>),
    /// Its rules are these from now on.
    RulesSet {
        /// Who says so.
        by: UserId,
        /// All of them.
        rules: Box<Rules>,
    },
    /// Somebody is asked to join.
    Invited(Box<Invited>),
    /// Somebody wants to join.
    Requested {
        /// Under which id the admin is asked.
        invitation: InvitationId,
        /// Who.
        user: UserId,
        /// Until when the admin may answer.
        expires_at: Timestamp,
    },
    /// Somebody is in it.
    Joined {
        /// What they are as a participant.
        participant: ParticipantId,
        /// Who.
        user: UserId,
        /// What they were asked by, or asked with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        invitation: Option<InvitationId>,
    },
    /// Somebody does not want to, or is not wanted.
    Denied {
        /// What they were asked by, or asked with.
        invitation: InvitationId,
        /// Who says so.
        by: UserId,
    },
    /// Somebody is in it no more.
    Removed {
        /// Who.
        participant: ParticipantId,
        /// The same as a user.
        user: UserId,
        /// Who says so.
        by: UserId,
    },
    /// A participant contributes by a mandate.
    Pledged {
        /// Who.
        participant: ParticipantId,
        /// The mandate.
        mandate: MandateId,
        /// How much each time, minor units.
        amount: Amount,
    },
    /// A participant wants money.
    WithdrawalRequested(Box<WithdrawalRequested>),
    /// A participant has said what they think of a withdrawal.
    WithdrawalVoted {
        /// Which.
        id: WithdrawalId,
        /// Who.
        by: UserId,
        /// Whether they agree.
        approve: bool,
    },
    /// It was paid.
    WithdrawalPaid {
        /// Which.
        id: WithdrawalId,
        /// Who got it.
        participant: ParticipantId,
        /// The payment.
        by: TransactionId,
    },
    /// It will not be paid.
    WithdrawalRejected {
        /// Which.
        id: WithdrawalId,
    },
}

/// A community as it began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Created {
    /// Who administers it.
    pub admin: UserId,
    /// What they are as a participant.
    pub participant: ParticipantId,
    /// In whose name its account is.
    pub holder: UserId,
    /// Its account.
    pub account: AccountNumber,
    /// The account's currency.
    pub currency: Currency,
    /// What it is called.
    pub name: String,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it is for.
    pub category: Category,
    /// Where its picture is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logo: Option<String>,
    /// Words to find it by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Its rules.
    pub rules: Rules,
}

/// What a community has agreed on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// In words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<String>,
    /// How many may be in it, the admin included.
    pub seats: u32,
    /// Whether nobody can join without the code, or an invitation of the admin's.
    pub is_private: bool,
    /// Whether whoever may join does so without being asked for.
    pub auto_approve: bool,
    /// How much a contribution is, minor units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contribution_amount: Option<Amount>,
    /// How often one is due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contribution_frequency: Option<Frequency>,
    /// Who may take money out.
    pub withdrawal_policy: WithdrawalPolicy,
}

/// Somebody is asked to join.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invited {
    /// Its id.
    pub id: InvitationId,
    /// Who asks.
    pub by: UserId,
    /// Whom: whoever has this address or this number.
    pub contacts: Contacts,
    /// What the inviter calls them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Personal<String>>,
    /// What they are to be.
    pub role: Role,
    /// What the inviter says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Personal<String>>,
    /// Until when they may answer.
    pub expires_at: Timestamp,
}

/// Where somebody can be reached.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contacts {
    /// Email address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<Personal<String>>,
    /// Phone number, E.164.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phone_number: Option<Personal<String>>,
}

/// A participant wants money.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WithdrawalRequested {
    /// Its id.
    pub id: WithdrawalId,
    /// Who.
    pub participant: ParticipantId,
    /// How much, minor units.
    pub amount: Amount,
    /// The account of theirs that it goes to.
    pub destination: AccountNumber,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub narration: Option<String>,
}

crate::spelled! {
    /// What a community is for.
    pub enum Category {
        /// Putting money by together.
        Savings = "SAVINGS",
        /// Investing together.
        Investment = "INVESTMENT",
        /// Relatives.
        Family = "FAMILY",
        /// A trade.
        Business = "BUSINESS",
        /// Good works.
        Charity = "CHARITY",
        /// Company.
        Social = "SOCIAL",
        /// Something else.
        Other = "OTHER",
    }
}

crate::spelled! {
    /// What somebody is in a community.
    pub enum Role {
        /// Takes part.
        Member = "MEMBER",
    }
}

crate::spelled! {
    /// Who may take money out.
    pub enum WithdrawalPolicy {
        /// The admin.
        AdminOnly = "ADMIN_ONLY",
        /// Whoever more than half of the participants agree to.
        Majority = "MAJORITY",
        /// Each participant in turn.
        Rotating = "ROTATING",
    }
}

crate::spelled! {
    /// What became of an invitation.
    pub enum InvitationStatus {
        /// Somebody is asked.
        Invited = "INVITED",
        /// The admin is asked.
        Requested = "REQUESTED",
        /// It was a yes.
        Accepted = "ACCEPTED",
        /// It was a no.
        Denied = "DENIED",
        /// Nobody answered in time.
        Expired = "EXPIRED",
    }
}

crate::spelled! {
    /// What became of a withdrawal.
    pub enum WithdrawalStatus {
        /// Not decided.
        Pending = "PENDING",
        /// Paid.
        Paid = "PAID",
        /// It will not be paid.
        Rejected = "REJECTED",
    }
}

impl AggregateEvent for CommunityEvent {
    names! {
        Created = "community.created",
        RulesSet = "community.rules_set",
        Invited = "community.invited",
        Requested = "community.requested",
        Joined = "community.joined",
        Denied = "community.denied",
        Removed = "community.removed",
        Pledged = "community.pledged",
        WithdrawalRequested = "community.withdrawal_requested",
        WithdrawalVoted = "community.withdrawal_voted",
        WithdrawalPaid = "community.withdrawal_paid",
        WithdrawalRejected = "community.withdrawal_rejected",
    }

    fn subject(&self, _stream: &str) -> Option<UserId> {
        match self {
            // It is what the inviter wrote down.
            Self::Invited(invited) => Some(invited.by),
            Self::Created(_)
            | Self::RulesSet { .. }
            | Self::Requested { .. }
            | Self::Joined { .. }
            | Self::Denied { .. }
            | Self::Removed { .. }
            | Self::Pledged { .. }
            | Self::WithdrawalRequested(_)
            | Self::WithdrawalVoted { .. }
            | Self::WithdrawalPaid { .. }
            | Self::WithdrawalRejected { .. } => None,
        }
    }
}
