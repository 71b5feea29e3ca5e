//! A bank in memory: makes the events that the journal would, with the real ledger.

use std::collections::HashMap;
use std::sync::Arc;

use bursar_domain::accounts::{AccountEvent, Opened};
use bursar_domain::kernel::{Sources, TransactionId, UserId};
use bursar_domain::ledger::{self, Book, Internal, LedgerAccount, Postings, Terms};
use bursar_domain::payments::{Completed, PaymentEvent, PaymentKind};
use bursar_domain::products::{AccountType, ProductEvent, ProductTerms};
use bursar_domain::{
    AccountNumber, Amount, Clock, Currency, Entropy, Event, Kind, Metadata, Personal, Position, Recorded,
    StreamId,
};
use jiff::{SignedDuration, Timestamp};
use rust_decimal::Decimal;

/// Everybody's overdraft and minimum balance, so that available differs from ledger balance.
pub(crate) const OVERDRAFT: i64 = 1_000;
pub(crate) const MINIMUM: i64 = 300;

#[derive(Default)]
pub(crate) struct Accounts(HashMap<AccountNumber, LedgerAccount>);

impl Book for Accounts {
    fn get(&self, number: &AccountNumber) -> Option<&LedgerAccount> {
        self.0.get(number)
    }

    fn put(&mut self, number: &AccountNumber, account: LedgerAccount) {
        self.0.insert(number.clone(), account);
    }
}

/// Makes events, one position after the other.
pub(crate) struct Bank {
    pub(crate) position: Position,
    pub(crate) now: Timestamp,
    accounts: Accounts,
    seed: u64,
}

pub(crate) struct Fixed(pub(crate) u64);

impl Clock for Fixed {
    fn now(&self) -> Timestamp {
        Timestamp::from_microsecond(1_790_000_000_000_000).unwrap()
    }
}

impl Entropy for Fixed {
    fn fill(&self, buffer: &mut [u8]) {
        buffer.iter_mut().zip(self.0.to_be_bytes().iter().cycle()).for_each(|(slot, byte)| *slot = *byte);
    }
}

fn sources(n: u64) -> Sources {
    Sources { clock: Arc::new(Fixed(n)), entropy: Arc::new(Fixed(n)) }
}

pub(crate) fn user(n: u64) -> UserId {
    UserId::mint(&sources(n))
}

pub(crate) fn number(n: usize) -> AccountNumber {
    AccountNumber::from(format!("{:010}", 1_000_000_000 + n).as_str())
}

pub(crate) fn cash() -> AccountNumber {
    Internal::Cash.account(Currency::NGN)
}

impl Default for Bank {
    fn default() -> Self {
        let now = "2026-01-31T23:00:00Z".parse().unwrap();
        Self { position: 0, now, accounts: Accounts::default(), seed: 1 }
    }
}

impl Bank {
    /// Lets time pass.
    pub(crate) fn pass(&mut self, hours: i64) {
        self.now += SignedDuration::from_hours(hours);
    }

    pub(crate) fn ledger(&self) -> impl Iterator<Item = (&AccountNumber, &LedgerAccount)> {
        self.accounts.0.iter()
    }

    pub(crate) fn balance(&self, account: &AccountNumber) -> i64 {
        self.accounts.get(account).map_or(0, |account| account.balance)
    }

    pub(crate) fn open(&mut self, owner: u64, account: &AccountNumber) -> Recorded {
        let terms = Terms {
            owner: user(owner),
            currency: Currency::NGN,
            overdraft_limit: OVERDRAFT,
            minimum_balance: MINIMUM,
            maximum_balance: None,
            daily_limit: None,
            monthly_limit: Some(1_000_000_000_000),
        };
        let opened = Opened {
            name: Personal::new("Ada Obi".to_owned()),
            account_type: AccountType::Current,
            product_id: "CUR-001".into(),
            product_name: "Everyday".into(),
            interest_rate: Decimal::new(425, 2),
            features: vec!["ONLINE_BANKING".into(), "DEBIT_CARD".into()],
            initial_deposit: 0,
            plan: None,
            terms,
            origin: None,
        };
        self.record(Kind::Account, account.as_str(), AccountEvent::Opened(Box::new(opened)))
    }

    pub(crate) fn freeze(&mut self, account: &AccountNumber) -> Recorded {
        self.record(Kind::Account, account.as_str(), AccountEvent::Frozen { reason: "test".into() })
    }

    pub(crate) fn deposit(&mut self, account: &AccountNumber, amount: i64) -> Recorded {
        self.pay(PaymentKind::Deposit, &cash(), account, amount)
    }

    pub(crate) fn transfer(&mut self, from: &AccountNumber, to: &AccountNumber, amount: i64) -> Recorded {
        self.pay(PaymentKind::Internal, from, to, amount)
    }

    fn pay(&mut self, kind: PaymentKind, from: &AccountNumber, to: &AccountNumber, amount: i64) -> Recorded {
        let (amount, currency) = (Amount::try_from(amount).unwrap(), Currency::NGN);
        let completed = Completed {
            kind,
            payer: None,
            source: from.clone(),
            destination: to.clone(),
            destination_name: None,
            outside: None,
            fee: None,
            undoes: None,
            loan: None,
            earned: None,
            tie: None,
            origin: None,
            amount,
            currency,
            narration: Some(format!("rent {}", self.position)),
            reference: format!("ref-{}", self.position),
            save_as_beneficiary: false,
            postings: Postings::transfer(from, to, amount, currency),
        };
        let id = TransactionId::mint(&sources(self.position.unsigned_abs()));
        self.record(Kind::Payment, &id.to_string(), PaymentEvent::Completed(Box::new(completed)))
    }

    pub(crate) fn define(&mut self, code: &str, minimum_deposit: i64) -> Recorded {
        let terms = ProductTerms {
            name: "Everyday".into(),
            account_type: AccountType::Current,
            description: "For every day".into(),
            currency: Currency::NGN,
            interest_rate: Decimal::new(425, 2),
            minimum_balance: MINIMUM,
            minimum_deposit,
            maximum_balance: None,
            overdraft_limit: OVERDRAFT,
            daily_limit: None,
            monthly_limit: None,
            features: vec!["ONLINE_BANKING".into()],
            eligibility_criteria: vec![],
            is_active: true,
        };
        self.record(Kind::Product, code, ProductEvent::Defined(Box::new(terms)))
    }

    /// What happened to one thing.
    pub(crate) fn record(&mut self, kind: Kind, id: &str, event: impl Into<Event>) -> Recorded {
        self.position += 1;
        self.now += SignedDuration::from_millis(10);
        let mut event = event.into();
        if let Some(effect) = event.effect(id) {
            ledger::apply(&mut self.accounts, effect, self.now).unwrap();
        }
        Recorded {
            position: self.position,
            stream: StreamId::new(kind, id),
            // One number for all streams is unique in each.
            sequence: self.position,
            recorded_at: self.now,
            metadata: Metadata::default(),
            event,
        }
    }

    /// `accounts` customers with money, then `payments` between random ones, spread over three days or so.
    pub(crate) fn history(&mut self, accounts: usize, payments: usize) -> Vec<Recorded> {
        let mut events = vec![self.define("CUR-001", 0)];
        for n in 0..accounts {
            events.push(self.open(n as u64 / 2, &number(n)));
            events.push(self.deposit(&number(n), 1_000_000_000));
        }
        events.extend(self.payments(accounts, payments));
        events
    }

    /// `payments` between random ones of the first `accounts` customers.
    pub(crate) fn payments(&mut self, accounts: usize, payments: usize) -> Vec<Recorded> {
        let pause = SignedDuration::from_hours(70) / i32::try_from(payments).unwrap();
        (0..payments)
            .map(|_| {
                self.now += pause;
                let from = self.random(accounts);
                let to = (from + 1 + self.random(accounts - 1)) % accounts;
                let amount = i64::try_from(self.random(1_000)).unwrap() + 1;
                self.transfer(&number(from), &number(to), amount)
            })
            .collect()
    }

    /// Marsaglia's xorshift: the same history at each run.
    fn random(&mut self, below: usize) -> usize {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        usize::try_from(self.seed % below as u64).unwrap()
    }
}
