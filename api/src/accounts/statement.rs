//! What happened on an account: the statement, and the balance of each day.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use bursar_domain::AccountNumber;
use bursar_domain::kernel::UserId;
use bursar_projections::accounts::{Account, owned};
use bursar_projections::daily_balances::{DayRange, history};
use bursar_projections::statement_entries::{
    AsOf, EntryFilter, EntrySort, EntryType, Statement, StatementEntry, StatementRange, statement,
};
use bursar_projections::{Page, Sort};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::download::{Form, download};
use super::{MODEL, account};
use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, ReadAccount};
use crate::openapi::{ChoiceProblems, ReadHeaders, ReadProblems};
use crate::paging::Pagination;
use crate::past::within_log;
use crate::problem::{FieldError, Problem};
use crate::query;
use crate::request::{
    Accept, Conditions, DateRange, InPath, Minor, OneOf, Queried, Representation, Search, midnight,
};

/// The read model of statements.
pub(crate) const ENTRIES: &str = "statement_entries";
/// The read model of histories.
pub(super) const DAYS: &str = "daily_balances";

/// What happened on an account in a stretch of time. Sums in minor units.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccountStatement {
    account_number: String,
    account_name: String,
    currency: String,
    /// Before the first entry of the range.
    opening_balance: i64,
    /// After the last entry of the range: opening balance plus all its entries.
    closing_balance: i64,
    transactions: Vec<Entry>,
    pagination: Pagination,
}

/// One line of a statement.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    transaction_id: String,
    transaction_date: Timestamp,
    description: String,
    /// `CREDIT` or `DEBIT`.
    r#type: &'static str,
    /// Positive for a credit, negative for a debit.
    amount: i64,
    /// The account's balance after it.
    balance: i64,
    reference: String,
    narration: Option<String>,
}

/// The balances of an account day by day, newest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BalanceHistory {
    account_number: String,
    account_name: String,
    currency: String,
    balance_history: Vec<BalanceDay>,
    pagination: Pagination,
}

/// The balances at the end of a UTC day, minor units.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BalanceDay {
    /// The day's first moment.
    date: Timestamp,
    available_balance: i64,
    ledger_balance: i64,
    /// Interest earned on this day.
    interest_earned: i64,
}

query! {
    /// Which entries are listed, and how.
    StatementQuery {
        /// Which time.
        range: DateRange = "from",
        /// As it looked then.
        as_of: Option<AsOf> = "asOf",
        /// Only this way.
        kind: Option<OneOf<EntryType>> = "type",
        /// Least amount either way, minor units.
        min_amount: Option<Minor> = "minAmount",
        /// Largest amount either way, minor units.
        max_amount: Option<Minor> = "maxAmount",
        /// Text in description, narration, reference or counterparty.
        q: Search = "q",
        /// The order; newest first when absent.
        sort: Sort<EntrySort> = "sort",
        /// Which part.
        page: Page = "page",
    }
}

/// How a statement can be had.
#[derive(Debug, Clone, Copy)]
pub(super) enum Format {
    /// A page of it.
    Page,
    /// All of it.
    Whole(Form),
}

impl Representation for Format {
    const ALL: &'static [(&'static str, Self)] = &[
        ("application/json", Self::Page),
        ("application/xml", Self::Whole(Form::Camt053)),
        ("text/csv", Self::Whole(Form::Csv)),
    ];
}

/// Reads the statement of an account, now or as it looked then. Without a range: the last 30 days.
///
/// `Accept` chooses between three representations.
///
/// - `application/json`, the default: a page of it, filtered and sorted as asked.
/// - `application/xml`: all of it, oldest entry first, as ISO 20022 `camt.053.001.08`. Amounts are decimals of major
///   units. `AcctSvcrRef` is the transaction's id without `txn_`, `EndToEndId` the reference (its first 35 characters; a
///   longer one is in `AddtlTxInf`), `RmtInf` the narration. Opening balance plus entries is the closing balance, so
///   that the filters `type`, `minAmount`, `maxAmount` and `q` are a 400. `MsgId` is the same for the same content.
/// - `text/csv`: every entry that the filters let through, oldest first, under the columns `transaction_id`,
///   `booked_at`, `type`, `amount_minor`, `balance_minor`, `currency`, `description`, `reference`, `narration`,
///   `counterparty_account`. Sums are signed whole minor units of `currency`. A reference or narration that a
///   spreadsheet would take for a formula has an apostrophe in front.
///
/// `page`, `size` and `sort` are about JSON only. A document that breaks off in the middle is not complete: ask again.
#[utoipa::path(
    get, path = "/v1/accounts/{accountNo}/statement", tag = "Accounts",
    params(InPath<AccountNumber>, StatementQuery, ReadHeaders),
    responses(
        (status = 200, description = "The statement.", content(
            (AccountStatement = "application/json"), (String = "application/xml"), (String = "text/csv"),
        )),
        ReadProblems, ChoiceProblems,
    )
)]
pub(super) async fn read_statement(
    State(app): State<App>,
    caller: Allowed<ReadAccount>,
    wants: Conditions,
    Accept(format): Accept<Format>,
    number: InPath<AccountNumber>,
    Queried(query): Queried<StatementQuery>,
) -> Result<Response, Problem> {
    let account = account(&app, &caller, &wants, number, &[MODEL, ENTRIES]).await?;
    within_log(&app, query.as_of)?;
    let range = StatementRange { from: query.range.from, to: query.range.to, as_of: query.as_of };
    if let Format::Whole(Form::Camt053) = format {
        query.unfiltered()?;
    }
    let (sort, page, filter) = (query.sort, query.page, query.filter());
    Ok(match format {
        Format::Whole(form) => download(&app, account, range, filter, form, wants).await?.into_response(),
        Format::Page => {
            let found = statement(&app.pool, &account.account_number, range, &filter, sort, page).await?;
            let version = account.version;
            let statement = AccountStatement::of(account, found, page);
            Answer::ok(statement).tagged(version, wants.none_match).chosen().into_response()
        }
    })
}

/// A page of the statement of an account that `holder` holds.
///
/// # Errors
/// 404, 400 for a time that has not come.
pub(crate) async fn statement_of(
    app: &App,
    holder: UserId,
    number: &AccountNumber,
    query: StatementQuery,
) -> Result<AccountStatement, Problem> {
    let account = owned(&app.pool, holder, number).await?.ok_or_else(|| Problem::not_found("account"))?;
    within_log(app, query.as_of)?;
    let range = StatementRange { from: query.range.from, to: query.range.to, as_of: query.as_of };
    let (sort, page, filter) = (query.sort, query.page, query.filter());
    let found = statement(&app.pool, number, range, &filter, sort, page).await?;
    Ok(AccountStatement::of(account, found, page))
}

impl StatementQuery {
    fn filter(self) -> EntryFilter {
        EntryFilter {
            entry_type: self.kind.map(|OneOf(kind)| kind),
            min_amount: self.min_amount.map(|Minor(least)| least),
            max_amount: self.max_amount.map(|Minor(most)| most),
            q: self.q.0,
        }
    }

    /// Whether every entry of the range is asked for.
    ///
    /// # Errors
    /// 400 with every filter there is.
    fn unfiltered(&self) -> Result<(), Problem> {
        let given = [
            ("/type", self.kind.is_some()),
            ("/minAmount", self.min_amount.is_some()),
            ("/maxAmount", self.max_amount.is_some()),
            ("/q", self.q.0.is_some()),
        ];
        let fault = |(pointer, _): (&str, bool)| FieldError {
            pointer: pointer.to_owned(),
            code: "CONFLICT",
            message: "a camt.053 statement has every entry of its range; JSON and CSV can be filtered"
                .to_owned(),
        };
        let faults: Vec<_> = given.into_iter().filter(|(_, given)| *given).map(fault).collect();
        if faults.is_empty() { Ok(()) } else { Err(Problem::invalid(faults)) }
    }
}

impl AccountStatement {
    fn of(account: Account, found: Statement, page: Page) -> Self {
        Self {
            account_number: account.account_number.to_string(),
            account_name: account.account_name,
            currency: account.currency.to_string(),
            opening_balance: found.opening_balance,
            closing_balance: found.closing_balance,
            pagination: Pagination::of(page, found.entries.total),
            transactions: found.entries.items.into_iter().map(Entry::of).collect(),
        }
    }
}

impl Entry {
    fn of(entry: StatementEntry) -> Self {
        Self {
            transaction_id: entry.transaction_id,
            transaction_date: entry.recorded_at,
            description: entry.description,
            r#type: entry.entry_type.as_str(),
            amount: entry.amount,
            balance: entry.balance,
            reference: entry.reference,
            narration: entry.narration,
        }
    }
}

query! {
    /// Which days are listed.
    HistoryQuery {
        /// Which time.
        range: DateRange = "from",
        /// Which part.
        page: Page = "page",
    }
}

/// Reads the balances of an account at the end of each day. Without a range: the last 30 days.
#[utoipa::path(
    get, path = "/v1/accounts/{accountNo}/history", tag = "Accounts",
    params(InPath<AccountNumber>, HistoryQuery, ReadHeaders),
    responses((status = 200, description = "The balances.", body = BalanceHistory), ReadProblems)
)]
pub(super) async fn read_history(
    State(app): State<App>,
    caller: Allowed<ReadAccount>,
    wants: Conditions,
    number: InPath<AccountNumber>,
    Queried(query): Queried<HistoryQuery>,
) -> Result<Answer<BalanceHistory>, Problem> {
    let account = account(&app, &caller, &wants, number, &[MODEL, DAYS]).await?;
    history_of(&app, account, query, wants).await
}

/// A page of an account's balances day by day.
pub(super) async fn history_of(
    app: &App,
    account: Account,
    query: HistoryQuery,
    wants: Conditions,
) -> Result<Answer<BalanceHistory>, Problem> {
    let (from, to) = query.range.days();
    // Days that have not begun have no balance.
    let today = bursar_domain::kernel::utc_date(app.journal.sources().clock.now());
    let range = DayRange { from, to: to.min(today), oldest_first: false };
    let days = history(&app.pool, &account.account_number, range, query.page).await?;
    Ok(Answer::ok(BalanceHistory {
        account_number: account.account_number.to_string(),
        account_name: account.account_name,
        currency: account.currency.to_string(),
        pagination: Pagination::of(query.page, days.total),
        balance_history: days
            .items
            .into_iter()
            .map(|day| BalanceDay {
                date: midnight(day.day),
                available_balance: day.available_balance,
                ledger_balance: day.ledger_balance,
                interest_earned: day.interest_earned,
            })
            .collect(),
    })
    .tagged(account.version, wants.none_match))
}
