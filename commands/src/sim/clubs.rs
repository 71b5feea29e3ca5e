//! Communities: what their people want, what the log says of them, and what must hold.

use std::collections::{BTreeMap, BTreeSet};

use bursar_domain::communities::{
    Category, CommunityEvent, Created, Role, Rules, WithdrawalPolicy, WithdrawalRequested,
};
use bursar_domain::kernel::{
    CommunityId, Frequency, InvitationId, ParticipantId, TransactionId, UserId, WithdrawalId, midnight,
    utc_date,
};
use bursar_domain::payments::{Completed, PaymentEvent, PaymentKind};
use bursar_domain::users::User;
use bursar_domain::{AccountNumber, Event, Recorded};
use jiff::Timestamp;
use jiff::civil::Date;

use super::asks::{Ask, Held};
use super::perform::{calendar, held, minor};
use super::servers::Server;
use super::sources::Chance;
use crate::communities::{self, Invitee, Pledge, Wanted};
use crate::owned::{CommandError, once};
use crate::{Committed, Context};

/// What somebody wants of a community.
#[derive(Debug, Clone)]
pub(super) enum ClubAsk {
    Begin {
        admin: Held,
        rules: Box<Rules>,
    },
    SetRules {
        by: UserId,
        club: CommunityId,
        rules: Box<Rules>,
    },
    Invite {
        by: UserId,
        club: CommunityId,
        whom: UserId,
    },
    Join {
        user: UserId,
        club: CommunityId,
    },
    Answer {
        by: UserId,
        club: CommunityId,
        invitation: InvitationId,
        accept: bool,
    },
    Remove {
        by: UserId,
        club: CommunityId,
        participant: ParticipantId,
    },
    /// Contribute by a mandate.
    Pledge {
        from: Held,
        club: CommunityId,
        every: Frequency,
        from_day: Date,
    },
    /// Minor units.
    Withdraw {
        to: Held,
        club: CommunityId,
        amount: i64,
    },
    Vote {
        by: UserId,
        club: CommunityId,
        withdrawal: WithdrawalId,
        approve: bool,
    },
}

/// Carries out what somebody wants.
pub(super) async fn perform(
    server: &Server,
    context: Context,
    ask: &ClubAsk,
) -> Result<Committed, CommandError> {
    let journal = &server.journal;
    match ask {
        ClubAsk::Begin { admin, rules } => {
            let wanted = Wanted {
                name: "Esusu".to_owned(),
                description: None,
                category: Category::Savings,
                logo: None,
                tags: Vec::new(),
                currency: admin.currency,
                rules: (**rules).clone(),
            };
            communities::create(journal, context, admin.owner, wanted).await
        }
        ClubAsk::SetRules { by, club, rules } => {
            communities::set_rules(journal, context, *by, *club, |_| (**rules).clone()).await
        }
        ClubAsk::Invite { by, club, whom } => {
            let (user, _) = journal.load::<User>(&whom.to_string()).await?;
            let invitee = Invitee {
                email: user.person().and_then(|person| person.email.get().cloned()),
                phone_number: None,
                name: None,
                role: Role::Member,
                message: None,
                expires_at: None,
            };
            communities::invite(journal, context, *by, *club, invitee).await
        }
        ClubAsk::Join { user, club } => communities::ask(journal, context, *user, *club).await,
        ClubAsk::Answer { by, club, invitation, accept } => {
            communities::answer(journal, context, *by, *club, *invitation, *accept).await
        }
        ClubAsk::Remove { by, club, participant } => {
            communities::remove(journal, context, *by, *club, *participant).await
        }
        ClubAsk::Pledge { from, club, every, from_day } => {
            once(journal, context, async |context| {
                let (source, starts_at) = (held(server, from).await?, midnight(*from_day));
                let pledge = Pledge { source, starts_at, calendar: calendar(*every, *from_day, None)? };
                communities::pledge(journal, context, *club, pledge).await
            })
            .await
        }
        ClubAsk::Withdraw { to, club, amount } => {
            let destination = held(server, to).await?;
            communities::withdraw(journal, context, *club, &destination, minor(*amount)?, None).await
        }
        ClubAsk::Vote { by, club, withdrawal, approve } => {
            communities::vote(journal, context, *by, *club, *withdrawal, *approve).await
        }
    }
}

/// All communities, as whoever reads the log knows them.
#[derive(Default)]
pub(super) struct Clubs {
    clubs: BTreeMap<CommunityId, Club>,
    /// Theirs, each community's one.
    accounts: BTreeSet<AccountNumber>,
    /// What was decided to be paid, by which payment; it stands in the same unit.
    promised: BTreeMap<TransactionId, WithdrawalRequested>,
}

struct Club {
    created: Created,
    members: Vec<(ParticipantId, UserId)>,
    /// What users have asked the admin.
    asked: BTreeSet<InvitationId>,
    wanted: BTreeMap<WithdrawalId, (WithdrawalRequested, BTreeMap<UserId, bool>)>,
    /// Who has been waiting for a turn since somebody had theirs.
    waiting: BTreeMap<ParticipantId, BTreeSet<ParticipantId>>,
}

impl Clubs {
    /// Whether it is the account of a community: nobody else may use it.
    pub(super) fn hold(&self, number: &AccountNumber) -> bool {
        self.accounts.contains(number)
    }

    /// What somebody might want of some community.
    pub(super) fn wish(&self, chance: &Chance, people: &[Held], now: Timestamp) -> Option<Ask> {
        let somebody = chance.one_of(people)?.clone();
        if self.clubs.len() * 6 < people.len() {
            return Some(Ask::Club(ClubAsk::Begin { admin: somebody, rules: Box::new(rules(chance)) }));
        }
        let all: Vec<_> = self.clubs.iter().collect();
        let (club, known) = chance.one_of(&all)?;
        let (club, member) = (**club, *chance.one_of(&known.members)?);
        let account =
            people.iter().find(|held| held.owner == member.1 && held.currency == known.created.currency);
        let ask = match chance.between(1, 20) {
            1 | 2 => ClubAsk::Invite { by: member.1, club, whom: somebody.owner },
            3..=5 => ClubAsk::Join { user: somebody.owner, club },
            6 | 7 => {
                let asked: Vec<_> = known.asked.iter().collect();
                let invitation = **chance.one_of(&asked)?;
                let by = known.created.admin;
                ClubAsk::Answer { by, club, invitation, accept: !chance.once_in(4) }
            }
            8 => ClubAsk::Remove {
                by: if chance.once_in(2) { member.1 } else { known.created.admin },
                club,
                participant: member.0,
            },
            9 => ClubAsk::SetRules { by: known.created.admin, club, rules: Box::new(rules(chance)) },
            10..=12 => {
                let every = known.created.rules.contribution_frequency?;
                ClubAsk::Pledge { from: account?.clone(), club, every, from_day: utc_date(now) }
            }
            13 | 14 => {
                let amount = i64::try_from(chance.between(100, 60_000)).unwrap_or(100);
                return Some(Ask::Pay { from: account?.clone(), to: known.created.account.clone(), amount });
            }
            15..=17 => {
                let amount = i64::try_from(chance.between(100, 20_000)).unwrap_or(100);
                ClubAsk::Withdraw { to: account?.clone(), club, amount }
            }
            _ => {
                let wanted: Vec<_> = known.wanted.keys().collect();
                let withdrawal = **chance.one_of(&wanted)?;
                ClubAsk::Vote { by: member.1, club, withdrawal, approve: !chance.once_in(4) }
            }
        };
        Some(Ask::Club(ask))
    }

    /// The next event of the log.
    ///
    /// # Errors
    /// What must not be.
    pub(super) fn take(&mut self, recorded: &Recorded) -> Result<(), String> {
        match &recorded.event {
            Event::Community(CommunityEvent::Created(created)) => {
                let Ok(id) = recorded.stream.id.parse() else { return Ok(()) };
                self.accounts.insert(created.account.clone());
                self.clubs.insert(id, Club::new(created));
                Ok(())
            }
            Event::Community(event) => {
                let Ok(id) = recorded.stream.id.parse::<CommunityId>() else { return Ok(()) };
                let club = self.clubs.get_mut(&id).ok_or_else(|| format!("{id} was never begun"))?;
                let paid = club.take(event).map_err(|finding| format!("{id}: {finding}"))?;
                self.promised.extend(paid);
                Ok(())
            }
            Event::Payment(PaymentEvent::Completed(made)) => self.pay(&recorded.stream.id, made),
            _ => Ok(()),
        }
    }

    /// Money leaves a community as it was decided, or back to who has put it there.
    fn pay(&mut self, id: &str, made: &Completed) -> Result<(), String> {
        if made.kind != PaymentKind::Internal || !self.hold(&made.source) {
            return Ok(());
        }
        let promised = id.parse().ok().and_then(|id| self.promised.remove(&id));
        let promised =
            promised.ok_or_else(|| format!("{id} pays out of {}, and nobody has decided so", made.source))?;
        if (&promised.destination, promised.amount) == (&made.destination, made.amount) {
            Ok(())
        } else {
            Err(format!(
                "{id} pays {} to {}, and not what was decided",
                made.amount.minor(),
                made.destination
            ))
        }
    }

    /// At the end of a day everything that was decided is paid.
    pub(super) fn day_end(&self) -> Result<(), String> {
        self.promised.keys().next().map_or(Ok(()), |id| Err(format!("{id} was decided, and is not paid")))
    }
}

impl Club {
    fn new(created: &Created) -> Self {
        Self {
            created: created.clone(),
            members: vec![(created.participant, created.admin)],
            asked: BTreeSet::new(),
            wanted: BTreeMap::new(),
            waiting: BTreeMap::new(),
        }
    }

    fn take(
        &mut self,
        event: &CommunityEvent,
    ) -> Result<Option<(TransactionId, WithdrawalRequested)>, String> {
        match event {
            CommunityEvent::Created(_) => return Err("was begun twice".to_owned()),
            CommunityEvent::RulesSet { rules, .. } => {
                self.created.rules = (**rules).clone();
                self.waiting.clear();
            }
            CommunityEvent::Requested { invitation, .. } => {
                self.asked.insert(*invitation);
            }
            CommunityEvent::Denied { invitation, .. } => {
                self.asked.remove(invitation);
            }
            CommunityEvent::Joined { participant, user, invitation } => {
                invitation.as_ref().map(|invitation| self.asked.remove(invitation));
                self.join(*participant, *user)?;
            }
            CommunityEvent::Removed { participant, .. } => {
                self.members.retain(|(member, _)| member != participant);
                self.waiting.remove(participant);
                self.had_turn(*participant);
            }
            CommunityEvent::Invited(_) | CommunityEvent::Pledged { .. } => {}
            CommunityEvent::WithdrawalRequested(wanted) => {
                self.wanted.insert(wanted.id, ((**wanted).clone(), BTreeMap::new()));
            }
            CommunityEvent::WithdrawalVoted { id, by, approve } => {
                let wanted =
                    self.wanted.get_mut(id).ok_or_else(|| format!("{by} votes on {id}, which is over"))?;
                if wanted.1.insert(*by, *approve).is_some() {
                    return Err(format!("{by} votes twice on {id}"));
                }
            }
            CommunityEvent::WithdrawalRejected { id } => drop(self.wanted.remove(id)),
            CommunityEvent::WithdrawalPaid { id, participant, by } => {
                let wanted = self.wanted.remove(id).ok_or_else(|| format!("{id} is paid, and is over"))?;
                self.paid(*participant, &wanted.1)?;
                return Ok(Some((*by, wanted.0)));
            }
        }
        Ok(None)
    }

    fn join(&mut self, participant: ParticipantId, user: UserId) -> Result<(), String> {
        if self.members.iter().any(|(_, member)| *member == user) {
            return Err(format!("{user} is in it twice"));
        }
        self.members.push((participant, user));
        let seats = self.created.rules.seats;
        let fit = usize::try_from(seats).is_ok_and(|seats| self.members.len() <= seats);
        if fit { Ok(()) } else { Err(format!("{user} is one too many for {seats} seats")) }
    }

    /// Nobody waits for their turn any more.
    fn had_turn(&mut self, participant: ParticipantId) {
        for waiting in self.waiting.values_mut() {
            waiting.remove(&participant);
        }
    }

    /// Whether somebody may be paid.
    fn paid(&mut self, participant: ParticipantId, votes: &BTreeMap<UserId, bool>) -> Result<(), String> {
        let is = |member: &&(ParticipantId, UserId)| member.0 == participant;
        let (_, user) =
            *self.members.iter().find(is).ok_or_else(|| format!("{participant} has left, and is paid"))?;
        match self.created.rules.withdrawal_policy {
            WithdrawalPolicy::AdminOnly if user != self.created.admin => {
                Err(format!("{user} is paid, who is not the admin"))
            }
            WithdrawalPolicy::AdminOnly => Ok(()),
            WithdrawalPolicy::Majority => {
                let agree = self.members.iter().filter(|(_, user)| votes.get(user) == Some(&true)).count();
                if 2 * agree > self.members.len() {
                    Ok(())
                } else {
                    Err(format!("{user} is paid, and {agree} agree"))
                }
            }
            WithdrawalPolicy::Rotating => {
                let others =
                    self.members.iter().map(|(other, _)| *other).filter(|other| *other != participant);
                let before = self.waiting.insert(participant, others.collect()).unwrap_or_default();
                self.had_turn(participant);
                before.first().map_or(Ok(()), |other| Err(format!("{user} has another turn before {other}")))
            }
        }
    }
}

/// Some rules.
fn rules(chance: &Chance) -> Rules {
    const POLICIES: [WithdrawalPolicy; 3] =
        [WithdrawalPolicy::AdminOnly, WithdrawalPolicy::Majority, WithdrawalPolicy::Rotating];
    const OFTEN: [Frequency; 2] = [Frequency::Daily, Frequency::Weekly];
    let contributes = !chance.once_in(4);
    let amount = i64::try_from(chance.between(100, 5_000)).ok().and_then(|amount| amount.try_into().ok());
    Rules {
        texts: Vec::new(),
        seats: u32::try_from(chance.between(2, 8)).unwrap_or(2),
        is_private: chance.once_in(3),
        auto_approve: chance.once_in(2),
        contribution_amount: amount.filter(|_| contributes),
        contribution_frequency: chance.one_of(&OFTEN).copied().filter(|_| contributes),
        withdrawal_policy: chance.one_of(&POLICIES).copied().unwrap_or(WithdrawalPolicy::AdminOnly),
    }
}
