//! Staff: the products that loans are applied for on.

use axum::extract::State;
use bursar_commands::{Committed, loan_products as products};
use bursar_domain::loan_products::LoanProductCommand;

use super::terms::{LoanProductTerms, NewLoanProduct};
use super::{Put, put};
use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, ProductAdmin};
use crate::loans::{ListProducts, LoanProductList, loan_products};
use crate::openapi::{IfMatch, ReadHeaders, ReadProblems, WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request::{Conditions, InPath, ProductId, Queried, Strict, Write};

/// Staff: lists the products that loans are applied for on.
#[utoipa::path(
    get, path = "/v1/staff/loan-products", tag = "Staff", params(ListProducts, ReadHeaders),
    responses((status = 200, description = "The products.", body = LoanProductList), ReadProblems)
)]
pub(super) async fn list_loan_products_as_staff(
    State(app): State<App>,
    caller: Allowed<ProductAdmin>,
    wants: Conditions,
    Queried(query): Queried<ListProducts>,
) -> Result<Answer<LoanProductList>, Problem> {
    loan_products(&app, &caller, &wants, query).await
}

/// Staff: puts a new product on offer.
#[utoipa::path(
    post, path = "/v1/staff/loan-products", tag = "Staff",
    params(WriteHeaders), request_body = NewLoanProduct,
    responses((status = 201, description = "On offer.", body = Put), WriteProblems)
)]
pub(super) async fn create_loan_product(
    State(app): State<App>,
    write: Write<ProductAdmin, Strict<NewLoanProduct>>,
) -> Result<Answer<Put>, Problem> {
    let Write { body: Strict(body), context, .. } = write;
    let ProductId(id) = body.product_id;
    let command = LoanProductCommand::Create(Box::new(body.terms.into()));
    let committed: Committed = products::put(&app.journal, context, &id, command).await?;
    let location = format!("/v1/staff/loan-products/{id}");
    Ok(put(&committed, id).created(&location))
}

/// Staff: changes a product, all of its terms, for what begins from now on. What runs on it stays as it was agreed.
#[utoipa::path(
    put, path = "/v1/staff/loan-products/{productId}", tag = "Staff",
    params(InPath<ProductId>, WriteHeaders, IfMatch), request_body = LoanProductTerms,
    responses((status = 200, description = "Changed.", body = Put), WriteProblems)
)]
pub(super) async fn change_loan_product(
    State(app): State<App>,
    id: InPath<ProductId>,
    write: Write<ProductAdmin, Strict<LoanProductTerms>>,
) -> Result<Answer<Put>, Problem> {
    let Write { body: Strict(body), context, .. } = write;
    let ProductId(id) = id.get()?;
    let command = LoanProductCommand::Change(Box::new(body.into()));
    let committed = products::put(&app.journal, context, &id, command).await?;
    Ok(put(&committed, id))
}
