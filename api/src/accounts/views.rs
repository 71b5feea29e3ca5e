//! How an account looks from outside. Sums in minor units, rates in percent a year.

use bursar_domain::kernel::utc_date;
use bursar_projections::accounts::Account;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use rust_decimal::Decimal;
use serde::Serialize;
use utoipa::ToSchema;

use super::configure::NotificationSettings;
use crate::paging::Pagination;

/// The caller's accounts.
#[derive(Debug, Serialize, ToSchema)]
pub struct AccountList {
    pub(super) accounts: Vec<AccountItem>,
    pub(super) pagination: Pagination,
}

/// An account in the list.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccountItem {
    #[serde(flatten)]
    balance: AccountBalance,
    /// Whether it is the caller's first account.
    is_default: bool,
}

/// The balances of an account.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccountBalance {
    account_number: String,
    account_name: String,
    /// `CURRENT`, `SAVINGS` or `TARGET_SAVINGS`.
    account_type: &'static str,
    /// What a debit may take.
    available_balance: i64,
    /// Sum of everything posted.
    ledger_balance: i64,
    currency: String,
    last_transaction_date: Option<Timestamp>,
    /// `ACTIVE`, `FROZEN`, `DORMANT` or `CLOSED`.
    account_status: &'static str,
    #[serde(serialize_with = "crate::rate::number")]
    #[schema(value_type = f64)]
    interest_rate: Decimal,
    /// When interest is posted next, if the account earns any.
    next_interest_date: Option<Timestamp>,
    minimum_balance: i64,
    overdraft_limit: i64,
}

/// Everything about an account.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccountDetails {
    #[serde(flatten)]
    balance: AccountBalance,
    product_id: String,
    product_name: String,
    opened_at: Timestamp,
    daily_limit: Option<i64>,
    monthly_limit: Option<i64>,
    savings_goal: Option<i64>,
    savings_amount: Option<i64>,
    savings_frequency: Option<String>,
    maturity_date: Option<Timestamp>,
    /// By which ways the caller hears of it.
    notifications: NotificationSettings,
    /// By which way statements are sent.
    statement_delivery: &'static str,
    /// How often.
    statement_frequency: &'static str,
    /// Whether it may be closed before its plan ends.
    early_closure_allowed: bool,
    account_features: Vec<String>,
    /// The caller's other accounts.
    linked_accounts: Vec<String>,
}

impl AccountItem {
    pub(super) fn of(account: Account, now: Timestamp) -> Self {
        Self { is_default: account.is_default, balance: AccountBalance::of(account, now) }
    }
}

impl AccountBalance {
    pub(super) fn of(account: Account, now: Timestamp) -> Self {
        Self {
            next_interest_date: next_interest(&account, now),
            account_number: account.account_number.to_string(),
            account_name: account.account_name,
            account_type: account.account_type.as_str(),
            available_balance: account.available_balance,
            ledger_balance: account.ledger_balance,
            currency: account.currency.to_string(),
            last_transaction_date: account.last_transaction_at,
            account_status: account.status.as_str(),
            interest_rate: account.interest_rate,
            minimum_balance: account.minimum_balance,
            overdraft_limit: account.overdraft_limit,
        }
    }
}

impl AccountDetails {
    pub(super) fn of(mut account: Account, linked_accounts: Vec<String>, now: Timestamp) -> Self {
        Self {
            product_id: std::mem::take(&mut account.product_id),
            product_name: std::mem::take(&mut account.product_name),
            opened_at: account.opened_at,
            daily_limit: account.daily_limit,
            monthly_limit: account.monthly_limit,
            savings_goal: account.savings_goal,
            savings_amount: account.savings_amount,
            savings_frequency: account.savings_frequency.take(),
            maturity_date: account.maturity_at,
            notifications: NotificationSettings {
                email: account.notify_email,
                sms: account.notify_sms,
                push: account.notify_push,
            },
            statement_delivery: account.statement_delivery.as_str(),
            statement_frequency: account.statement_frequency.as_str(),
            early_closure_allowed: account.early_closure_allowed,
            account_features: std::mem::take(&mut account.features),
            linked_accounts,
            balance: AccountBalance::of(account, now),
        }
    }
}

/// Interest is posted at 00:00 UTC on the first of each month.
fn next_interest(account: &Account, now: Timestamp) -> Option<Timestamp> {
    let earns = account.account_type.earns() && account.interest_rate > Decimal::ZERO;
    let next_month = utc_date(now).first_of_month().checked_add(1.month()).ok().filter(|_| earns)?;
    next_month.to_zoned(TimeZone::UTC).ok().map(|at| at.timestamp())
}
