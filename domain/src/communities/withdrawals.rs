//! Who may take money out of a community.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    Club, CommunityError, CommunityEvent, MOST_OPEN, NewWithdrawal, WithdrawalPolicy, WithdrawalRequested,
    WithdrawalStatus,
};
use crate::kernel::{ParticipantId, TransactionId, UserId, WithdrawalId};

/// Somebody wants money.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Withdrawal {
    /// How much, and where to.
    pub requested: WithdrawalRequested,
    /// What people think of it.
    pub votes: BTreeMap<UserId, bool>,
    /// What became of it.
    pub status: WithdrawalStatus,
}

impl Club {
    /// Whether what `by` wants is paid at once.
    ///
    /// # Errors
    /// [`CommunityError::MayNotWithdraw`].
    pub fn pays_at_once(&self, by: UserId) -> Result<bool, CommunityError> {
        match self.rules().withdrawal_policy {
            WithdrawalPolicy::AdminOnly if by == self.created.admin => Ok(true),
            WithdrawalPolicy::Rotating if self.turn() == Some(by) => Ok(true),
            WithdrawalPolicy::AdminOnly | WithdrawalPolicy::Rotating => Err(CommunityError::MayNotWithdraw),
            WithdrawalPolicy::Majority => Ok(self.members.len() < 2),
        }
    }

    /// Whose turn it is: that of whoever joined next after the one who was paid last. Who joined when is said by their places:
    /// ids are of the clocks of two servers.
    #[must_use]
    pub fn turn(&self) -> Option<UserId> {
        let last = self.last_paid.and_then(|last| self.place(last));
        let next = last.and_then(|place| self.members.get(place + 1)).or_else(|| self.members.first());
        next.map(|member| member.user)
    }

    /// Whether the vote of `by` decides a withdrawal in its favour.
    ///
    /// # Errors
    /// [`CommunityError::UnknownWithdrawal`], [`CommunityError::Decided`], [`CommunityError::AlreadyVoted`],
    /// [`CommunityError::MayNotWithdraw`] when votes do not matter.
    pub fn is_paid_with(&self, id: WithdrawalId, by: UserId, approve: bool) -> Result<bool, CommunityError> {
        if self.rules().withdrawal_policy != WithdrawalPolicy::Majority {
            return Err(CommunityError::MayNotWithdraw);
        }
        let withdrawal = self.withdrawals.get(&id).ok_or(CommunityError::UnknownWithdrawal)?;
        if withdrawal.status != WithdrawalStatus::Pending {
            return Err(CommunityError::Decided { status: withdrawal.status });
        }
        if withdrawal.votes.contains_key(&by) {
            return Err(CommunityError::AlreadyVoted);
        }
        Ok(approve && 2 * (self.votes(withdrawal, true) + 1) > self.members.len())
    }

    /// How many of those who are in it now think so.
    fn votes(&self, withdrawal: &Withdrawal, approve: bool) -> usize {
        self.members.iter().filter(|member| withdrawal.votes.get(&member.user) == Some(&approve)).count()
    }

    pub(super) fn withdraw(&self, new: NewWithdrawal) -> Result<Vec<CommunityEvent>, CommunityError> {
        let NewWithdrawal { id, by, amount, destination, narration, paid_by } = new;
        let participant = self.member(by).ok_or(CommunityError::Unknown)?.participant;
        if self.pays_at_once(by)? != paid_by.is_some() {
            return Err(CommunityError::Raced);
        }
        let open = |one: &&Withdrawal| one.status == WithdrawalStatus::Pending;
        if self.withdrawals.values().filter(open).count() >= MOST_OPEN {
            return Err(CommunityError::TooManyOpen { most: MOST_OPEN });
        }
        let requested = WithdrawalRequested { id, participant, amount, destination, narration };
        let mut events = vec![CommunityEvent::WithdrawalRequested(Box::new(requested))];
        if self.rules().withdrawal_policy == WithdrawalPolicy::Majority {
            events.push(CommunityEvent::WithdrawalVoted { id, by, approve: true });
        }
        events.extend(paid_by.map(|by| CommunityEvent::WithdrawalPaid { id, participant, by }));
        Ok(events)
    }

    pub(super) fn vote(
        &self,
        id: WithdrawalId,
        by: UserId,
        approve: bool,
        paid_by: Option<TransactionId>,
    ) -> Result<Vec<CommunityEvent>, CommunityError> {
        if self.is_paid_with(id, by, approve)? != paid_by.is_some() {
            return Err(CommunityError::Raced);
        }
        let withdrawal = self.withdrawals.get(&id).ok_or(CommunityError::UnknownWithdrawal)?;
        let participant: ParticipantId = withdrawal.requested.participant;
        // Money goes to nobody who has left.
        if paid_by.is_some() && !self.members.iter().any(|member| member.participant == participant) {
            return Err(CommunityError::UnknownParticipant);
        }
        let mut events = vec![CommunityEvent::WithdrawalVoted { id, by, approve }];
        if let Some(by) = paid_by {
            events.push(CommunityEvent::WithdrawalPaid { id, participant, by });
        } else if !approve && 2 * (self.votes(withdrawal, false) + 1) >= self.members.len() {
            events.push(CommunityEvent::WithdrawalRejected { id });
        }
        Ok(events)
    }

    pub(super) fn grow_withdrawals(&mut self, event: &CommunityEvent) {
        match event {
            CommunityEvent::WithdrawalRequested(requested) => {
                let (votes, status) = (BTreeMap::new(), WithdrawalStatus::Pending);
                let withdrawal = Withdrawal { requested: (**requested).clone(), votes, status };
                self.withdrawals.insert(requested.id, withdrawal);
            }
            CommunityEvent::WithdrawalVoted { id, by, approve } => {
                if let Some(withdrawal) = self.withdrawals.get_mut(id) {
                    withdrawal.votes.insert(*by, *approve);
                }
            }
            CommunityEvent::WithdrawalPaid { id, participant, .. } => {
                self.decided(*id, WithdrawalStatus::Paid);
                self.last_paid = Some(*participant);
            }
            CommunityEvent::WithdrawalRejected { id } => self.decided(*id, WithdrawalStatus::Rejected),
            CommunityEvent::Created(_)
            | CommunityEvent::RulesSet { .. }
            | CommunityEvent::Invited(_)
            | CommunityEvent::Requested { .. }
            | CommunityEvent::Joined { .. }
            | CommunityEvent::Denied { .. }
            | CommunityEvent::Removed { .. }
            | CommunityEvent::Pledged { .. } => {}
        }
    }

    fn decided(&mut self, id: WithdrawalId, status: WithdrawalStatus) {
        if let Some(withdrawal) = self.withdrawals.get_mut(&id) {
            withdrawal.status = status;
        }
    }
}
