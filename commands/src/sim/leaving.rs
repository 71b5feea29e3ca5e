//! People who close accounts, and people who leave for good: what they and staff do, and what must hold.

use std::collections::{BTreeMap, BTreeSet};

use bursar_domain::accounts::AccountEvent;
use bursar_domain::closures::{ClosureEvent, Requested};
use bursar_domain::kernel::{ClosureId, UserId};
use bursar_domain::ledger::AccountStatus;
use bursar_domain::payments::PaymentEvent;
use bursar_domain::users::UserEvent;
use bursar_domain::{AccountNumber, Event, Recorded};

use super::asks::{Ask, Held};
use super::perform::{held, transfer, unknown};
use super::servers::Server;
use super::sources::Chance;
use crate::closures::{self, NewClosure};
use crate::journal::in_memory::InMemory;
use crate::keys::Keys;
use crate::owned::{CommandError, once};
use crate::{Committed, Context, accounts, payments, users};

/// How often somebody who wants to leave tries, before they stay.
const TRIES: u32 = 120;

/// How many want to leave at once.
const AT_ONCE: usize = 2;

/// What somebody does who wants to leave, and what staff do about it.
#[derive(Debug, Clone)]
pub(super) enum LeaveAsk {
    /// All that is in the account, in cash.
    Empty { account: Held },
    /// Closes an account; what is left goes to another.
    Close { account: Held, rest: Option<Held> },
    /// Staff let money leave again from an account that is frozen, or rests.
    Wake { account: Held },
    /// Does not want to any more.
    Stay { account: Held },
    /// Staff agree.
    Approve { closure: ClosureId },
    /// Staff do not.
    Reject { closure: ClosureId },
    /// Staff do it.
    Finalize { closure: ClosureId },
    /// Staff erase somebody: the one asks for it, the other agrees.
    Erase { user: UserId, agreed: bool },
}

/// Carries out what somebody wants.
pub(super) async fn perform(
    server: &Server,
    keys: &Keys,
    context: Context,
    [asks, approves, does]: &[UserId; 3],
    ask: &LeaveAsk,
) -> Result<Committed, CommandError> {
    let journal = &server.journal;
    match ask {
        LeaveAsk::Empty { account } => {
            // Answered as then: there is less in it now.
            once(journal, context, async |context| {
                let there = journal.ledger_account(&account.number).await?.ok_or_else(unknown)?;
                let all = transfer(account, there.balance)?;
                payments::withdraw(journal, context, account.number.clone(), all).await
            })
            .await
        }
        LeaveAsk::Close { account, rest } => {
            let transfer_account = match rest {
                Some(rest) => Some(held(server, rest).await?),
                None => None,
            };
            let reason = "Moving away".to_owned();
            let new = NewClosure { reason, preferred_date: None, transfer_account, comments: None };
            closures::apply(journal, context, &held(server, account).await?, new).await
        }
        LeaveAsk::Wake { account } => {
            // Answered as then: it is awake now.
            once(journal, context, async |context| {
                let there = journal.ledger_account(&account.number).await?.ok_or_else(unknown)?;
                let because = "They asked".to_owned();
                if there.status == AccountStatus::Frozen {
                    accounts::unfreeze(journal, context, &account.number, because).await
                } else {
                    accounts::reactivate(journal, context, &account.number, because).await
                }
            })
            .await
        }
        LeaveAsk::Stay { account } => closures::cancel(journal, context, &held(server, account).await?).await,
        LeaveAsk::Approve { closure } => closures::approve(journal, context, *approves, *closure, None).await,
        LeaveAsk::Reject { closure } => {
            closures::reject(journal, context, *approves, *closure, "Not now".to_owned()).await
        }
        LeaveAsk::Finalize { closure } => {
            closures::finalize(journal, context, &*server.days, *does, *closure, None).await
        }
        LeaveAsk::Erase { user, agreed } => {
            let by = if *agreed { *approves } else { *asks };
            users::erase(journal, keys, &*server.days, context, by, *user, "They asked".to_owned()).await
        }
    }
}

/// Who is leaving, as whoever reads the log knows it.
#[derive(Default)]
pub(super) struct Leaving {
    /// Open applications, and who has agreed.
    open: BTreeMap<ClosureId, (Requested, Option<UserId>)>,
    /// Accounts that were decided to be closed in the unit that is read.
    closing: BTreeMap<AccountNumber, ClosureId>,
    /// Accounts of somebody who was erased in the unit that is read.
    left: BTreeSet<AccountNumber>,
    closed: BTreeSet<AccountNumber>,
    /// Whose erasure somebody has asked for.
    erasing: BTreeSet<UserId>,
    erased: BTreeSet<UserId>,
    /// Who wants to leave for good, and how often they have tried.
    leavers: BTreeMap<UserId, u32>,
}

impl Leaving {
    /// How many are gone.
    pub(super) fn gone(&self) -> u32 {
        u32::try_from(self.erased.len()).unwrap_or(u32::MAX)
    }

    /// What somebody might want: that one savings account goes.
    pub(super) fn wish(&self, chance: &Chance, current: &[Held], savings: &[Held]) -> Option<Ask> {
        Some(self.close(chance, chance.one_of(savings)?, current))
    }

    /// What those do next who leave for good: one account after another is closed, and then they are erased. The last one may
    /// be closed by that.
    pub(super) fn steps(&mut self, chance: &Chance, current: &[Held], savings: &[Held]) -> Vec<Ask> {
        if self.leavers.len() < AT_ONCE
            && let Some(leaver) = chance.one_of(current)
        {
            self.leavers.entry(leaver.owner).or_default();
        }
        self.leavers.values_mut().for_each(|tries| *tries += 1);
        self.leavers.retain(|user, tries| *tries <= TRIES && !self.erased.contains(user));
        let step = |user: &UserId| {
            let theirs = |held: &&Held| held.owner == *user;
            let erase = Ask::Leave(LeaveAsk::Erase { user: *user, agreed: self.erasing.contains(user) });
            match (savings.iter().find(theirs), current.iter().find(theirs)) {
                (None, None) => erase,
                (None, Some(account)) => match chance.between(1, 4) {
                    1 => erase,
                    2 => Ask::Leave(LeaveAsk::Empty { account: account.clone() }),
                    _ => self.close(chance, account, current),
                },
                (Some(account), _) => self.close(chance, account, current),
            }
        };
        self.leavers.keys().map(step).collect()
    }

    /// A step towards closing an account.
    fn close(&self, chance: &Chance, account: &Held, current: &[Held]) -> Ask {
        let account = account.clone();
        let open = self.open.iter().find(|(_, (asked, _))| asked.account == account.number);
        let other = |held: &&Held| {
            held.owner == account.owner && held.currency == account.currency && held.number != account.number
        };
        let rest = current.iter().find(other).cloned();
        let ask = match (open, chance.between(1, 12)) {
            (Some((closure, _)), 1) => LeaveAsk::Reject { closure: *closure },
            (Some(_), 2) => LeaveAsk::Stay { account },
            (Some((closure, (_, None))), 3..) => LeaveAsk::Approve { closure: *closure },
            (Some((closure, _)), 3..=7) => LeaveAsk::Finalize { closure: *closure },
            (None, 1..=5) => LeaveAsk::Close { account, rest },
            (_, 8 | 9) => LeaveAsk::Wake { account },
            _ => LeaveAsk::Empty { account },
        };
        Ask::Leave(ask)
    }

    /// The next event of the log.
    ///
    /// # Errors
    /// What must not be.
    pub(super) fn take(&mut self, recorded: &Recorded) -> Result<(), String> {
        let id = recorded.stream.id.as_str();
        match &recorded.event {
            Event::Closure(event) => {
                let Ok(id) = id.parse() else { return Ok(()) };
                self.apply(id, event).map_err(|finding| format!("{id} {finding}"))
            }
            Event::Account(AccountEvent::Closed { closure_id }) => {
                let number = AccountNumber::from(id);
                let decided = match closure_id {
                    Some(application) => self.closing.remove(&number) == Some(*application),
                    None => self.left.remove(&number),
                };
                self.closed.insert(number);
                if decided { Ok(()) } else { Err(format!("{id} was closed, as nobody has decided")) }
            }
            Event::Payment(PaymentEvent::Completed(made)) => {
                let closed =
                    [&made.source, &made.destination].into_iter().find(|end| self.closed.contains(*end));
                closed.map_or(Ok(()), |end| Err(format!("{id} moves money of {end}, which is closed")))
            }
            Event::User(event) => {
                let Ok(user) = id.parse() else { return Ok(()) };
                self.erase(user, event)
            }
            _ => Ok(()),
        }
    }

    fn apply(&mut self, id: ClosureId, event: &ClosureEvent) -> Result<(), String> {
        let unknown = || "is not open".to_owned();
        match event {
            ClosureEvent::Requested(asked) => {
                if self.open.values().any(|(other, _)| other.account == asked.account) {
                    return Err(format!("is the second application for {}", asked.account));
                }
                self.open.insert(id, ((**asked).clone(), None));
            }
            ClosureEvent::Approved { by, .. } => self.open.get_mut(&id).ok_or_else(unknown)?.1 = Some(*by),
            ClosureEvent::Rejected { .. } | ClosureEvent::Cancelled => {
                self.open.remove(&id).ok_or_else(unknown)?;
            }
            ClosureEvent::Completed(done) => {
                let (asked, approver) = self.open.remove(&id).ok_or_else(unknown)?;
                if approver.is_none_or(|approver| approver == done.by) {
                    return Err(format!("was approved by {approver:?}, and done by {}", done.by));
                }
                self.closing.insert(asked.account, id);
            }
        }
        Ok(())
    }

    fn erase(&mut self, user: UserId, event: &UserEvent) -> Result<(), String> {
        match event {
            UserEvent::ErasureRequested { .. } => drop(self.erasing.insert(user)),
            UserEvent::Erased(erased) => {
                self.erasing.remove(&user);
                self.erased.insert(user);
                let open = erased.accounts.iter().filter(|number| !self.closed.contains(*number));
                self.left.extend(open.cloned());
                if erased.requested_by == erased.approved_by {
                    return Err(format!("{user} was erased by one"));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// At the end of a day what was decided to be closed is, and nobody can read of those who are erased.
    pub(super) fn day_end(&self, tables: &InMemory) -> Result<(), String> {
        if let Some((number, id)) = self.closing.first_key_value() {
            return Err(format!("{id} has closed {number}, and it is not"));
        }
        if let Some(number) = self.left.first() {
            return Err(format!("the holder of {number} was erased, and it is open"));
        }
        let readable = self.erased.iter().find(|user| tables.has_key(**user));
        readable.map_or(Ok(()), |user| Err(format!("{user} was erased, and can be read")))
    }
}
