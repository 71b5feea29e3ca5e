//! Accounts of the caller: open, list, read.

mod configure;
mod csv;
mod download;
mod open;
mod staff;
mod statement;
mod views;

use axum::extract::State;
use bursar_domain::kernel::UserId;
use bursar_domain::ledger::AccountStatus;
use bursar_domain::products::AccountType;
use bursar_domain::{AccountNumber, Currency};
use bursar_projections::accounts::{self, Account, AccountFilter, AccountSort, of_owner, owned};
use bursar_projections::statement_entries::AsOf;
use bursar_projections::{Page, Sort};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, Caller, ReadAccount};
use crate::openapi::{ReadHeaders, ReadProblems};
use crate::paging::Pagination;
use crate::past::{PastQuery, within_log};
use crate::problem::Problem;
use crate::query;
use crate::request::{Conditions, InPath, OneOf, Queried, Search};
pub(crate) use open::{OpenedAccount, opened};
pub(crate) use statement::{AccountStatement, ENTRIES, StatementQuery, statement_of};
use views::{AccountBalance, AccountDetails, AccountItem, AccountList};

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_accounts, open::open_account))
        .routes(routes!(read_account))
        .routes(routes!(configure::configure_account))
        .routes(routes!(read_balance))
        .routes(routes!(statement::read_history))
        .routes(routes!(statement::read_statement))
        .merge(staff::routes())
}

/// The read model behind these pages.
const MODEL: &str = "accounts";
/// The read model that knows which payments may come back.
const TRANSACTIONS: &str = "transactions";
/// Most accounts shown as linked to one.
const LINKED: u32 = 100;

/// An account of the caller as the read model has it, fresh enough for them.
///
/// # Errors
/// 404 for somebody else's and for none; 503.
async fn account(
    app: &App,
    caller: &Caller,
    wants: &Conditions,
    number: InPath<AccountNumber>,
    models: &[&str],
) -> Result<Account, Problem> {
    let number = number.get()?;
    app.fresh(caller, wants, models).await?;
    let account = owned(&app.pool, caller.user(), &number).await?;
    account.ok_or_else(|| Problem::not_found("account"))
}

query! {
    /// Which accounts are listed, and how.
    ListAccounts {
        /// Only in this state.
        status: Option<OneOf<AccountStatus>> = "status",
        /// Only of this kind.
        kind: Option<OneOf<AccountType>> = "type",
        /// Only in this currency, ISO 4217.
        currency: Option<Currency> = "currency",
        /// Text in name, number or product name.
        q: Search = "q",
        /// The order; newest first when absent.
        sort: Sort<AccountSort> = "sort",
        /// Which part.
        page: Page = "page",
    }
}

/// Lists the caller's accounts.
#[utoipa::path(
    get, path = "/v1/accounts", tag = "Accounts", params(ListAccounts, ReadHeaders),
    responses((status = 200, description = "The accounts.", body = AccountList), ReadProblems)
)]
async fn list_accounts(
    State(app): State<App>,
    caller: Allowed<ReadAccount>,
    wants: Conditions,
    Queried(list): Queried<ListAccounts>,
) -> Result<Answer<AccountList>, Problem> {
    listed(&app, &caller, &wants, caller.user(), list).await
}

/// The accounts that `holder` holds.
async fn listed(
    app: &App,
    caller: &Caller,
    wants: &Conditions,
    holder: UserId,
    list: ListAccounts,
) -> Result<Answer<AccountList>, Problem> {
    app.fresh(caller, wants, &[MODEL]).await?;
    let filter = AccountFilter {
        status: list.status.map(|OneOf(status)| status),
        account_type: list.kind.map(|OneOf(kind)| kind),
        currency: list.currency.map(|currency| currency.to_string()),
        q: list.q.0,
    };
    let found = of_owner(&app.pool, holder, &filter, list.sort, list.page).await?;
    let now = app.journal.sources().clock.now();
    Ok(Answer::ok(AccountList {
        pagination: Pagination::of(list.page, found.total),
        accounts: found.items.into_iter().map(|account| AccountItem::of(account, now)).collect(),
    }))
}

/// Reads one account of the caller.
#[utoipa::path(
    get, path = "/v1/accounts/{accountNo}", tag = "Accounts", params(InPath<AccountNumber>, ReadHeaders),
    responses((status = 200, description = "The account.", body = AccountDetails), ReadProblems)
)]
async fn read_account(
    State(app): State<App>,
    caller: Allowed<ReadAccount>,
    wants: Conditions,
    number: InPath<AccountNumber>,
) -> Result<Answer<AccountDetails>, Problem> {
    let account = account(&app, &caller, &wants, number, &[MODEL]).await?;
    let linked = linked(&app, &account).await?;
    let now = app.journal.sources().clock.now();
    let version = account.version;
    Ok(Answer::ok(AccountDetails::of(account, linked, now)).tagged(version, wants.none_match))
}

/// The holder's other accounts.
async fn linked(app: &App, account: &Account) -> Result<Vec<String>, Problem> {
    let page = Page { page: 1, size: LINKED };
    let all = of_owner(&app.pool, account.owner, &AccountFilter::default(), Sort::default(), page).await?;
    let all = all.items.into_iter().map(|account| account.account_number);
    Ok(all.filter(|other| *other != account.account_number).map(|other| other.to_string()).collect())
}

/// What an account was at a past moment; before it was opened, nothing is in it.
///
/// # Errors
/// 400 for a position in the future.
pub(crate) async fn past(app: &App, now: Account, as_of: AsOf) -> Result<Account, Problem> {
    within_log(app, Some(as_of))?;
    Ok(accounts::as_of(&app.pool, app.journal.codec(), &now, as_of).await?)
}

/// Reads the balances of an account, now or as they were.
#[utoipa::path(
    get, path = "/v1/accounts/{accountNo}/balance", tag = "Accounts", params(InPath<AccountNumber>, PastQuery, ReadHeaders),
    responses((status = 200, description = "The balances.", body = AccountBalance), ReadProblems)
)]
async fn read_balance(
    State(app): State<App>,
    caller: Allowed<ReadAccount>,
    wants: Conditions,
    number: InPath<AccountNumber>,
    Queried(PastQuery { as_of }): Queried<PastQuery>,
) -> Result<Answer<AccountBalance>, Problem> {
    let models: &[&str] = if as_of.is_some() { &[MODEL, statement::ENTRIES, TRANSACTIONS] } else { &[MODEL] };
    let mut account = account(&app, &caller, &wants, number, models).await?;
    if let Some(as_of) = as_of {
        account = past(&app, account, as_of).await?;
    }
    let now = app.journal.sources().clock.now();
    let version = account.version;
    Ok(Answer::ok(AccountBalance::of(account, now)).tagged(version, wants.none_match))
}
