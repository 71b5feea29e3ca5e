//! A batch as the columns of rows that one statement appends.

use bursar_domain::ledger::{AccountStatus, LedgerAccount};
use bursar_domain::{AccountNumber, Recorded};
use jiff_sqlx::ToSqlx;

use super::StoreError;
use super::plan::{Memory, Plan};
use super::sealing::KeyChange;

/// The events of a batch, a column each.
#[derive(Default)]
pub(super) struct EventColumns<'a> {
    pub(super) positions: Vec<i64>,
    pub(super) sequences: Vec<i64>,
    pub(super) kinds: Vec<&'a str>,
    pub(super) ids: Vec<&'a str>,
    pub(super) names: Vec<&'a str>,
    pub(super) versions: Vec<&'a str>,
    pub(super) metadata: Vec<String>,
}

impl<'a> EventColumns<'a> {
    pub(super) fn of(plan: &'a Plan) -> Result<Self, StoreError> {
        let mut columns = Self::default();
        for recorded in &plan.events {
            columns.positions.push(recorded.position);
            columns.sequences.push(recorded.sequence);
            columns.kinds.push(recorded.stream.kind.as_str());
            columns.ids.push(&recorded.stream.id);
            columns.names.push(recorded.event.name());
            columns.versions.push(recorded.event.version());
            columns.metadata.push(metadata(recorded)?);
        }
        Ok(columns)
    }
}

/// Values that a batch claims or releases, a column each.
#[derive(Default)]
pub(super) struct ClaimColumns<'a> {
    pub(super) namespaces: Vec<&'a str>,
    pub(super) hashes: Vec<&'a [u8]>,
    /// Of claimed ones.
    pub(super) holders: Vec<&'a str>,
}

impl<'a> ClaimColumns<'a> {
    /// What it claims, and what it releases.
    pub(super) fn of(plan: &'a Plan) -> (Self, Self) {
        let (mut claimed, mut released) = (Self::default(), Self::default());
        for ((namespace, hash), holder) in &plan.claims {
            let columns = if holder.is_some() { &mut claimed } else { &mut released };
            columns.namespaces.push(namespace);
            columns.hashes.push(hash);
            columns.holders.extend(holder.as_deref());
        }
        (claimed, released)
    }
}

/// Data keys that a batch makes or destroys, a column each.
#[derive(Default)]
pub(super) struct KeyColumns<'a> {
    pub(super) minted: Vec<String>,
    pub(super) wrapped: Vec<&'a [u8]>,
    pub(super) erased: Vec<String>,
}

impl<'a> KeyColumns<'a> {
    pub(super) fn of(plan: &'a Plan) -> Self {
        let mut columns = Self::default();
        for (subject, change) in &plan.data_keys {
            match change {
                KeyChange::Minted(minted) => {
                    columns.minted.push(subject.to_string());
                    columns.wrapped.push(&minted.wrapped);
                }
                KeyChange::Erased => columns.erased.push(subject.to_string()),
            }
        }
        columns
    }
}

/// Work that a batch orders or takes back, a column each.
#[derive(Default)]
pub(super) struct DueColumns<'a> {
    pub(super) tasks: Vec<&'a str>,
    pub(super) subjects: Vec<&'a str>,
    pub(super) due: Vec<jiff_sqlx::Timestamp>,
}

impl<'a> DueColumns<'a> {
    /// What it orders, and what it takes back.
    pub(super) fn of(plan: &'a Plan) -> (Self, Self) {
        let (mut ordered, mut dropped) = (Self::default(), Self::default());
        for ((task, subject), at) in &plan.dues {
            let columns = if at.is_some() { &mut ordered } else { &mut dropped };
            columns.tasks.push(task);
            columns.subjects.push(subject);
            columns.due.extend(at.map(ToSqlx::to_sqlx));
        }
        (ordered, dropped)
    }
}

/// The stored form of who asked and why.
pub(super) fn metadata(recorded: &Recorded) -> Result<String, StoreError> {
    serde_json::to_string(&recorded.metadata).map_err(|e| sqlx::Error::Encode(Box::new(e)).into())
}

/// Ledger accounts a batch changed, a column each.
#[derive(Default)]
pub(super) struct AccountColumns<'a> {
    pub(super) accounts: Vec<&'a str>,
    pub(super) owners: Vec<Option<String>>,
    pub(super) currencies: Vec<&'a str>,
    pub(super) statuses: Vec<&'a str>,
    pub(super) balances: Vec<i64>,
    pub(super) holds: Vec<i64>,
    pub(super) overdraft_limits: Vec<i64>,
    pub(super) minimum_balances: Vec<i64>,
    pub(super) maximum_balances: Vec<Option<i64>>,
    pub(super) daily_limits: Vec<Option<i64>>,
    pub(super) monthly_limits: Vec<Option<i64>>,
    pub(super) spent_on: Vec<Option<jiff_sqlx::Date>>,
    pub(super) spent_today: Vec<i64>,
    pub(super) spent_this_month: Vec<i64>,
    pub(super) last_posted_at: Vec<Option<jiff_sqlx::Timestamp>>,
    pub(super) payments: Vec<i32>,
    pub(super) loans: Vec<i32>,
    pub(super) disputes: Vec<i32>,
    pub(super) last_active_at: Vec<Option<jiff_sqlx::Timestamp>>,
}

impl<'a> AccountColumns<'a> {
    /// Those the batch opened, and those it only moved.
    pub(super) fn of(memory: &'a Memory) -> (Self, Self) {
        let (mut opened, mut moved) = (Self::default(), Self::default());
        for (number, account) in memory.accounts.written() {
            let Some(account) = account else { continue };
            if memory.accounts.committed(number).is_some_and(Option::is_some) {
                moved.push(number, account);
            } else {
                opened.push(number, account);
                opened.push_terms(account);
            }
        }
        (opened, moved)
    }

    fn push(&mut self, number: &'a AccountNumber, account: &'a LedgerAccount) {
        self.accounts.push(number.as_str());
        self.statuses.push(AccountStatus::as_str(account.status));
        self.balances.push(account.balance);
        self.holds.push(account.holds);
        self.spent_on.push(account.spent_on.map(ToSqlx::to_sqlx));
        self.spent_today.push(account.spent_today);
        self.spent_this_month.push(account.spent_this_month);
        self.last_posted_at.push(account.last_posted_at.map(ToSqlx::to_sqlx));
        self.payments.push(account.ties.payments);
        self.loans.push(account.ties.loans);
        self.disputes.push(account.ties.disputes);
        self.last_active_at.push(account.last_active_at.map(ToSqlx::to_sqlx));
    }

    fn push_terms(&mut self, account: &'a LedgerAccount) {
        self.owners.push(account.owner.map(|owner| owner.to_string()));
        self.currencies.push(account.currency.as_str());
        self.overdraft_limits.push(account.overdraft_limit);
        self.minimum_balances.push(account.minimum_balance);
        self.maximum_balances.push(account.maximum_balance);
        self.daily_limits.push(account.daily_limit);
        self.monthly_limits.push(account.monthly_limit);
    }
}
