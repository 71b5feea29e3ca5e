//! The products accounts can be opened on, and what staff do about them and about those for loans.

mod accounts;
mod loans;
mod terms;

use axum::extract::State;
use bursar_commands::Committed;
use bursar_projections::products::{Product, all};
use jiff::Timestamp;
use rust_decimal::Decimal;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::Caller;
use crate::openapi::{ReadHeaders, ReadProblems};
use crate::problem::Problem;
use crate::request::Conditions;
pub(crate) use terms::read_file;

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_product_types))
        .routes(routes!(accounts::list_account_products, accounts::create_account_product))
        .routes(routes!(accounts::change_account_product))
        .routes(routes!(loans::list_loan_products_as_staff, loans::create_loan_product))
        .routes(routes!(loans::change_loan_product))
}

/// Everything the bank offers, and what it no longer offers.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProductTypes {
    products: Vec<ProductType>,
    total_products: usize,
}

/// A product. Sums in minor units of `currency`, rates in percent a year.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProductType {
    product_id: String,
    product_name: String,
    /// `CURRENT`, `SAVINGS` or `TARGET_SAVINGS`.
    product_type: &'static str,
    description: String,
    currency: String,
    #[serde(serialize_with = "crate::rate::number")]
    #[schema(value_type = f64)]
    interest_rate: Decimal,
    minimum_balance: i64,
    minimum_deposit: i64,
    /// None for no bound.
    maximum_balance: Option<i64>,
    features: Vec<String>,
    eligibility_criteria: Vec<String>,
    is_active: bool,
}

/// Lists the products that accounts can be opened on.
#[utoipa::path(
    get, path = "/v1/account/products/types", tag = "Accounts", params(ReadHeaders),
    responses((status = 200, description = "The products.", body = ProductTypes), ReadProblems)
)]
async fn list_product_types(
    State(app): State<App>,
    caller: Caller,
    wants: Conditions,
) -> Result<Answer<ProductTypes>, Problem> {
    app.fresh(&caller, &wants, &["products"]).await?;
    let products: Vec<_> = all(&app.pool).await?.into_iter().map(ProductType::of).collect();
    Ok(Answer::ok(ProductTypes { total_products: products.len(), products }))
}

/// A product that was put on offer or changed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProductPut)]
pub struct Put {
    /// `SUCCESS`.
    status: &'static str,
    product_id: String,
    /// When it changed; none when it was so already.
    updated_at: Option<Timestamp>,
    message: &'static str,
}

/// What is said of a product that was put on offer or changed.
fn put(committed: &Committed, product_id: String) -> Answer<Put> {
    let updated_at = committed.events.first().map(|recorded| recorded.recorded_at);
    let message = if updated_at.is_some() { "Product changed from now on" } else { "It was so already" };
    Answer::ok(Put { status: "SUCCESS", product_id, updated_at, message }).at(committed)
}

impl ProductType {
    fn of(product: Product) -> Self {
        Self {
            product_id: product.product_id,
            product_name: product.product_name,
            product_type: product.product_type.as_str(),
            description: product.description,
            currency: product.currency.to_string(),
            interest_rate: product.interest_rate,
            minimum_balance: product.minimum_balance,
            minimum_deposit: product.minimum_deposit,
            maximum_balance: product.maximum_balance,
            features: product.features,
            eligibility_criteria: product.eligibility_criteria,
            is_active: product.is_active,
        }
    }
}
