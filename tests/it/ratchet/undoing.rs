//! Rows about payments that were made, and the payments they are about.

use bursar_domain::kernel::Permission::{AccountOps, DisputeResolve};
use serde_json::{Value, json};

use super::table::{Access, Names, READ, Row, Thing, WRITE, World, get, post};
use crate::support::{Client, Person};

/// Payments of Ada's and disputes about them, one for each write that needs one to itself; and those of somebody else.
pub struct Undoing {
    by_payer: String,
    by_staff: String,
    disputable: String,
    /// A payment that she has no part in, and a dispute about another.
    strangers: (String, String),
    pending: String,
    withdrawn: String,
    under_review: String,
}

impl Undoing {
    pub async fn new(ada: &Person, bola: &Person, chidi: &Person, approver: &Person) -> Self {
        let pays = async |payer: &Person, payee: &Person, key: &str| {
            let paid = payer.client.pay(&payer.current, &payee.current, 1_000, key).await.is(201);
            paid.text_at("transactionId").to_owned()
        };
        let under_review = disputes(&ada.client, &pays(ada, bola, "under review").await).await;
        let review = format!("/v1/staff/disputes/{under_review}/start-review");
        approver.client.post(&review, &json!({})).await.is(200);
        Self {
            by_payer: pays(ada, bola, "by payer").await,
            by_staff: pays(ada, bola, "by staff").await,
            disputable: pays(ada, bola, "disputable").await,
            pending: disputes(&ada.client, &pays(ada, bola, "pending").await).await,
            withdrawn: disputes(&ada.client, &pays(ada, bola, "withdrawn").await).await,
            under_review,
            strangers: (
                pays(bola, chidi, "strangers").await,
                disputes(&bola.client, &pays(bola, chidi, "disputed").await).await,
            ),
        }
    }
}

async fn disputes(client: &Client, transaction: &str) -> String {
    let path = format!("/v1/transactions/{transaction}/dispute");
    client.post(&path, &json!({"disputeAmount": 700})).await.is(201).text_at("disputeId").to_owned()
}

pub fn rows() -> Vec<Row> {
    [reversals(), disputes_rows()].into_iter().flatten().collect()
}

fn reversals() -> Vec<Row> {
    let own = Names::Own(Thing::Transaction);
    let reversal = |_: &World, _: &str| -> Value {
        json!({"reason": "Paid twice", "narration": "Back", "acknowledgeTerms": true})
    };
    vec![
        Row {
            own: |world| &world.undoing.by_payer,
            strangers: |world| &world.undoing.strangers.0,
            ..post("/v1/transactions/{transactionId}/reverse", WRITE, own, reversal)
        },
        Row {
            own: |world| &world.undoing.by_staff,
            ..post(
                "/v1/staff/transactions/{transactionId}/reverse",
                Access::Needs(AccountOps),
                Names::Anybodys(Thing::Transaction),
                reversal,
            )
        },
    ]
}

fn disputes_rows() -> Vec<Row> {
    let (own, anybodys) = (Names::Own(Thing::Dispute), Names::Anybodys(Thing::Dispute));
    let decides = Access::Needs(DisputeResolve);
    let complaint = |_: &World, _: &str| -> Value {
        json!({
            "disputeReason": "UNAUTHORIZED", "disputeAmount": 500, "description": "I was asleep",
            "supportingDocuments": ["statement.pdf"], "contactPhone": "+2348031000101",
            "contactEmail": "ada@example.com",
        })
    };
    let note = |_: &World, _: &str| -> Value { json!({"note": "Asked the shop"}) };
    let reason = |_: &World, _: &str| -> Value { json!({"reason": "It was my brother"}) };
    let resolution =
        |_: &World, _: &str| -> Value { json!({"outcome": "WON", "note": "Not their signature"}) };
    vec![
        Row {
            own: |world| &world.undoing.disputable,
            strangers: |world| &world.undoing.strangers.0,
            ..post(
                "/v1/transactions/{transactionId}/dispute",
                WRITE,
                Names::Own(Thing::Transaction),
                complaint,
            )
        },
        get("/v1/disputes", READ, Names::Nothing),
        Row {
            own: |world| &world.undoing.pending,
            strangers: |world| &world.undoing.strangers.1,
            ..get("/v1/disputes/{disputeId}", READ, own)
        },
        Row {
            own: |world| &world.undoing.withdrawn,
            strangers: |world| &world.undoing.strangers.1,
            ..post("/v1/disputes/{disputeId}/withdraw", WRITE, own, reason)
        },
        get("/v1/staff/disputes", decides, Names::Nothing),
        Row {
            own: |world| &world.undoing.pending,
            ..get("/v1/staff/disputes/{disputeId}", decides, anybodys)
        },
        Row {
            own: |world| &world.undoing.pending,
            ..post("/v1/staff/disputes/{disputeId}/start-review", decides, anybodys, note)
        },
        Row {
            own: |world| &world.undoing.under_review,
            ..post("/v1/staff/disputes/{disputeId}/resolve", decides, anybodys, resolution)
        },
    ]
}
