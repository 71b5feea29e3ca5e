//! Who is in a community, and who is to be.

use jiff::Timestamp;

use super::{
    Answer, Club, CommunityError, CommunityEvent, Contacts, Invitation, InvitationStatus, Invited, MOST_OPEN,
    Member, NewInvitation, NewRequest, Rules,
};
use crate::kernel::{Amount, InvitationId, MandateId, ParticipantId, Personal, UserId};

impl Club {
    pub(super) fn set_rules(&self, by: UserId, rules: Box<Rules>) -> Result<CommunityEvent, CommunityError> {
        self.admin(by)?;
        rules.check()?;
        let participants = u32::try_from(self.members.len()).unwrap_or(u32::MAX);
        if rules.seats < participants {
            return Err(CommunityError::TooFewSeats { participants });
        }
        Ok(CommunityEvent::RulesSet { by, rules })
    }

    pub(super) fn invite(&self, new: NewInvitation) -> Result<CommunityEvent, CommunityError> {
        if self.rules().is_private {
            self.admin(new.by)?;
        }
        self.seat()?;
        self.room(new.now)?;
        Ok(CommunityEvent::Invited(Box::new(Invited {
            id: new.id,
            by: new.by,
            contacts: new.contacts,
            name: new.name,
            role: new.role,
            message: new.message,
            expires_at: new.expires_at,
        })))
    }

    pub(super) fn ask(&self, new: NewRequest) -> Result<CommunityEvent, CommunityError> {
        let NewRequest { invitation, user, participant, now, expires_at } = new;
        // Whoever was not answered in time may ask again.
        let mut open = self.invitations.values().filter(|open| open.expires_at > now);
        if self.member(user).is_some() || open.any(|open| open.user == Some(user)) {
            return Err(CommunityError::AlreadyIn);
        }
        self.seat()?;
        if self.rules().auto_approve {
            return Ok(CommunityEvent::Joined { participant, user, invitation: None });
        }
        self.room(now)?;
        Ok(CommunityEvent::Requested { invitation, user, expires_at })
    }

    pub(super) fn answer(&self, answer: &Answer) -> Result<CommunityEvent, CommunityError> {
        let Some(open) = self.invitations.get(&answer.invitation) else {
            // What was answered is told to nobody but those who take part.
            let status = self.answered.get(&answer.invitation).filter(|_| self.member(answer.user).is_some());
            return Err(match status {
                Some(status) => CommunityError::Answered { status: *status },
                None => CommunityError::UnknownInvitation,
            });
        };
        let user = match open.user {
            Some(user) if answer.user == self.created.admin => user,
            None if open.contacts.meet(&answer.contacts) => answer.user,
            Some(_) | None => return Err(CommunityError::UnknownInvitation),
        };
        if answer.now >= open.expires_at {
            return Err(CommunityError::Answered { status: InvitationStatus::Expired });
        }
        if !answer.accept {
            return Ok(CommunityEvent::Denied { invitation: answer.invitation, by: answer.user });
        }
        if self.member(user).is_some() {
            return Err(CommunityError::AlreadyIn);
        }
        self.seat()?;
        Ok(CommunityEvent::Joined {
            participant: answer.participant,
            user,
            invitation: Some(answer.invitation),
        })
    }

    pub(super) fn remove(
        &self,
        participant: ParticipantId,
        by: UserId,
    ) -> Result<CommunityEvent, CommunityError> {
        let member = self.members.iter().find(|member| member.participant == participant);
        let member = member.ok_or(CommunityError::UnknownParticipant)?;
        if member.user != by {
            self.admin(by)?;
        }
        if member.user == self.created.admin {
            return Err(CommunityError::AdminStays);
        }
        Ok(CommunityEvent::Removed { participant, user: member.user, by })
    }

    pub(super) fn pledge(
        &self,
        user: UserId,
        mandate: MandateId,
        amount: Amount,
        before: Option<MandateId>,
    ) -> Result<CommunityEvent, CommunityError> {
        let member = self.member(user).ok_or(CommunityError::Unknown)?;
        // They have asked twice at once, and were quicker elsewhere.
        if member.mandate != before {
            return Err(CommunityError::AlreadyContributing);
        }
        // The mandate was made of the rules as they were read; they may be others by now.
        match self.rules().contribution_amount {
            None => Err(CommunityError::NoContributions),
            Some(asked) if asked != amount => Err(CommunityError::Raced),
            Some(_) => Ok(CommunityEvent::Pledged { participant: member.participant, mandate, amount }),
        }
    }

    /// How many joined before a participant who is still in it.
    pub(super) fn place(&self, participant: ParticipantId) -> Option<usize> {
        self.members.iter().position(|member| member.participant == participant)
    }

    /// Whether one more can join.
    fn seat(&self) -> Result<(), CommunityError> {
        let seats = self.rules().seats;
        let free = usize::try_from(seats).is_ok_and(|seats| self.members.len() < seats);
        if free { Ok(()) } else { Err(CommunityError::Full { seats }) }
    }

    /// Whether one more can wait for an answer.
    fn room(&self, now: Timestamp) -> Result<(), CommunityError> {
        let open = self.invitations.values().filter(|open| open.expires_at > now).count();
        if open < MOST_OPEN { Ok(()) } else { Err(CommunityError::TooManyOpen { most: MOST_OPEN }) }
    }

    pub(super) fn grow_members(&mut self, event: &CommunityEvent) {
        match event {
            CommunityEvent::Invited(invited) => {
                let (contacts, expires_at) = (invited.contacts.clone(), invited.expires_at);
                self.invitations.insert(invited.id, Invitation { user: None, contacts, expires_at });
            }
            CommunityEvent::Requested { invitation, user, expires_at } => {
                let contacts = Contacts::default();
                let open = Invitation { user: Some(*user), contacts, expires_at: *expires_at };
                self.invitations.insert(*invitation, open);
            }
            CommunityEvent::Joined { participant, user, invitation } => {
                self.members.push(Member { participant: *participant, user: *user, mandate: None });
                self.invitations.retain(|_, open| open.user != Some(*user));
                if let Some(invitation) = invitation {
                    self.answered(*invitation, InvitationStatus::Accepted);
                }
            }
            CommunityEvent::Denied { invitation, .. } => {
                self.answered(*invitation, InvitationStatus::Denied);
            }
            CommunityEvent::Removed { participant, .. } => {
                // The turn that came after theirs is now the one after that of whoever joined before them.
                if self.last_paid == Some(*participant) {
                    let before = self.place(*participant).and_then(|place| place.checked_sub(1));
                    self.last_paid =
                        before.and_then(|place| self.members.get(place)).map(|one| one.participant);
                }
                self.members.retain(|member| member.participant != *participant);
            }
            CommunityEvent::Pledged { participant, mandate, .. } => {
                for member in self.members.iter_mut().filter(|one| one.participant == *participant) {
                    member.mandate = Some(*mandate);
                }
            }
            CommunityEvent::Created(_)
            | CommunityEvent::RulesSet { .. }
            | CommunityEvent::WithdrawalRequested(_)
            | CommunityEvent::WithdrawalVoted { .. }
            | CommunityEvent::WithdrawalPaid { .. }
            | CommunityEvent::WithdrawalRejected { .. } => {}
        }
    }

    fn answered(&mut self, invitation: InvitationId, status: InvitationStatus) {
        self.invitations.remove(&invitation);
        self.answered.insert(invitation, status);
    }
}

impl Contacts {
    /// Whether somebody who is reached here is who is meant.
    fn meet(&self, somebody: &Self) -> bool {
        let same = |one: &Option<Personal<String>>, other: &Option<Personal<String>>| {
            let text = |contact: &Option<Personal<String>>| {
                contact.as_ref().and_then(|text| text.get()).map(|text| text.to_lowercase())
            };
            text(one).is_some_and(|one| text(other) == Some(one))
        };
        same(&self.email, &somebody.email) || same(&self.phone_number, &somebody.phone_number)
    }
}
