//! Communities: people who put money by together. The money is in an account that no person holds: what comes in is an
//! ordinary payment, what goes out is what the withdrawal policy lets out.
//!
//! ```text
//!   invitation:  INVITED, REQUESTED --yes--> ACCEPTED (a seat is taken: never one too many)
//!                                   '--no--> DENIED;  too late: EXPIRED
//!   withdrawal:  PENDING --more than half agree--> PAID;  half or more do not--> REJECTED      MAJORITY
//!                ----------------------------> PAID  the admin's, or that of whose turn it is  ADMIN_ONLY, ROTATING
//! ```

mod command;
mod error;
mod event;
mod members;
#[cfg(test)]
mod tests;
mod withdrawals;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use command::{Answer, CommunityCommand, NewCommunity, NewInvitation, NewRequest, NewWithdrawal};
pub use error::CommunityError;
pub use event::{
    Category, CommunityEvent, Contacts, Created, InvitationStatus, Invited, Role, Rules, WithdrawalPolicy,
    WithdrawalRequested, WithdrawalStatus,
};
pub use withdrawals::Withdrawal;

use crate::aggregate::Aggregate;
use crate::kernel::{InvitationId, MandateId, ParticipantId, UserId, WithdrawalId};

/// Invitations, and withdrawals, that may wait for an answer at once.
pub const MOST_OPEN: usize = 1_000;

/// A community, by its id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Community {
    /// Not begun.
    #[default]
    Absent,
    /// It exists.
    Open(Box<Club>),
}

/// What later decisions need to know of a community.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Club {
    /// How it began; the rules in it are those of now.
    pub created: Created,
    /// Who is in it, in the order in which they joined.
    pub members: Vec<Member>,
    /// Who was asked or has asked, until it is answered.
    pub invitations: BTreeMap<InvitationId, Invitation>,
    /// What was answered, and how.
    pub answered: BTreeMap<InvitationId, InvitationStatus>,
    /// Who wants money.
    pub withdrawals: BTreeMap<WithdrawalId, Withdrawal>,
    /// Who was the last to be paid; when they have left, whoever joined before them.
    pub last_paid: Option<ParticipantId>,
}

/// Somebody who is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// What they are as a participant.
    pub participant: ParticipantId,
    /// Who.
    pub user: UserId,
    /// What they contribute by; it may be over.
    pub mandate: Option<MandateId>,
}

/// Somebody who was asked, or has asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    /// Who has asked; none for somebody who was asked.
    pub user: Option<UserId>,
    /// Who was asked.
    pub contacts: Contacts,
    /// Until when it can be answered.
    pub expires_at: Timestamp,
}

impl Community {
    /// It, if `user` takes part.
    ///
    /// # Errors
    /// [`CommunityError::Unknown`], to anybody else as well.
    pub fn of(&self, user: UserId) -> Result<&Club, CommunityError> {
        match self {
            Self::Open(club) if club.member(user).is_some() => Ok(club),
            Self::Absent | Self::Open(_) => Err(CommunityError::Unknown),
        }
    }

    /// It, whoever asks.
    ///
    /// # Errors
    /// [`CommunityError::Unknown`].
    pub fn open(&self) -> Result<&Club, CommunityError> {
        match self {
            Self::Open(club) => Ok(club),
            Self::Absent => Err(CommunityError::Unknown),
        }
    }
}

impl Club {
    /// Its rules.
    #[must_use]
    pub const fn rules(&self) -> &Rules {
        &self.created.rules
    }

    /// What somebody is in it.
    #[must_use]
    pub fn member(&self, user: UserId) -> Option<&Member> {
        self.members.iter().find(|member| member.user == user)
    }

    fn admin(&self, user: UserId) -> Result<(), CommunityError> {
        if user == self.created.admin { Ok(()) } else { Err(CommunityError::NotAdmin) }
    }

    fn grow(&mut self, event: &CommunityEvent) {
        match event {
            CommunityEvent::Created(_) => {}
            CommunityEvent::RulesSet { rules, .. } => self.created.rules = (**rules).clone(),
            CommunityEvent::Invited(_)
            | CommunityEvent::Requested { .. }
            | CommunityEvent::Joined { .. }
            | CommunityEvent::Denied { .. }
            | CommunityEvent::Removed { .. }
            | CommunityEvent::Pledged { .. } => self.grow_members(event),
            CommunityEvent::WithdrawalRequested(_)
            | CommunityEvent::WithdrawalVoted { .. }
            | CommunityEvent::WithdrawalPaid { .. }
            | CommunityEvent::WithdrawalRejected { .. } => self.grow_withdrawals(event),
        }
    }
}

impl Rules {
    fn check(&self) -> Result<(), CommunityError> {
        if self.contribution_amount.is_some() == self.contribution_frequency.is_some() {
            Ok(())
        } else {
            Err(CommunityError::RulesIncomplete)
        }
    }
}

impl NewCommunity {
    fn create(self) -> Result<CommunityEvent, CommunityError> {
        self.rules.check()?;
        Ok(CommunityEvent::Created(Box::new(Created {
            admin: self.admin,
            participant: self.participant,
            holder: self.holder,
            account: self.account,
            currency: self.currency,
            name: self.name,
            description: self.description,
            category: self.category,
            logo: self.logo,
            tags: self.tags,
            rules: self.rules,
        })))
    }
}

impl Aggregate for Community {
    const TYPE: &'static str = "community";
    type Command = CommunityCommand;
    type Event = CommunityEvent;
    type Error = CommunityError;

    fn decide(&self, command: CommunityCommand) -> Result<Vec<CommunityEvent>, CommunityError> {
        let event = match command {
            CommunityCommand::Create(new) => match self {
                Self::Absent => new.create()?,
                Self::Open(_) => return Err(CommunityError::Exists),
            },
            CommunityCommand::SetRules { by, rules } => self.of(by)?.set_rules(by, rules)?,
            CommunityCommand::Invite(new) => self.of(new.by)?.invite(*new)?,
            CommunityCommand::Ask(request) => self.open()?.ask(request)?,
            CommunityCommand::Answer(answer) => {
                // Whoever is not asked learns nothing, not even that there is such a community.
                self.open().map_err(|_| CommunityError::UnknownInvitation)?.answer(&answer)?
            }
            CommunityCommand::Remove { participant, by } => self.of(by)?.remove(participant, by)?,
            CommunityCommand::Pledge { user, mandate, amount, before } => {
                self.of(user)?.pledge(user, mandate, amount, before)?
            }
            CommunityCommand::Withdraw(new) => return self.of(new.by)?.withdraw(*new),
            CommunityCommand::Vote { id, by, approve, paid_by } => {
                return self.of(by)?.vote(id, by, approve, paid_by);
            }
        };
        Ok(vec![event])
    }

    fn evolve(&mut self, event: &CommunityEvent) {
        match (self, event) {
            (this @ Self::Absent, CommunityEvent::Created(created)) => {
                let admin = Member { participant: created.participant, user: created.admin, mandate: None };
                *this = Self::Open(Box::new(Club {
                    created: (**created).clone(),
                    members: vec![admin],
                    invitations: BTreeMap::new(),
                    answered: BTreeMap::new(),
                    withdrawals: BTreeMap::new(),
                    last_paid: None,
                }));
            }
            (Self::Open(club), event) => club.grow(event),
            (Self::Absent, _) => {}
        }
    }
}
