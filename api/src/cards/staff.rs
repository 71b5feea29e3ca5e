//! Cards of customers, for staff.

use axum::extract::State;
use bursar_domain::kernel::UserId;

use super::views::CardList;
use super::{ListCards, listed};
use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, CardOps};
use crate::openapi::{ReadHeaders, ReadProblems};
use crate::problem::Problem;
use crate::request::{Conditions, InPath, Queried};
use crate::users::known;

/// Staff: lists the cards of a customer.
#[utoipa::path(
    get, path = "/v1/staff/customers/{userId}/cards", tag = "Staff", params(InPath<UserId>, ListCards, ReadHeaders),
    responses((status = 200, description = "The cards.", body = CardList), ReadProblems)
)]
pub(super) async fn list_customer_cards(
    State(app): State<App>,
    caller: Allowed<CardOps>,
    wants: Conditions,
    id: InPath<UserId>,
    Queried(query): Queried<ListCards>,
) -> Result<Answer<CardList>, Problem> {
    let holder = known(&app, id.get()?).await?;
    listed(&app, &caller, &wants, holder, query).await
}
