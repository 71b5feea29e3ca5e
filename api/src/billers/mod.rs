//! Who can be paid bills, and what for.

mod status;

use axum::extract::State;
use bursar_domain::reference::{self, Price};
use bursar_projections::Page;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, ReadAccount};
use crate::openapi::{ReadHeaders, ReadProblems};
use crate::paging::Pagination;
use crate::problem::Problem;
use crate::query;
use crate::request::{BillerId, Conditions, InPath, PathId as _, Queried, Search, Text};

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_billers))
        .routes(routes!(list_biller_categories))
        .routes(routes!(list_biller_items))
        .routes(routes!(status::read_billing_status))
}

query! {
    /// Which billers are listed.
    ListBillers {
        /// Text in name or code.
        q: Search = "q",
        /// Code of the category.
        category: Option<Text<64>> = "category",
        /// ISO 3166-1 alpha-2.
        country: Option<Text<2>> = "country",
        /// Which part.
        page: Page = "page",
    }
}

query! {
    /// Which items are listed.
    ListBillerItems {
        /// Which part.
        page: Page = "page",
    }
}

/// Who can be paid bills.
#[derive(Debug, Serialize, ToSchema)]
pub struct Billers {
    billers: Vec<Biller>,
    pagination: Pagination,
}

/// Somebody who can be paid bills.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Biller {
    biller_id: String,
    biller_name: String,
    /// The same as `billerId`.
    biller_code: String,
    /// Code of the category.
    category: String,
    /// A URL; null when there is none.
    logo: Option<String>,
    /// Whether it can be paid.
    is_active: bool,
    /// What bills are paid from: `BANK_TRANSFER`, an account of this bank.
    supported_channels: [&'static str; 1],
    /// ISO 3166-1 alpha-2.
    country: String,
    /// What it is paid in.
    currency: String,
    /// What it calls its customers' numbers, which a payment names.
    customer_reference_label: String,
    /// Regular expression that the whole of such a number matches.
    customer_reference_pattern: String,
}

/// What a biller sells.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BillerItems {
    biller_id: String,
    biller_name: String,
    items: Vec<BillerItem>,
    pagination: Pagination,
}

/// Something that a biller sells. Sums in minor units of `currency`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BillerItem {
    item_id: String,
    item_name: String,
    /// The same as `itemId`.
    item_code: String,
    /// The price; null when the payer chooses.
    amount: Option<i64>,
    currency: String,
    /// What else there is to say; null for nothing.
    description: Option<String>,
    /// Whether it can be paid.
    is_active: bool,
    /// Whether `amount` is the only price; otherwise `minAmount` and `maxAmount` bound it.
    is_amount_fixed: bool,
    min_amount: Option<i64>,
    max_amount: Option<i64>,
    /// What this bank takes on top; 0 for nothing.
    fee: i64,
}

/// The kinds of billers.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BillerCategories {
    categories: Vec<BillerCategory>,
    total_categories: usize,
}

/// A kind of billers.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BillerCategory {
    category_id: String,
    category_name: String,
    /// The same as `categoryId`.
    category_code: String,
    description: String,
    /// A URL; null when there is none.
    icon: Option<String>,
    /// How many billers are of this kind.
    biller_count: usize,
    is_active: bool,
}

/// Lists who can be paid bills, in the order of names.
#[utoipa::path(
    get, path = "/v1/billers", tag = "Billers", params(ListBillers, ReadHeaders),
    responses((status = 200, description = "The billers.", body = Billers), ReadProblems)
)]
async fn list_billers(
    State(app): State<App>,
    _: Allowed<ReadAccount>,
    wants: Conditions,
    Queried(query): Queried<ListBillers>,
) -> Answer<Billers> {
    let matching = app.reference.billers.iter().filter(|biller| {
        query.category.as_ref().is_none_or(|category| biller.category_code == category.0)
            && query.country.as_ref().is_none_or(|country| biller.country == country.0)
            && query.q.finds([&*biller.biller_name, &biller.biller_code])
    });
    let (billers, pagination) = Pagination::cut(query.page, matching);
    let billers = billers.into_iter().map(Biller::of).collect();
    Answer::ok(Billers { billers, pagination }).lasting(wants.none_match)
}

/// Lists the kinds of billers, in the order of names.
#[utoipa::path(
    get, path = "/v1/billers/categories", tag = "Billers", params(ReadHeaders),
    responses((status = 200, description = "The categories.", body = BillerCategories), ReadProblems)
)]
async fn list_biller_categories(
    State(app): State<App>,
    _: Allowed<ReadAccount>,
    wants: Conditions,
) -> Answer<BillerCategories> {
    let count = |code: &str| app.reference.billers.iter().filter(|b| b.category_code == code).count();
    let all = app.reference.categories.iter();
    let categories: Vec<_> = all.map(|one| BillerCategory::of(one, count(&one.category_code))).collect();
    Answer::ok(BillerCategories { total_categories: categories.len(), categories }).lasting(wants.none_match)
}

/// Lists what a biller sells, in the order of names.
#[utoipa::path(
    get, path = "/v1/billers/{billerId}/items", tag = "Billers",
    params(InPath<BillerId>, ListBillerItems, ReadHeaders),
    responses((status = 200, description = "The items.", body = BillerItems), ReadProblems)
)]
async fn list_biller_items(
    State(app): State<App>,
    id: InPath<BillerId>,
    _: Allowed<ReadAccount>,
    wants: Conditions,
    Queried(query): Queried<ListBillerItems>,
) -> Result<Answer<BillerItems>, Problem> {
    let BillerId(id) = id.get()?;
    let biller = app.reference.billers.get(&id).ok_or_else(|| Problem::not_found(BillerId::THING))?;
    let (items, pagination) = Pagination::cut(query.page, app.reference.items_of(biller));
    let items = BillerItems {
        biller_id: biller.biller_code.clone(),
        biller_name: biller.biller_name.clone(),
        items: items.into_iter().map(BillerItem::of).collect(),
        pagination,
    };
    Ok(Answer::ok(items).lasting(wants.none_match))
}

impl Biller {
    fn of(biller: &reference::Biller) -> Self {
        Self {
            biller_id: biller.biller_code.clone(),
            biller_name: biller.biller_name.clone(),
            biller_code: biller.biller_code.clone(),
            category: biller.category_code.clone(),
            logo: None,
            is_active: biller.is_active,
            supported_channels: ["BANK_TRANSFER"],
            country: biller.country.clone(),
            currency: biller.currency_code.to_string(),
            customer_reference_label: biller.customer_reference_label.clone(),
            customer_reference_pattern: biller.customer_reference_pattern.as_str().to_owned(),
        }
    }
}

impl BillerItem {
    fn of(item: &reference::BillerItem) -> Self {
        let (amount, min_amount, max_amount) = match item.price {
            Price::Fixed { amount } => (Some(amount), None, None),
            Price::Between { min_amount, max_amount } => (None, Some(min_amount), Some(max_amount)),
        };
        Self {
            item_id: item.item_code.clone(),
            item_name: item.item_name.clone(),
            item_code: item.item_code.clone(),
            amount: amount.map(i64::from),
            currency: item.currency.to_string(),
            description: item.validity_days.map(|days| match days {
                1 => "Valid for 1 day".to_owned(),
                days => format!("Valid for {days} days"),
            }),
            is_active: item.is_active,
            is_amount_fixed: item.price.is_fixed(),
            min_amount: min_amount.map(i64::from),
            max_amount: max_amount.map(i64::from),
            fee: item.fee,
        }
    }
}

impl BillerCategory {
    fn of(category: &reference::BillerCategory, biller_count: usize) -> Self {
        Self {
            category_id: category.category_code.clone(),
            category_name: category.category_name.clone(),
            category_code: category.category_code.clone(),
            description: category.description.clone(),
            icon: None,
            biller_count,
            is_active: category.is_active,
        }
    }
}
