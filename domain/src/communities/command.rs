//! What a community can be asked.

use jiff::Timestamp;

use super::{Category, Contacts, Role, Rules};
use crate::kernel::{
    AccountNumber, Amount, CommunityId, Currency, InvitationId, MandateId, ParticipantId, Personal,
    TransactionId, UserId, WithdrawalId,
};

/// Commands to a community.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommunityCommand {
    /// Begin it.
    Create(Box<NewCommunity>),
    /// Its rules are these from now on.
    SetRules {
        /// Who says so.
        by: UserId,
        /// All of them.
        rules: Box<Rules>,
    },
    /// Ask somebody to join.
    Invite(Box<NewInvitation>),
    /// Somebody wants to join who has the code, or needs none.
    Ask(NewRequest),
    /// Somebody who was asked answers; the admin, when somebody has asked to join.
    Answer(Box<Answer>),
    /// Somebody leaves, or has to.
    Remove {
        /// Who.
        participant: ParticipantId,
        /// Who says so.
        by: UserId,
    },
    /// A participant contributes by a mandate that is given in the same unit.
    Pledge {
        /// Who.
        user: UserId,
        /// The mandate.
        mandate: MandateId,
        /// How much each time, minor units.
        amount: Amount,
        /// What they contributed by before, which is over.
        before: Option<MandateId>,
    },
    /// A participant wants money.
    Withdraw(Box<NewWithdrawal>),
    /// A participant says what they think of a withdrawal.
    Vote {
        /// Which.
        id: WithdrawalId,
        /// Who.
        by: UserId,
        /// Whether they agree.
        approve: bool,
        /// The payment, in the same unit, if this decides it.
        paid_by: Option<TransactionId>,
    },
}

/// A community to be begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCommunity {
    /// Its id.
    pub id: CommunityId,
    /// Who begins it, and administers it.
    pub admin: UserId,
    /// What they are as a participant.
    pub participant: ParticipantId,
    /// In whose name its account is: nobody's but the community's.
    pub holder: UserId,
    /// Its account, opened in the same unit.
    pub account: AccountNumber,
    /// The account's currency.
    pub currency: Currency,
    /// What it is called.
    pub name: String,
    /// What it is about.
    pub description: Option<String>,
    /// What it is for.
    pub category: Category,
    /// Where its picture is.
    pub logo: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Its rules.
    pub rules: Rules,
}

/// Somebody to be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewInvitation {
    /// Its id.
    pub id: InvitationId,
    /// Who asks.
    pub by: UserId,
    /// Whom: whoever has this address or this number.
    pub contacts: Contacts,
    /// What the inviter calls them.
    pub name: Option<Personal<String>>,
    /// What they are to be.
    pub role: Role,
    /// What the inviter says.
    pub message: Option<Personal<String>>,
    /// When.
    pub now: Timestamp,
    /// Until when they may answer.
    pub expires_at: Timestamp,
}

/// Somebody wants to join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewRequest {
    /// Under which id the admin is asked, if it is for the admin to decide.
    pub invitation: InvitationId,
    /// Who.
    pub user: UserId,
    /// What they are as a participant, if they join at once.
    pub participant: ParticipantId,
    /// When.
    pub now: Timestamp,
    /// Until when the admin may answer.
    pub expires_at: Timestamp,
}

/// An answer to an invitation, or to somebody who wants to join.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Which.
    pub invitation: InvitationId,
    /// Who answers.
    pub user: UserId,
    /// Where they can be reached, as the bank knows it.
    pub contacts: Contacts,
    /// Whether it is a yes.
    pub accept: bool,
    /// What they are as a participant then.
    pub participant: ParticipantId,
    /// When.
    pub now: Timestamp,
}

/// Money to be taken out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewWithdrawal {
    /// Its id.
    pub id: WithdrawalId,
    /// Who wants it.
    pub by: UserId,
    /// How much, minor units.
    pub amount: Amount,
    /// The account of theirs that it goes to.
    pub destination: AccountNumber,
    /// What it is for.
    pub narration: Option<String>,
    /// The payment, in the same unit, if it needs nobody's consent.
    pub paid_by: Option<TransactionId>,
}
