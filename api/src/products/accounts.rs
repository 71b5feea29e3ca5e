//! Staff: the products that accounts are opened on.

use axum::extract::State;
use bursar_commands::{Committed, products};
use bursar_domain::products::ProductCommand;
use bursar_projections::products::all;
use serde::Serialize;
use utoipa::ToSchema;

use super::terms::{AccountProductTerms, NewAccountProduct};
use super::{ProductType, Put, put};
use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, ProductAdmin};
use crate::openapi::{IfMatch, ReadHeaders, ReadProblems, WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request::{Conditions, InPath, ProductId, Strict, Write};

/// Products for accounts, on offer or withdrawn, with all of their terms.
#[derive(Debug, Serialize, ToSchema)]
pub struct AccountProducts {
    products: Vec<AccountProduct>,
}

/// A product for accounts. Sums in minor units of `currency`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccountProduct {
    #[serde(flatten)]
    known: ProductType,
    overdraft_limit: i64,
    /// Outgoing debits a UTC day; none for no limit.
    daily_limit: Option<i64>,
    /// Outgoing debits a UTC month; none for no limit.
    monthly_limit: Option<i64>,
}

/// Staff: lists the products that accounts are opened on.
#[utoipa::path(
    get, path = "/v1/staff/account-products", tag = "Staff", params(ReadHeaders),
    responses((status = 200, description = "The products.", body = AccountProducts), ReadProblems)
)]
pub(super) async fn list_account_products(
    State(app): State<App>,
    caller: Allowed<ProductAdmin>,
    wants: Conditions,
) -> Result<Answer<AccountProducts>, Problem> {
    app.fresh(&caller, &wants, &["products"]).await?;
    let products = all(&app.pool).await?.into_iter().map(|product| AccountProduct {
        overdraft_limit: product.overdraft_limit,
        daily_limit: product.daily_limit,
        monthly_limit: product.monthly_limit,
        known: ProductType::of(product),
    });
    Ok(Answer::ok(AccountProducts { products: products.collect() }))
}

/// Staff: puts a new product on offer.
#[utoipa::path(
    post, path = "/v1/staff/account-products", tag = "Staff",
    params(WriteHeaders), request_body = NewAccountProduct,
    responses((status = 201, description = "On offer.", body = Put), WriteProblems)
)]
pub(super) async fn create_account_product(
    State(app): State<App>,
    write: Write<ProductAdmin, Strict<NewAccountProduct>>,
) -> Result<Answer<Put>, Problem> {
    let Write { body: Strict(body), context, .. } = write;
    let ProductId(id) = body.product_id;
    let command = ProductCommand::Create(Box::new(body.terms.into()));
    let committed: Committed = products::put(&app.journal, context, &id, command).await?;
    let location = format!("/v1/staff/account-products/{id}");
    Ok(put(&committed, id).created(&location))
}

/// Staff: changes a product, all of its terms, for what begins from now on. What runs on it stays as it was agreed.
#[utoipa::path(
    put, path = "/v1/staff/account-products/{productId}", tag = "Staff",
    params(InPath<ProductId>, WriteHeaders, IfMatch), request_body = AccountProductTerms,
    responses((status = 200, description = "Changed.", body = Put), WriteProblems)
)]
pub(super) async fn change_account_product(
    State(app): State<App>,
    id: InPath<ProductId>,
    write: Write<ProductAdmin, Strict<AccountProductTerms>>,
) -> Result<Answer<Put>, Problem> {
    let Write { body: Strict(body), context, .. } = write;
    let ProductId(id) = id.get()?;
    let command = ProductCommand::Change(Box::new(body.into()));
    let committed = products::put(&app.journal, context, &id, command).await?;
    Ok(put(&committed, id))
}
