//! Rows about what the bank offers.

use bursar_commands::{Context, loan_products, products};
use bursar_domain::kernel::Permission::ProductAdmin;
use bursar_domain::loan_products::{LoanProduct, LoanProductCommand};
use bursar_domain::products::{Product, ProductCommand};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use reqwest::Method;
use serde_json::{Value, json};

use super::row::{Access, Names, Row, Thing, get, post};
use super::world::World;

/// Codes of products: one that is not there yet, and those that change.
pub struct Offers {
    fresh: String,
    account: String,
    loan: String,
}

impl Offers {
    pub fn new() -> Self {
        Self { fresh: "NEW-0".into(), account: "CUR-002".into(), loan: "LN-BUS-001".into() }
    }
}

pub fn account_terms() -> Value {
    json!({
        "productName": "Student savings", "productType": "SAVINGS", "description": "For students", "currency": "NGN",
        "interestRate": 5.5, "minimumBalance": 0, "minimumDeposit": 0, "maximumBalance": 100_000_000,
        "overdraftLimit": 0, "dailyLimit": 10_000_000, "monthlyLimit": 50_000_000, "features": ["ONLINE_BANKING"],
        "eligibilityCriteria": ["Student"], "isActive": true,
    })
}

pub fn loan_terms() -> Value {
    json!({
        "productName": "Harvest loan", "productType": "BUSINESS", "currency": "NGN", "minAmount": 1_000,
        "maxAmount": 100_000_000, "interestRate": 18.25, "minTenure": 3, "maxTenure": 12, "processingFee": 1.5,
        "insuranceFee": 0.5, "eligibilityCriteria": ["Farmer"], "requiredDocuments": ["BANK_STATEMENT"],
        "guarantorRequired": false, "isActive": true,
    })
}

/// Terms with their code.
pub fn coded(id: &str, mut terms: Value) -> Value {
    terms["productId"] = json!(id);
    terms
}

/// There is a code that no product has.
fn new_code(world: &mut World) -> BoxFuture<'_, ()> {
    async { world.offers.fresh = format!("NEW-{}", world.bank.events().await) }.boxed()
}

/// The products that change have other terms than those they are given.
fn other_terms(world: &mut World) -> BoxFuture<'_, ()> {
    async {
        let journal = &world.bank.app.journal;
        let (account, _) = journal.load::<Product>(&world.offers.account).await.unwrap();
        let Product::Defined(mut terms) = account else { panic!("no such product") };
        terms.description = format!("{} and more", terms.description);
        let change = ProductCommand::Change(Box::new(terms));
        products::put(journal, Context::default(), &world.offers.account, change).await.unwrap();
        let (loan, _) = journal.load::<LoanProduct>(&world.offers.loan).await.unwrap();
        let LoanProduct::Defined(mut terms) = loan else { panic!("no such product") };
        terms.eligibility_criteria.push("And more".into());
        let change = LoanProductCommand::Change(Box::new(terms));
        loan_products::put(journal, Context::default(), &world.offers.loan, change).await.unwrap();
    }
    .boxed()
}

pub fn rows() -> Vec<Row> {
    let admin = Access::Needs(ProductAdmin);
    let product = Names::Everybodys(Thing::Product);
    let by = |row: Row| Row { by: Some(|world| &world.approver.client), ..row };
    let rows = vec![
        get("/v1/staff/account-products", admin, Names::Nothing),
        get("/v1/staff/loan-products", admin, Names::Nothing),
        Row {
            ready: new_code,
            ..post("/v1/staff/account-products", admin, Names::Nothing, |world, _| {
                coded(&world.offers.fresh, account_terms())
            })
        },
        Row {
            ready: new_code,
            ..post("/v1/staff/loan-products", admin, Names::Nothing, |world, _| {
                coded(&world.offers.fresh, loan_terms())
            })
        },
        Row {
            method: Method::PUT,
            own: |world| &world.offers.account,
            ready: other_terms,
            ..post("/v1/staff/account-products/{productId}", admin, product, |_, _| account_terms())
        },
        Row {
            method: Method::PUT,
            own: |world| &world.offers.loan,
            ready: other_terms,
            ..post("/v1/staff/loan-products/{productId}", admin, product, |_, _| loan_terms())
        },
    ];
    rows.into_iter().map(by).collect()
}
