//! Accounts of the caller: open, list, read.

mod open;
mod statement;
mod views;

use axum::extract::State;
use bursar_domain::AccountNumber;
use bursar_domain::ledger::AccountStatus;
use bursar_domain::products::AccountType;
use bursar_projections::accounts::{Account, AccountFilter, AccountSort, of_owner, owned};
use bursar_projections::statement_entries::{self, AsOf};
use bursar_projections::{Page, Sort};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, Caller, ReadAccount};
use crate::openapi::{AccountNo, ReadHeaders, ReadProblems};
use crate::paging::Pagination;
use crate::problem::Problem;
use crate::request::{AccountPath, AsOfParams, Conditions, PageParams, Params, Queried, Query};
use views::{AccountBalance, AccountDetails, AccountItem, AccountList};

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_accounts, open::open_account))
        .routes(routes!(read_account))
        .routes(routes!(read_balance))
        .routes(routes!(statement::read_history))
        .routes(routes!(statement::read_statement))
}

/// The read model behind these pages.
const MODEL: &str = "accounts";
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
    number: Result<AccountPath, Problem>,
    models: &[&str],
) -> Result<Account, Problem> {
    let AccountPath(number) = number?;
    app.fresh(caller, wants, models).await?;
    let account = owned(&app.pool, caller.user(), &number).await.map_err(unreadable)?;
    account.ok_or_else(|| Problem::not_found("account"))
}

/// The database did not answer a query.
fn unreadable(error: sqlx::Error) -> Problem {
    bursar_commands::journal::StoreError::from(error).into()
}

struct ListAccounts {
    filter: AccountFilter,
    sort: Sort<AccountSort>,
    page: Page,
}

impl Query for ListAccounts {
    fn read(params: &mut Params) -> Option<Self> {
        let statuses =
            [AccountStatus::Active, AccountStatus::Frozen, AccountStatus::Dormant, AccountStatus::Closed];
        let types = [AccountType::Current, AccountType::Savings, AccountType::TargetSavings];
        let currency = params.parsed::<bursar_domain::Currency>("currency", "expected an ISO 4217 code");
        let filter = AccountFilter {
            status: params.choice("status", &statuses.map(|s| (s.as_str(), s))),
            account_type: params.choice("type", &types.map(|t| (t.as_str(), t))),
            currency: currency.map(|currency| currency.to_string()),
            q: params.text("q"),
        };
        Some(Self { filter, sort: params.sort(), page: params.page() })
    }
}

/// Filters and order of the list.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "documents what ListAccounts reads")]
struct ListParams {
    /// `ACTIVE`, `FROZEN`, `DORMANT` or `CLOSED`.
    status: Option<String>,
    /// `CURRENT`, `SAVINGS` or `TARGET_SAVINGS`.
    r#type: Option<String>,
    /// ISO 4217.
    currency: Option<String>,
    /// Text in name, number or product name.
    q: Option<String>,
    /// `openedAt`, `accountName` or `ledgerBalance`, `-` in front for descending.
    #[param(default = "-openedAt")]
    sort: Option<String>,
}

/// Lists the caller's accounts.
#[utoipa::path(
    get, path = "/v1/accounts", tag = "Accounts", params(ListParams, PageParams, ReadHeaders),
    responses((status = 200, description = "The accounts.", body = AccountList), ReadProblems)
)]
async fn list_accounts(
    State(app): State<App>,
    caller: Allowed<ReadAccount>,
    wants: Conditions,
    Queried(list): Queried<ListAccounts>,
) -> Result<Answer<AccountList>, Problem> {
    app.fresh(&caller, &wants, &[MODEL]).await?;
    let found = of_owner(&app.pool, caller.user(), &list.filter, list.sort, list.page).await;
    let found = found.map_err(unreadable)?;
    let now = app.journal.sources().clock.now();
    Ok(Answer::ok(AccountList {
        pagination: Pagination::of(list.page, found.total),
        accounts: found.items.into_iter().map(|account| AccountItem::of(account, now)).collect(),
    }))
}

/// Reads one account of the caller.
#[utoipa::path(
    get, path = "/v1/accounts/{accountNo}", tag = "Accounts", params(AccountNo, ReadHeaders),
    responses((status = 200, description = "The account.", body = AccountDetails), ReadProblems)
)]
async fn read_account(
    State(app): State<App>,
    caller: Allowed<ReadAccount>,
    wants: Conditions,
    number: Result<AccountPath, Problem>,
) -> Result<Answer<AccountDetails>, Problem> {
    let account = account(&app, &caller, &wants, number, &[MODEL]).await?;
    let linked = linked(&app, &caller, &account.account_number).await?;
    let now = app.journal.sources().clock.now();
    let version = account.version;
    Ok(Answer::ok(AccountDetails::of(account, linked, now)).tagged(version, wants.none_match))
}

/// The caller's other accounts.
async fn linked(app: &App, caller: &Caller, number: &AccountNumber) -> Result<Vec<String>, Problem> {
    let page = Page { page: 1, size: LINKED };
    let all = of_owner(&app.pool, caller.user(), &AccountFilter::default(), Sort::default(), page).await;
    let all = all.map_err(unreadable)?.items.into_iter().map(|account| account.account_number);
    Ok(all.filter(|other| other != number).map(|other| other.to_string()).collect())
}

struct AsOfQuery(Option<AsOf>);

impl Query for AsOfQuery {
    fn read(params: &mut Params) -> Option<Self> {
        Some(Self(params.as_of()))
    }
}

/// Reads the balances of an account, now or as they were.
#[utoipa::path(
    get, path = "/v1/accounts/{accountNo}/balance", tag = "Accounts", params(AccountNo, AsOfParams, ReadHeaders),
    responses((status = 200, description = "The balances.", body = AccountBalance), ReadProblems)
)]
async fn read_balance(
    State(app): State<App>,
    caller: Allowed<ReadAccount>,
    wants: Conditions,
    number: Result<AccountPath, Problem>,
    Queried(AsOfQuery(as_of)): Queried<AsOfQuery>,
) -> Result<Answer<AccountBalance>, Problem> {
    let models: &[&str] = if as_of.is_some() { &[MODEL, statement::ENTRIES] } else { &[MODEL] };
    let mut account = account(&app, &caller, &wants, number, models).await?;
    if let Some(as_of) = as_of {
        statement::within_log(&app, Some(as_of))?;
        let then = statement_entries::balance(&app.pool, &account.account_number, as_of).await;
        let then = then.map_err(unreadable)?;
        let moved = then.ledger.saturating_sub(account.ledger_balance);
        account.available_balance = account.available_balance.saturating_add(moved);
        account.ledger_balance = then.ledger;
        account.last_transaction_at = then.last_entry_at;
    }
    let now = app.journal.sources().clock.now();
    let version = account.version;
    Ok(Answer::ok(AccountBalance::of(account, now)).tagged(version, wants.none_match))
}
