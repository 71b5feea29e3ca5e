//! Who wants what next. What there is, the workload learns from the log, like anybody who reads it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use bursar_domain::accounts::{AccountEvent, SavingsFrequency};
use bursar_domain::cards::CardEvent;
use bursar_domain::communities::CommunityEvent;
use bursar_domain::devices::DeviceAction;
use bursar_domain::disputes::DisputeEvent;
use bursar_domain::kernel::{
    CardId, DisputeId, Frequency, LoanId, MandateId, RecurrenceId, TransactionId, UserId, utc_date,
};
use bursar_domain::loan_products::{LoanProductEvent, LoanTerms};
use bursar_domain::loans::LoanEvent;
use bursar_domain::mandates::MandateEvent;
use bursar_domain::payments::{PaymentEvent, PaymentKind};
use bursar_domain::products::{AccountType, ProductEvent, ProductTerms};
use bursar_domain::recurrences::RecurrenceEvent;
use bursar_domain::users::UserEvent;
use bursar_domain::{AccountNumber, Event, Recorded};
use jiff::{SignedDuration, Timestamp, ToSpan as _};

use super::asks::{Ask, Held, Request};
use super::clubs::{ClubAsk, Clubs};
use super::leaving::Leaving;
use super::perform::{next_year, outside_number};
use super::sources::Chance;

/// Payments that somebody may still come back to.
const REMEMBERED: usize = 300;

/// What the people of the simulation know of their bank.
pub(super) struct Workload {
    chance: Arc<Chance>,
    customers: u32,
    registered: u32,
    requests: u64,
    users: Vec<UserId>,
    products: Vec<(String, ProductTerms)>,
    loan_products: Vec<(String, LoanTerms)>,
    current: Vec<Held>,
    savings: Vec<Held>,
    payments: VecDeque<(TransactionId, UserId, i64)>,
    mandates: Vec<(MandateId, UserId)>,
    recurrences: Vec<(RecurrenceId, UserId)>,
    loans: Vec<(LoanId, Held)>,
    cards: Vec<(CardId, UserId)>,
    disputes: Vec<DisputeId>,
    closed: Vec<AccountNumber>,
    clubs: Clubs,
    /// Whom a request has invited: in the log it is sealed.
    invited: BTreeMap<String, UserId>,
    leaving: Leaving,
    /// What follows from what has happened: staff answer, people move in.
    next: VecDeque<Ask>,
}

impl Workload {
    pub(super) fn new(chance: Arc<Chance>, customers: u32) -> Self {
        Self {
            chance,
            customers,
            registered: 0,
            requests: 0,
            users: Vec::new(),
            products: Vec::new(),
            loan_products: Vec::new(),
            current: Vec::new(),
            savings: Vec::new(),
            payments: VecDeque::new(),
            mandates: Vec::new(),
            recurrences: Vec::new(),
            loans: Vec::new(),
            cards: Vec::new(),
            disputes: Vec::new(),
            closed: Vec::new(),
            clubs: Clubs::default(),
            invited: BTreeMap::new(),
            leaving: Leaving::default(),
            next: VecDeque::new(),
        }
    }

    /// Learns what has happened.
    pub(super) fn learn(&mut self, events: &[Recorded]) {
        for recorded in events {
            let id = recorded.stream.id.as_str();
            // What must not be is for the checks to find.
            drop(self.clubs.take(recorded));
            drop(self.leaving.take(recorded));
            match &recorded.event {
                Event::Product(ProductEvent::Defined(terms)) => {
                    self.products.retain(|(known, _)| known != id);
                    self.products.push((id.to_owned(), (**terms).clone()));
                }
                Event::LoanProduct(LoanProductEvent::Defined(terms)) => {
                    self.loan_products.retain(|(known, _)| known != id);
                    self.loan_products.push((id.to_owned(), (**terms).clone()));
                }
                Event::User(UserEvent::Registered(_)) => {
                    let Ok(user) = id.parse() else { continue };
                    self.users.push(user);
                    self.next.push_back(Ask::Activate { user });
                    self.next.extend(self.open(user, AccountType::Current));
                }
                Event::User(UserEvent::Erased(_)) => self.users.retain(|user| user.to_string() != id),
                Event::Account(event) => self.learn_account(id, event),
                Event::Community(CommunityEvent::Invited(invited)) => {
                    let whom = self.invited.remove(recorded.metadata.correlation_id.as_str());
                    if let (Some(by), Ok(club)) = (whom, id.parse()) {
                        let (invitation, accept) = (invited.id, !self.chance.once_in(5));
                        self.next.push_back(Ask::Club(ClubAsk::Answer { by, club, invitation, accept }));
                    }
                }
                Event::Payment(PaymentEvent::Completed(made)) => {
                    let kinds = [PaymentKind::Internal, PaymentKind::External, PaymentKind::Own];
                    if let (Ok(id), Some(payer)) = (id.parse(), made.payer)
                        && kinds.contains(&made.kind)
                        && !self.clubs.hold(&made.source)
                    {
                        self.payments.push_back((id, payer, made.amount.minor()));
                        if self.payments.len() > REMEMBERED {
                            self.payments.pop_front();
                        }
                    }
                }
                Event::Loan(event) => self.learn_loan(id, event),
                _ => self.learn_more(id, &recorded.event),
            }
        }
    }

    fn learn_account(&mut self, id: &str, event: &AccountEvent) {
        let number = AccountNumber::from(id);
        if let AccountEvent::Closed { .. } = event {
            self.current.retain(|held| held.number != number);
            self.savings.retain(|held| held.number != number);
            self.closed.push(number);
        } else if let AccountEvent::Opened(opened) = event
            && !self.clubs.hold(&number)
        {
            let (owner, currency) = (opened.terms.owner, opened.terms.currency);
            let held = Held { owner, number, currency };
            if opened.account_type == AccountType::Current {
                let amount = amount(&self.chance, 200_000, 5_000_000);
                self.next.push_back(Ask::Deposit { account: held.clone(), amount });
                self.current.push(held);
            } else {
                self.savings.push(held);
            }
        }
    }

    fn learn_loan(&mut self, id: &str, event: &LoanEvent) {
        let Ok(loan) = id.parse() else { return };
        match event {
            LoanEvent::Applied(applied) => {
                let same =
                    |held: &&Held| held.owner == applied.owner && held.currency == applied.terms.currency;
                let held = self.current.iter().find(same).cloned();
                self.loans.extend(held.map(|held| (loan, held)));
                self.next.push_back(Ask::StartReview { loan });
            }
            LoanEvent::ReviewStarted { .. } => self.next.push_back(Ask::Approve { loan }),
            // Some approvals are left to expire.
            LoanEvent::Approved { .. } if !self.chance.once_in(8) => {
                self.next.push_back(Ask::Disburse { loan });
            }
            LoanEvent::Closed => self.loans.retain(|(known, _)| *known != loan),
            _ => {}
        }
    }

    fn learn_more(&mut self, id: &str, event: &Event) {
        match event {
            Event::Mandate(MandateEvent::SetUp(set_up)) => {
                self.mandates.extend(id.parse().ok().map(|id| (id, set_up.owner)));
            }
            Event::Recurrence(RecurrenceEvent::SetUp(set_up)) => {
                self.recurrences.extend(id.parse().ok().map(|id| (id, set_up.owner)));
            }
            Event::Card(CardEvent::Requested(requested)) => {
                let Ok(card) = id.parse() else { return };
                self.cards.push((card, requested.owner));
                self.next.push_back(Ask::ActivateCard { card });
            }
            Event::Dispute(DisputeEvent::Opened(_)) => self.disputes.extend(id.parse::<DisputeId>().ok()),
            _ => {}
        }
    }

    /// What is asked in the next hours.
    pub(super) fn requests(&mut self, now: Timestamp, most: u32) -> Vec<Request> {
        let wishes = self.wishes(now, most);
        let requests = wishes.into_iter().map(|ask| {
            self.requests += 1;
            let id = format!("sim-{:08}", self.requests);
            if let Ask::Club(ClubAsk::Invite { whom, .. }) = &ask {
                self.invited.insert(id.clone(), *whom);
            }
            Request { id, ask }
        });
        requests.collect()
    }

    fn wishes(&mut self, now: Timestamp, most: u32) -> Vec<Ask> {
        let mut wishes: Vec<Ask> = self.next.drain(..).collect();
        // They come over some weeks, the first ones at once; for whoever leaves, somebody comes.
        let wanted = self.customers.saturating_add(self.leaving.gone());
        let coming = wanted.saturating_sub(self.registered).min(self.customers.div_ceil(10));
        for _ in 0..coming {
            self.registered += 1;
            wishes.push(Ask::Register { nth: self.registered });
        }
        wishes.extend(self.leaving.steps(&self.chance, &self.current, &self.savings));
        for _ in 0..most {
            wishes.extend(self.wish(now));
        }
        wishes
    }

    fn wish(&mut self, now: Timestamp) -> Option<Ask> {
        let chance = Arc::clone(&self.chance);
        let from = chance.one_of(&self.current)?.clone();
        match chance.between(1, 100) {
            1..=8 => {
                let to = chance.one_of(&self.savings)?.clone();
                let same = |held: &&Held| held.owner == to.owner && held.currency == to.currency;
                let from = self.current.iter().find(same)?.clone();
                let (from, to) = if chance.once_in(4) { (to, from) } else { (from, to) };
                Some(Ask::Own { from, to, amount: amount(&chance, 100, 50_000) })
            }
            9..=18 => {
                const ENDS: [&str; 6] = ["1234", "5678", "0001", "0002", "0003", "0005"];
                let number = outside_number(chance.between(0, 999_999), chance.one_of(&ENDS)?);
                let (number, amount) = (number.as_str().to_owned(), amount(&chance, 100, 30_000));
                Some(Ask::PayOut { from, bank: "058".to_owned(), number, amount })
            }
            19..=24 => Some(Ask::Deposit { account: from, amount: amount(&chance, 1_000, 300_000) }),
            25..=29 => Some(Ask::Withdraw { account: from, amount: amount(&chance, 1_000, 200_000) }),
            30..=33 => self.payment().map(|(payment, user, _)| Ask::Reverse { user, payment }),
            34..=36 => {
                let (payment, user, paid) = self.payment()?;
                Some(Ask::Dispute { user, payment, amount: amount(&chance, 1, paid) })
            }
            37..=39 => {
                let dispute = self.disputes.pop()?;
                Some(Ask::Resolve { dispute, won: chance.once_in(2) })
            }
            40..=51 => self.standing(from, now),
            52..=59 => self.borrowing(from),
            60..=66 => self.card(from, now),
            67..=70 => self.saving(from, now),
            71 => {
                let account = from.number;
                self.next.push_back(Ask::Unfreeze { account: account.clone() });
                Some(Ask::Freeze { account })
            }
            72..=77 => self.clubs.wish(&chance, &self.current, now),
            78 => self.leaving.wish(&chance, &self.current, &self.savings),
            79 | 80 => self.device(),
            _ => self.pay(from),
        }
    }

    fn device(&self) -> Option<Ask> {
        use DeviceAction::{Activate, Block, Deactivate, Revoke};
        let (chance, user) = (&self.chance, *self.chance.one_of(&self.users)?);
        let actions = [None, None, Some(Activate), Some(Deactivate), Some(Block), Some(Revoke)];
        let device = format!("{user}-{}", chance.between(1, 3));
        Some(Ask::Device { user, device, action: *chance.one_of(&actions)? })
    }

    fn pay(&self, from: Held) -> Option<Ask> {
        let to = self.payee(&from)?;
        // Now and then it is more than there is.
        let most = if self.chance.once_in(20) { 50_000_000 } else { 60_000 };
        Some(Ask::Pay { from, to, amount: amount(&self.chance, 50, most) })
    }

    /// Somebody with an account of the payer's currency; now and then just anybody, or nobody any more.
    fn payee(&self, from: &Held) -> Option<AccountNumber> {
        let any = self.chance.once_in(30);
        if any && self.chance.once_in(2) {
            return self.chance.one_of(&self.closed).cloned();
        }
        let fits = |held: &&Held| any || (held.currency == from.currency && held.number != from.number);
        let payees: Vec<&Held> = self.current.iter().filter(fits).collect();
        self.chance.one_of(&payees).map(|held| held.number.clone())
    }

    fn payment(&self) -> Option<(TransactionId, UserId, i64)> {
        self.payments.get(self.chance.place(self.payments.len())?).copied()
    }

    fn standing(&self, from: Held, now: Timestamp) -> Option<Ask> {
        let chance = &self.chance;
        let ahead = i64::try_from(chance.between(0, 10)).unwrap_or(0);
        let from_day = utc_date(now).saturating_add(ahead.days());
        let every =
            *chance.one_of(&[Frequency::Weekly, Frequency::Weekly, Frequency::Monthly, Frequency::Daily])?;
        match chance.between(1, 10) {
            1..=5 => {
                let to = self.payee(&from)?;
                let length =
                    i64::try_from(if every == Frequency::Daily { 12 } else { chance.between(20, 200) });
                let last = from_day.saturating_add(length.unwrap_or(20).days());
                let amount = amount(chance, 100, 20_000);
                Some(Ask::Mandate { from, to, amount, every, from_day, last: Some(last) })
            }
            6 | 7 => {
                let (mandate, user) = *chance.one_of(&self.mandates)?;
                Some(Ask::CancelMandate { user, mandate })
            }
            8 => {
                let (payment, user, _) = self.payment()?;
                let every = if every == Frequency::Daily { Frequency::Monthly } else { every };
                Some(Ask::Repeat { user, payment, every, from_day })
            }
            _ => {
                let (recurrence, user) = *chance.one_of(&self.recurrences)?;
                Some(Ask::PauseRepeat { user, recurrence, active: chance.once_in(2) })
            }
        }
    }

    fn borrowing(&self, account: Held) -> Option<Ask> {
        let chance = &self.chance;
        if chance.once_in(3) {
            let fits =
                |(_, terms): &&(String, LoanTerms)| terms.is_active && terms.currency == account.currency;
            let fitting: Vec<_> = self.loan_products.iter().filter(fits).collect();
            let (product, terms) = chance.one_of(&fitting)?;
            let most = terms.max_amount.min(terms.min_amount.saturating_mul(3));
            let months = chance.between(terms.min_tenure.into(), u64::from(terms.max_tenure.min(12)));
            let months = u32::try_from(months).unwrap_or(terms.min_tenure);
            let amount = amount(chance, terms.min_amount, most);
            return Some(Ask::Apply { account, product: product.clone(), amount, months });
        }
        let (loan, account) = chance.one_of(&self.loans)?.clone();
        Some(Ask::Repay { account, loan, amount: amount(chance, 1_000, 2_000_000) })
    }

    fn card(&self, account: Held, now: Timestamp) -> Option<Ask> {
        let chance = &self.chance;
        match chance.between(1, 6) {
            1 | 2 => Some(Ask::Card { account, expires: next_year(now) }),
            3..=5 => {
                let (card, user) = *chance.one_of(&self.cards)?;
                let hours = i64::try_from(chance.between(1, 200)).unwrap_or(1);
                Some(Ask::Block { user, card, until: now + SignedDuration::from_hours(hours) })
            }
            _ => {
                let (card, user) = *chance.one_of(&self.cards)?;
                Some(Ask::RemoveCard { user, card })
            }
        }
    }

    fn saving(&self, from: Held, now: Timestamp) -> Option<Ask> {
        let chance = &self.chance;
        if chance.once_in(2) {
            return self.open(from.owner, AccountType::Savings);
        }
        let offered = |(_, terms): &&(String, ProductTerms)| {
            terms.is_active
                && terms.account_type == AccountType::TargetSavings
                && terms.currency == from.currency
        };
        let (product, terms) = self.products.iter().find(offered)?;
        let least = terms.minimum_deposit.max(terms.minimum_balance).max(1_000);
        let days = i64::try_from(chance.between(35, 200)).unwrap_or(35);
        Some(Ask::Save {
            amount: amount(chance, least, least.saturating_mul(3)),
            every: *chance.one_of(&[SavingsFrequency::Weekly, SavingsFrequency::Monthly])?,
            until: now + SignedDuration::from_hours(24 * days),
            product: product.clone(),
            from,
        })
    }

    fn open(&self, user: UserId, kind: AccountType) -> Option<Ask> {
        let offered = |(_, terms): &&(String, ProductTerms)| terms.is_active && terms.account_type == kind;
        let offered: Vec<_> = self.products.iter().filter(offered).collect();
        let (product, terms) = self.chance.one_of(&offered)?;
        Some(Ask::Open { user, product: product.clone(), currency: terms.currency })
    }
}

fn amount(chance: &Chance, least: i64, most: i64) -> i64 {
    let of = |minor: i64| u64::try_from(minor).unwrap_or(1);
    i64::try_from(chance.between(of(least.max(1)), of(most.max(1)))).unwrap_or(1)
}
