//! Questions about accounts.

use bursar_domain::AccountNumber;
use bursar_domain::kernel::UserId;
use bursar_domain::ledger::AccountStatus;
use bursar_domain::products::AccountType;
use sqlx::postgres::PgRow;
use sqlx::{PgPool, Postgres, QueryBuilder, Row};

use super::Account;
use crate::page::{Page, Paged, Sort, SortField, contains};
use crate::row::{decoded, parsed};

/// Which accounts a list shows; everything that is `None` does not matter.
#[derive(Debug, Clone, Default)]
pub struct AccountFilter {
    /// In this state.
    pub status: Option<AccountStatus>,
    /// Of this kind.
    pub account_type: Option<AccountType>,
    /// In this currency, ISO 4217.
    pub currency: Option<String>,
    /// With this in its name, number or product's name; case does not matter.
    pub q: Option<String>,
}

/// What a list of accounts can be sorted by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AccountSort {
    /// When it was opened.
    #[default]
    OpenedAt,
    /// The name on it.
    Name,
    /// The ledger balance.
    Balance,
}

impl SortField for AccountSort {
    const NAMES: &'static [(&'static str, Self)] =
        &[("openedAt", Self::OpenedAt), ("accountName", Self::Name), ("ledgerBalance", Self::Balance)];
}

/// Balances, status and the latest posting are the ledger's own, as of the last commit.
const SELECT: &str =
    "SELECT a.account_number, a.owner, a.account_name, a.account_type, a.product_id, a.product_name,
    a.currency, l.status, l.balance AS ledger_balance,
    l.balance - l.holds + l.overdraft_limit - l.minimum_balance AS available_balance,
    a.interest_rate::text AS interest_rate, l.minimum_balance, l.overdraft_limit, l.maximum_balance,
    l.daily_limit, l.monthly_limit, a.features, a.is_default, a.savings_goal, a.savings_frequency,
    a.savings_amount, a.maturity_at, a.notify_email, a.notify_sms, a.notify_push, a.statement_delivery,
    a.statement_frequency, a.early_closure_allowed, a.opened_at, l.last_posted_at AS last_transaction_at, a.taken_over_on,
    a.source_id, a.last_position,
    (SELECT max(e.sequence) FROM events e
      WHERE e.aggregate_type = 'account' AND e.aggregate_id = a.account_number) AS version ";
const FROM: &str = "FROM accounts a JOIN ledger_accounts l ON l.account = a.account_number WHERE ";

/// The account with this number, whoever holds it.
///
/// # Errors
/// When the database cannot be read.
pub async fn find(pool: &PgPool, number: &AccountNumber) -> sqlx::Result<Option<Account>> {
    let sql = format!("{SELECT}{FROM}a.account_number = $1");
    let row = sqlx::query(&sql).bind(number.as_str()).fetch_optional(pool).await?;
    row.as_ref().map(account).transpose()
}

/// The account with this number, if `owner` holds it.
///
/// # Errors
/// When the database cannot be read.
pub async fn owned(pool: &PgPool, owner: UserId, number: &AccountNumber) -> sqlx::Result<Option<Account>> {
    let sql = format!("{SELECT}{FROM}a.account_number = $1 AND a.owner = $2");
    let row = sqlx::query(&sql).bind(number.as_str()).bind(owner.to_string()).fetch_optional(pool).await?;
    row.as_ref().map(account).transpose()
}

/// One page of the accounts `owner` holds.
///
/// # Errors
/// When the database cannot be read.
pub async fn of_owner(
    pool: &PgPool,
    owner: UserId,
    filter: &AccountFilter,
    sort: Sort<AccountSort>,
    page: Page,
) -> sqlx::Result<Paged<Account>> {
    let mut count = QueryBuilder::new("SELECT count(*) ");
    matching(&mut count, owner, filter);
    let total = count.build_query_scalar().fetch_one(pool).await?;

    let mut list = QueryBuilder::new(SELECT);
    matching(&mut list, owner, filter);
    let column = match sort.field {
        AccountSort::OpenedAt => "a.opened_at",
        AccountSort::Name => "a.account_name",
        AccountSort::Balance => "l.balance",
    };
    let direction = sort.direction();
    list.push(format!(" ORDER BY {column} {direction}, a.account_number {direction} LIMIT "));
    list.push_bind(page.limit()).push(" OFFSET ").push_bind(page.offset());
    let rows = list.build().fetch_all(pool).await?;
    Ok(Paged { items: rows.iter().map(account).collect::<sqlx::Result<_>>()?, total })
}

fn matching(query: &mut QueryBuilder<'_, Postgres>, owner: UserId, filter: &AccountFilter) {
    query.push(FROM).push("a.owner = ").push_bind(owner.to_string());
    if let Some(status) = filter.status {
        query.push(" AND l.status = ").push_bind(status.as_str());
    }
    if let Some(kind) = filter.account_type {
        query.push(" AND a.account_type = ").push_bind(kind.as_str());
    }
    if let Some(currency) = &filter.currency {
        query.push(" AND a.currency = ").push_bind(currency.clone());
    }
    if let Some(q) = &filter.q {
        query.push(" AND concat_ws(' ', a.account_name, a.account_number, a.product_name) ILIKE ");
        query.push_bind(contains(q));
    }
}

fn account(row: &PgRow) -> sqlx::Result<Account> {
    let time =
        |column| row.try_get::<Option<jiff_sqlx::Timestamp>, _>(column).map(|at| at.map(|at| at.to_jiff()));
    Ok(Account {
        account_number: row.try_get::<&str, _>("account_number")?.into(),
        owner: parsed(row.try_get("owner")?)?,
        account_name: row.try_get("account_name")?,
        account_type: decoded(row.try_get("account_type")?)?,
        product_id: row.try_get("product_id")?,
        product_name: row.try_get("product_name")?,
        currency: parsed(row.try_get("currency")?)?,
        status: decoded(row.try_get("status")?)?,
        ledger_balance: row.try_get("ledger_balance")?,
        available_balance: row.try_get("available_balance")?,
        interest_rate: parsed(row.try_get("interest_rate")?)?,
        minimum_balance: row.try_get("minimum_balance")?,
        overdraft_limit: row.try_get("overdraft_limit")?,
        maximum_balance: row.try_get("maximum_balance")?,
        daily_limit: row.try_get("daily_limit")?,
        monthly_limit: row.try_get("monthly_limit")?,
        features: row.try_get("features")?,
        is_default: row.try_get("is_default")?,
        savings_goal: row.try_get("savings_goal")?,
        savings_frequency: row.try_get("savings_frequency")?,
        savings_amount: row.try_get("savings_amount")?,
        maturity_at: time("maturity_at")?,
        notify_email: row.try_get("notify_email")?,
        notify_sms: row.try_get("notify_sms")?,
        notify_push: row.try_get("notify_push")?,
        statement_delivery: decoded(row.try_get("statement_delivery")?)?,
        statement_frequency: decoded(row.try_get("statement_frequency")?)?,
        early_closure_allowed: row.try_get("early_closure_allowed")?,
        opened_at: row.try_get::<jiff_sqlx::Timestamp, _>("opened_at")?.to_jiff(),
        last_transaction_at: time("last_transaction_at")?,
        taken_over_on: row
            .try_get::<Option<jiff_sqlx::Date>, _>("taken_over_on")?
            .map(jiff_sqlx::Date::to_jiff),
        source_id: row.try_get("source_id")?,
        last_position: row.try_get("last_position")?,
        version: row.try_get("version")?,
    })
}
