//! People, as staff find them.

use axum::extract::State;
use bursar_domain::kernel::UserId;
use bursar_domain::users::{User, masked_email, masked_phone};
use bursar_projections::Page;
use bursar_projections::users::{UserRow, search};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::{AccountOps, Allowed};
use crate::openapi::{ReadHeaders, ReadProblems};
use crate::paging::Pagination;
use crate::problem::Problem;
use crate::query;
use crate::request::{Conditions, Queried, Search};

query! {
    /// Whom to look for.
    FindCustomers {
        /// A user id, the number of an account, or the beginning of an email address, of a phone number (E.164) or of each name.
        /// Everybody when absent.
        q: Search = "q",
        /// Which part.
        page: Page = "page",
    }
}

/// People who were found, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct CustomerList {
    customers: Vec<CustomerItem>,
    pagination: Pagination,
}

/// Somebody who was found.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CustomerItem {
    user_id: String,
    /// `PENDING`, `ACTIVE` or `ERASED`.
    status: String,
    first_name: String,
    last_name: String,
    /// Masked.
    email: String,
    /// All but country code and last three digits masked.
    phone_number: String,
    created_at: Timestamp,
}

impl From<UserRow> for CustomerItem {
    fn from(row: UserRow) -> Self {
        Self {
            user_id: row.user_id.to_string(),
            status: row.status,
            first_name: row.first_name,
            last_name: row.last_name,
            email: masked_email(&row.email),
            phone_number: masked_phone(&row.phone_number),
            created_at: row.created_at,
        }
    }
}

/// Staff: finds customers.
#[utoipa::path(
    get, path = "/v1/staff/customers", tag = "Staff", params(FindCustomers, ReadHeaders),
    responses((status = 200, description = "Who was found.", body = CustomerList), ReadProblems)
)]
pub(super) async fn find_customers(
    State(app): State<App>,
    caller: Allowed<AccountOps>,
    wants: Conditions,
    Queried(query): Queried<FindCustomers>,
) -> Result<Answer<CustomerList>, Problem> {
    app.fresh(&caller, &wants, &["accounts", "users"]).await?;
    let found = search(&app.pool, query.q.0.as_deref().unwrap_or_default(), query.page).await?;
    Ok(Answer::ok(CustomerList {
        pagination: Pagination::of(query.page, found.total),
        customers: found.items.into_iter().map(CustomerItem::from).collect(),
    }))
}

/// The id of somebody whom the bank knows.
///
/// # Errors
/// 404.
pub(crate) async fn known(app: &App, id: UserId) -> Result<UserId, Problem> {
    let (user, _) = app.journal.load::<User>(&id.to_string()).await?;
    user.person().map(|_| id).ok_or_else(|| Problem::not_found("user"))
}
