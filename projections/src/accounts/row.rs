//! An account as a row, and the part of it that changes with every movement.

use bursar_domain::accounts::{
    Notifications, Opened, SavingsPlan, Settings, StatementDelivery, StatementFrequency,
};
use bursar_domain::kernel::{UserId, utc_date};
use bursar_domain::ledger::{AccountStatus, Posting};
use bursar_domain::payments::Movement;
use bursar_domain::products::AccountType;
use bursar_domain::{AccountNumber, Currency, Position, Recorded};
use jiff::Timestamp;
use jiff::civil::Date;
use rust_decimal::Decimal;
use serde::Serialize;

use crate::read_model::FoldError;

/// A customer account; sums in minor units of `currency`. The field names are the table's columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Account {
    /// Ten digits.
    pub account_number: AccountNumber,
    /// Who holds it.
    pub owner: UserId,
    /// The name on it.
    pub account_name: String,
    /// Its kind.
    pub account_type: AccountType,
    /// The product it was opened on.
    pub product_id: String,
    /// The product's name then.
    pub product_name: String,
    /// Its one currency.
    pub currency: Currency,
    /// Whether money may move.
    pub status: AccountStatus,
    /// Sum of all postings.
    pub ledger_balance: i64,
    /// What a debit may take.
    pub available_balance: i64,
    /// Percent a year.
    pub interest_rate: Decimal,
    /// What must stay in it.
    pub minimum_balance: i64,
    /// How far below zero it may go.
    pub overdraft_limit: i64,
    /// What it may hold at most.
    pub maximum_balance: Option<i64>,
    /// Outgoing debits a UTC day.
    pub daily_limit: Option<i64>,
    /// Outgoing debits a UTC month.
    pub monthly_limit: Option<i64>,
    /// What comes with it.
    pub features: Vec<String>,
    /// Whether it is the first account of its owner.
    pub is_default: bool,
    /// The goal of a target savings account.
    pub savings_goal: Option<i64>,
    /// How often its owner plans to save.
    pub savings_frequency: Option<String>,
    /// Each planned contribution.
    pub savings_amount: Option<i64>,
    /// When the savings plan ends.
    pub maturity_at: Option<Timestamp>,
    /// Whether the holder hears of it by mail.
    pub notify_email: bool,
    /// Whether by short message.
    pub notify_sms: bool,
    /// Whether by notification in the app.
    pub notify_push: bool,
    /// By which way statements are sent.
    pub statement_delivery: StatementDelivery,
    /// How often.
    pub statement_frequency: StatementFrequency,
    /// Whether it may be closed before its plan ends.
    pub early_closure_allowed: bool,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// When it was last posted to.
    pub last_transaction_at: Option<Timestamp>,
    /// The day on which it was taken over from another bank.
    pub taken_over_on: Option<Date>,
    /// What that bank called it.
    pub source_id: Option<String>,
    /// Position of the last event that changed the row.
    pub last_position: Position,
    /// Events of the contract so far (not of the money in it); queries read it from the log.
    #[serde(skip)]
    pub version: i64,
}

impl Account {
    pub(super) fn opened(event: &Recorded, opened: &Opened, is_default: bool) -> Self {
        let terms = &opened.terms;
        let settings = Settings { plan: opened.plan.clone(), ..Settings::default() };
        let mut account = Self {
            account_number: event.stream.id.as_str().into(),
            owner: terms.owner,
            account_name: opened.name.or_erased().to_owned(),
            account_type: opened.account_type,
            product_id: opened.product_id.clone(),
            product_name: opened.product_name.clone(),
            currency: terms.currency,
            status: AccountStatus::Active,
            ledger_balance: 0,
            available_balance: terms.overdraft_limit.saturating_sub(terms.minimum_balance),
            interest_rate: opened.interest_rate,
            minimum_balance: terms.minimum_balance,
            overdraft_limit: terms.overdraft_limit,
            maximum_balance: terms.maximum_balance,
            daily_limit: terms.daily_limit,
            monthly_limit: terms.monthly_limit,
            features: opened.features.clone(),
            is_default,
            savings_goal: None,
            savings_frequency: None,
            savings_amount: None,
            maturity_at: None,
            notify_email: false,
            notify_sms: false,
            notify_push: false,
            statement_delivery: settings.statement_delivery,
            statement_frequency: settings.statement_frequency,
            early_closure_allowed: settings.early_closure_allowed,
            opened_at: opened.origin.as_ref().map_or(event.recorded_at, |origin| origin.at),
            taken_over_on: opened.origin.as_ref().map(|_| utc_date(event.recorded_at)),
            source_id: opened.origin.as_ref().map(|origin| origin.id.to_string()),
            last_transaction_at: None,
            last_position: event.position,
            version: event.sequence,
        };
        account.set_up(settings);
        account
    }

    pub(super) fn set_up(&mut self, settings: Settings) {
        let SavingsPlan { goal, frequency, amount, maturity_date } = settings.plan.unwrap_or_default();
        self.savings_goal = goal;
        self.savings_frequency = frequency.map(|frequency| frequency.as_str().to_owned());
        self.savings_amount = amount;
        self.maturity_at = maturity_date;
        let Notifications { email, sms, push } = settings.notifications;
        (self.notify_email, self.notify_sms, self.notify_push) = (email, sms, push);
        self.statement_delivery = settings.statement_delivery;
        self.statement_frequency = settings.statement_frequency;
        self.early_closure_allowed = settings.early_closure_allowed;
    }

    pub(super) const fn standing(&self) -> Standing {
        Standing {
            status: self.status,
            ledger_balance: self.ledger_balance,
            available_balance: self.available_balance,
            last_transaction_at: self.last_transaction_at,
            last_position: self.last_position,
        }
    }

    pub(super) const fn stand(&mut self, now: Standing) {
        self.status = now.status;
        self.ledger_balance = now.ledger_balance;
        self.available_balance = now.available_balance;
        self.last_transaction_at = now.last_transaction_at;
        self.last_position = now.last_position;
    }
}

/// The columns that change after the opening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) status: AccountStatus,
    pub(super) ledger_balance: i64,
    pub(super) available_balance: i64,
    pub(super) last_transaction_at: Option<Timestamp>,
    pub(super) last_position: Position,
}

impl Standing {
    pub(super) fn hold(
        &mut self,
        account: &AccountNumber,
        change: i64,
        event: &Recorded,
    ) -> Result<(), FoldError> {
        let available = self.available_balance.checked_sub(change);
        self.available_balance = available.ok_or_else(|| FoldError::Overflow(account.clone()))?;
        self.last_position = event.position;
        Ok(())
    }

    /// What a movement does to this account.
    pub(super) fn moved(
        &mut self,
        number: &AccountNumber,
        moved: Movement<'_>,
        event: &Recorded,
    ) -> Result<(), FoldError> {
        for posting in moved.postings.iter().filter(|posting| posting.account == *number) {
            self.post(posting, moved.at(number, event.recorded_at), event)?;
        }
        match moved.hold {
            Some((account, change)) if account == number => self.hold(account, change, event),
            _ => Ok(()),
        }
    }

    pub(super) fn post(
        &mut self,
        posting: &Posting,
        at: Timestamp,
        event: &Recorded,
    ) -> Result<(), FoldError> {
        let expected = i128::from(self.ledger_balance) + i128::from(posting.amount);
        if expected != i128::from(posting.balance) {
            let account = posting.account.clone();
            return Err(FoldError::BrokenBalance { account, expected, found: posting.balance });
        }
        // What is available moves with the balance: terms are not touched by a posting.
        let available = self.available_balance.checked_add(posting.amount);
        self.available_balance = available.ok_or_else(|| FoldError::Overflow(posting.account.clone()))?;
        self.ledger_balance = posting.balance;
        self.last_transaction_at = Some(at);
        self.last_position = event.position;
        Ok(())
    }
}
