//! Rows about loans, and the loans they are about.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bursar_domain::kernel::Permission::{AuditRead, LoanApprove, LoanDisburse, LoanReview};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::row::{Access, Names, READ, Row, Thing, WRITE, get, post};
use super::world::World;
use crate::support::{Client, Person};

/// Loans of Ada's, one for each write that needs one to itself; and one of somebody else's.
pub struct Lending {
    pending: String,
    withdrawn: String,
    asked: String,
    reviewed: String,
    refused: String,
    approved: String,
    owed: String,
    given_up: String,
    strangers: String,
    /// Loan and guarantor, loan and collateral: to be verified, to be rejected.
    guarantors: [String; 2],
    collaterals: [String; 2],
    documents: [String; 2],
}

/// A small loan that asks for nothing.
pub fn application() -> Value {
    json!({
        "productId": "LN-PER-002", "amount": 10_000_000, "tenure": 6, "purpose": "A roof",
        "employmentType": "EMPLOYED", "monthlyIncome": 40_000_000, "employerName": "A school",
        "employmentDuration": 24, "existingLoans": [{"lender": "Another bank", "amount": 5, "monthlyPayment": 1}],
        "collateralType": "NONE", "guarantorRequired": false,
    })
}

pub fn guarantor() -> Value {
    json!({
        "firstName": "Chidi", "lastName": "Eze", "email": "chidi@example.com", "phoneNumber": "+2348031000103",
        "relationship": "FRIEND", "employmentType": "EMPLOYED", "monthlyIncome": 30_000_000, "employerName": "A shop",
        "address": {"street": "1 Marina", "city": "Lagos", "state": "Lagos", "postalCode": "101001", "country": "NG"},
    })
}

pub fn collateral() -> Value {
    json!({
        "collateralType": "VEHICLE", "description": "A lorry", "estimatedValue": 20_000_000, "location": "Lagos",
        "ownershipDocument": "Vehicle licence", "documentNumber": "VL-1",
        "insuranceDetails": {"policyNumber": "P-1", "insuranceCompany": "An insurer", "expiryDate": "2099-01-01T00:00:00Z"},
        "valuationReport": "Sound", "valuationDate": "2026-01-01T00:00:00Z",
    })
}

/// As small a PDF as readers take.
pub fn document() -> Value {
    json!({
        "documentType": "PAYSLIP", "documentName": "October", "fileType": "PDF", "description": "With overtime",
        "fileContent": STANDARD.encode(crate::documents::PDF),
    })
}

/// Applies for a small loan.
pub async fn applies(person: &Person) -> String {
    person.client.post("/v1/loans", &application()).await.is(201).text_at("loanId").to_owned()
}

/// Staff do something about a loan.
pub async fn staff(client: &Client, loan: &str, step: &str, body: &Value) {
    client.post(&format!("/v1/staff/loans/{loan}/{step}"), body).await.is(200);
}

/// A loan that was walked through `steps` of review, approve, disburse.
async fn walked(person: &Person, teller: &Person, approver: &Person, steps: usize) -> String {
    let loan = applies(person).await;
    let path = [
        (teller, "start-review", json!({})),
        (approver, "approve", json!({})),
        (teller, "disburse", json!({})),
    ];
    for (who, step, body) in path.into_iter().take(steps) {
        staff(&who.client, &loan, step, &body).await;
    }
    loan
}

/// A loan and what was handed in for it.
async fn with(person: &Person, what: &str, body: &Value, id: &str) -> String {
    let loan = applies(person).await;
    let added = person.client.post(&format!("/v1/loans/{loan}/{what}"), body).await.is(201);
    format!("{loan}/{}", added.text_at(id))
}

impl Lending {
    pub async fn new(ada: &Person, bola: &Person, teller: &Person, approver: &Person) -> Self {
        let guarantor = async || with(ada, "guarantors", &guarantor(), "guarantorId").await;
        let collateral = async || with(ada, "collateral", &collateral(), "collateralId").await;
        let document = async || with(ada, "documents", &document(), "documentId").await;
        Self {
            pending: applies(ada).await,
            withdrawn: applies(ada).await,
            asked: walked(ada, teller, approver, 1).await,
            reviewed: walked(ada, teller, approver, 1).await,
            refused: applies(ada).await,
            approved: walked(ada, teller, approver, 2).await,
            owed: walked(ada, teller, approver, 3).await,
            given_up: walked(ada, teller, approver, 3).await,
            strangers: applies(bola).await,
            guarantors: [guarantor().await, guarantor().await],
            collaterals: [collateral().await, collateral().await],
            documents: [document().await, document().await],
        }
    }
}

/// Makes the loans anew that a write has used up: those that are named.
macro_rules! anew {
    ($($ready:ident: $field:ident$([$at:literal])? = |$world:ident| $make:expr;)*) => {$(
        fn $ready($world: &mut World) -> BoxFuture<'_, ()> {
            async { $world.lending.$field$([$at])? = $make.await }.boxed()
        }
    )*};
}

anew! {
    new_pending: pending = |world| applies(&world.ada);
    new_withdrawn: withdrawn = |world| applies(&world.ada);
    new_asked: asked = |world| walked(&world.ada, &world.teller, &world.approver, 1);
    new_reviewed: reviewed = |world| walked(&world.ada, &world.teller, &world.approver, 1);
    new_refused: refused = |world| applies(&world.ada);
    new_approved: approved = |world| walked(&world.ada, &world.teller, &world.approver, 2);
    new_owed: owed = |world| walked(&world.ada, &world.teller, &world.approver, 3);
    new_given_up: given_up = |world| walked(&world.ada, &world.teller, &world.approver, 3);
    new_guarantor: guarantors[0] = |world| with(&world.ada, "guarantors", &guarantor(), "guarantorId");
    other_guarantor: guarantors[1] = |world| with(&world.ada, "guarantors", &guarantor(), "guarantorId");
    new_collateral: collaterals[0] = |world| with(&world.ada, "collateral", &collateral(), "collateralId");
    new_document: documents[0] = |world| with(&world.ada, "documents", &document(), "documentId");
    other_document: documents[1] = |world| with(&world.ada, "documents", &document(), "documentId");
    other_collateral: collaterals[1] = |world| with(&world.ada, "collateral", &collateral(), "collateralId");
}

pub fn rows() -> Vec<Row> {
    [customers(), decisions(), items()].into_iter().flatten().collect()
}

fn customers() -> Vec<Row> {
    let own = Names::Own(Thing::Loan);
    let pending = |row: Row| Row {
        own: |world| &world.lending.pending,
        strangers: |world| &world.lending.strangers,
        ready: new_pending,
        ..row
    };
    vec![
        get("/v1/loans/products", Access::LoggedIn, Names::Nothing),
        // Nothing is kept of it.
        Row {
            replays: false,
            ..post("/v1/loans/calculator", Access::LoggedIn, Names::Nothing, |_, _| {
                json!({
                    "productId": "LN-PER-001", "amount": 10_000_000, "tenure": 12, "monthlyIncome": 40_000_000,
                    "existingLoans": [], "creditScore": 700, "employmentType": "EMPLOYED",
                })
            })
        },
        post("/v1/loans", WRITE, Names::Nothing, |_, _| application()),
        get("/v1/loans", READ, Names::Nothing),
        pending(get("/v1/loans/{loanId}", READ, own)),
        pending(get("/v1/loans/{loanId}/statement", READ, own)),
        pending(post("/v1/loans/{loanId}/guarantors", WRITE, own, |_, _| guarantor())),
        pending(post("/v1/loans/{loanId}/documents", WRITE, own, |_, _| document())),
        pending(post("/v1/loans/{loanId}/collateral", WRITE, own, |_, _| collateral())),
        Row {
            own: |world| &world.lending.withdrawn,
            strangers: |world| &world.lending.strangers,
            ready: new_withdrawn,
            ..post("/v1/loans/{loanId}/withdraw", WRITE, own, |_, _| json!({"reason": "Found the money"}))
        },
        Row {
            own: |world| &world.lending.owed,
            strangers: |world| &world.lending.strangers,
            ready: new_owed,
            ..post("/v1/payments/loans/{loanId}", WRITE, own, |world, _| {
                json!({
                    "amount": 1_000, "currency": "NGN", "paymentType": "SCHEDULED", "sourceAccount": world.ada.current,
                    "narration": "June", "reference": "ROOF",
                })
            })
        },
    ]
}

fn decisions() -> Vec<Row> {
    let anybodys = Names::Anybodys(Thing::Loan);
    let (reviews, approves) = (Access::Needs(LoanReview), Access::Needs(LoanApprove));
    let note = |_: &World, _: &str| -> Value { json!({"note": "Called the employer"}) };
    let reason = |_: &World, _: &str| -> Value { json!({"reason": "Not now"}) };
    vec![
        get("/v1/staff/loans", reviews, Names::Nothing),
        Row {
            own: |world| &world.lending.pending,
            or: &[LoanApprove, LoanDisburse],
            ..get("/v1/staff/loans/{loanId}", reviews, anybodys)
        },
        Row {
            own: |world| &world.lending.owed,
            by: Some(|world| &world.auditor.client),
            ..get("/v1/audit/explain/loans/{loanId}", Access::Needs(AuditRead), anybodys)
        },
        Row {
            own: |world| &world.lending.pending,
            ready: new_pending,
            ..post("/v1/staff/loans/{loanId}/start-review", reviews, anybodys, note)
        },
        Row {
            own: |world| &world.lending.asked,
            ready: new_asked,
            ..post("/v1/staff/loans/{loanId}/request-info", reviews, anybodys, note)
        },
        Row {
            own: |world| &world.lending.reviewed,
            ready: new_reviewed,
            ..post("/v1/staff/loans/{loanId}/approve", approves, anybodys, note)
        },
        Row {
            own: |world| &world.lending.refused,
            ready: new_refused,
            ..post("/v1/staff/loans/{loanId}/reject", approves, anybodys, reason)
        },
        Row {
            own: |world| &world.lending.approved,
            ready: new_approved,
            ..post("/v1/staff/loans/{loanId}/disburse", Access::Needs(LoanDisburse), anybodys, note)
        },
        Row {
            own: |world| &world.lending.given_up,
            ready: new_given_up,
            ..post("/v1/staff/loans/{loanId}/write-off", approves, anybodys, reason)
        },
    ]
}

fn items() -> Vec<Row> {
    let item = Names::Anybodys(Thing::LoanItem);
    let reviews = Access::Needs(LoanReview);
    let note = |_: &World, _: &str| -> Value { json!({"note": "Seen"}) };
    let reason = |_: &World, _: &str| -> Value { json!({"reason": "Not theirs"}) };
    vec![
        Row {
            own: |world| &world.lending.documents[0],
            ..get("/v1/staff/loans/{loanId}/documents/{documentId}/content", reviews, item)
        },
        Row {
            own: |world| &world.lending.documents[0],
            ready: new_document,
            ..post("/v1/staff/loans/{loanId}/documents/{documentId}/verify", reviews, item, note)
        },
        Row {
            own: |world| &world.lending.documents[1],
            ready: other_document,
            ..post("/v1/staff/loans/{loanId}/documents/{documentId}/reject", reviews, item, reason)
        },
        Row {
            own: |world| &world.lending.guarantors[0],
            ready: new_guarantor,
            ..post("/v1/staff/loans/{loanId}/guarantors/{guarantorId}/verify", reviews, item, note)
        },
        Row {
            own: |world| &world.lending.guarantors[1],
            ready: other_guarantor,
            ..post("/v1/staff/loans/{loanId}/guarantors/{guarantorId}/reject", reviews, item, reason)
        },
        Row {
            own: |world| &world.lending.collaterals[0],
            ready: new_collateral,
            ..post("/v1/staff/loans/{loanId}/collateral/{collateralId}/verify", reviews, item, note)
        },
        Row {
            own: |world| &world.lending.collaterals[1],
            ready: other_collateral,
            ..post("/v1/staff/loans/{loanId}/collateral/{collateralId}/reject", reviews, item, reason)
        },
    ]
}
