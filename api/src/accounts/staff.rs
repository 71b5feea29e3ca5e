//! Accounts of customers, for staff.

use axum::extract::State;
use bursar_domain::AccountNumber;
use bursar_domain::kernel::UserId;
use bursar_projections::accounts::{Account, find};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::statement::{
    AccountStatement, BalanceHistory, DAYS, ENTRIES, HistoryQuery, StatementQuery, history_of, statement_of,
};
use super::views::{AccountDetails, AccountList};
use super::{ListAccounts, MODEL, linked, listed};
use crate::answer::Answer;
use crate::app::App;
use crate::auth::{AccountOps, Allowed, Caller};
use crate::openapi::{ReadHeaders, ReadProblems};
use crate::problem::Problem;
use crate::request::{Conditions, InPath, Queried};
use crate::users::known;

/// The routes of staff.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_customer_accounts))
        .routes(routes!(read_account_as_staff))
        .routes(routes!(read_statement_as_staff))
        .routes(routes!(read_history_as_staff))
}

/// An account, and whose it is.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StaffAccount {
    /// Who holds it.
    user_id: String,
    #[serde(flatten)]
    account: AccountDetails,
}

/// An account of anybody's as the read models have it, fresh enough for the caller.
async fn anybodys(
    app: &App,
    caller: &Caller,
    wants: &Conditions,
    number: InPath<AccountNumber>,
    models: &[&str],
) -> Result<Account, Problem> {
    let number = number.get()?;
    app.fresh(caller, wants, models).await?;
    find(&app.pool, &number).await?.ok_or_else(|| Problem::not_found("account"))
}

/// Staff: lists the accounts of a customer.
#[utoipa::path(
    get, path = "/v1/staff/customers/{userId}/accounts", tag = "Staff",
    params(InPath<UserId>, ListAccounts, ReadHeaders),
    responses((status = 200, description = "The accounts.", body = AccountList), ReadProblems)
)]
async fn list_customer_accounts(
    State(app): State<App>,
    caller: Allowed<AccountOps>,
    wants: Conditions,
    id: InPath<UserId>,
    Queried(query): Queried<ListAccounts>,
) -> Result<Answer<AccountList>, Problem> {
    let holder = known(&app, id.get()?).await?;
    listed(&app, &caller, &wants, holder, query).await
}

/// Staff: reads an account of anybody's.
#[utoipa::path(
    get, path = "/v1/staff/accounts/{accountNo}", tag = "Staff", params(InPath<AccountNumber>, ReadHeaders),
    responses((status = 200, description = "The account.", body = StaffAccount), ReadProblems)
)]
async fn read_account_as_staff(
    State(app): State<App>,
    caller: Allowed<AccountOps>,
    wants: Conditions,
    number: InPath<AccountNumber>,
) -> Result<Answer<StaffAccount>, Problem> {
    let account = anybodys(&app, &caller, &wants, number, &[MODEL]).await?;
    let (version, user_id) = (account.version, account.owner.to_string());
    let linked = linked(&app, &account).await?;
    let now = app.journal.sources().clock.now();
    let account = AccountDetails::of(account, linked, now);
    Ok(Answer::ok(StaffAccount { user_id, account }).tagged(version, wants.none_match))
}

/// Staff: reads the statement of an account of anybody's. Without a range: the last 30 days.
#[utoipa::path(
    get, path = "/v1/staff/accounts/{accountNo}/statement", tag = "Staff",
    params(InPath<AccountNumber>, StatementQuery, ReadHeaders),
    responses((status = 200, description = "The statement.", body = AccountStatement), ReadProblems)
)]
async fn read_statement_as_staff(
    State(app): State<App>,
    caller: Allowed<AccountOps>,
    wants: Conditions,
    number: InPath<AccountNumber>,
    Queried(query): Queried<StatementQuery>,
) -> Result<Answer<AccountStatement>, Problem> {
    let account = anybodys(&app, &caller, &wants, number, &[MODEL, ENTRIES]).await?;
    let version = account.version;
    let statement = statement_of(&app, account.owner, &account.account_number, query).await?;
    Ok(Answer::ok(statement).tagged(version, wants.none_match))
}

/// Staff: reads the balances of an account of anybody's at the end of each day. Without a range: the last 30 days.
#[utoipa::path(
    get, path = "/v1/staff/accounts/{accountNo}/history", tag = "Staff",
    params(InPath<AccountNumber>, HistoryQuery, ReadHeaders),
    responses((status = 200, description = "The balances.", body = BalanceHistory), ReadProblems)
)]
async fn read_history_as_staff(
    State(app): State<App>,
    caller: Allowed<AccountOps>,
    wants: Conditions,
    number: InPath<AccountNumber>,
    Queried(query): Queried<HistoryQuery>,
) -> Result<Answer<BalanceHistory>, Problem> {
    let account = anybodys(&app, &caller, &wants, number, &[MODEL, DAYS]).await?;
    history_of(&app, account, query, wants).await
}
