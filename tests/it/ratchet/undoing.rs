//! Rows about payments that were made, and the payments they are about.

use bursar_domain::kernel::Permission::{AccountOps, DisputeResolve};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use reqwest::Method;
use serde_json::{Value, json};

use super::row::{Access, Names, READ, Row, Thing, WRITE, delete, get, post};
use super::world::World;
use crate::support::Person;
use crate::support::client::transfer;

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
    /// What Ada repeats, and what somebody else does.
    repeated: [String; 3],
    strangers_repeated: String,
}

impl Undoing {
    pub async fn new(ada: &Person, bola: &Person, chidi: &Person, approver: &Person) -> Self {
        Self {
            by_payer: pays(ada, bola).await,
            by_staff: pays(ada, bola).await,
            disputable: pays(ada, bola).await,
            pending: disputes(ada, bola).await,
            withdrawn: disputes(ada, bola).await,
            under_review: reviewed(ada, bola, approver).await,
            repeated: [repeats(ada, bola).await, repeats(ada, bola).await, repeats(ada, bola).await],
            strangers: (pays(bola, chidi).await, disputes(bola, chidi).await),
            strangers_repeated: repeats(bola, chidi).await,
        }
    }
}

async fn pays(payer: &Person, payee: &Person) -> String {
    let body = transfer(&payer.current, &payee.current, 1_000);
    let paid = payer.client.post("/v1/payments/transfer/internal", &body).await.is(201);
    paid.text_at("transactionId").to_owned()
}

async fn disputes(payer: &Person, payee: &Person) -> String {
    let path = format!("/v1/transactions/{}/dispute", pays(payer, payee).await);
    let begun = payer.client.post(&path, &json!({"disputeAmount": 700})).await.is(201);
    begun.text_at("disputeId").to_owned()
}

async fn reviewed(payer: &Person, payee: &Person, approver: &Person) -> String {
    let dispute = disputes(payer, payee).await;
    let path = format!("/v1/staff/disputes/{dispute}/start-review");
    approver.client.post(&path, &json!({})).await.is(200);
    dispute
}

async fn repeats(payer: &Person, payee: &Person) -> String {
    let path = format!("/v1/transactions/{}/recurring", pays(payer, payee).await);
    let body = json!({"frequency": "YEARLY", "startDate": "2099-01-01T00:00:00Z"});
    payer.client.post(&path, &body).await.is(201).text_at("recurringId").to_owned()
}

/// Payments that nothing was done about.
fn new_payments(world: &mut World) -> BoxFuture<'_, ()> {
    async {
        let undoing = &mut world.undoing;
        for payment in [&mut undoing.by_payer, &mut undoing.by_staff, &mut undoing.disputable] {
            *payment = pays(&world.ada, &world.bola).await;
        }
    }
    .boxed()
}

/// Disputes that have not moved.
fn new_disputes(world: &mut World) -> BoxFuture<'_, ()> {
    async {
        world.undoing.pending = disputes(&world.ada, &world.bola).await;
        world.undoing.withdrawn = disputes(&world.ada, &world.bola).await;
        world.undoing.under_review = reviewed(&world.ada, &world.bola, &world.approver).await;
    }
    .boxed()
}

/// Recurrences that are active.
fn new_recurrences(world: &mut World) -> BoxFuture<'_, ()> {
    async {
        for repeated in &mut world.undoing.repeated {
            *repeated = repeats(&world.ada, &world.bola).await;
        }
    }
    .boxed()
}

pub fn rows() -> Vec<Row> {
    [reversals(), complaints(), recurrences()].into_iter().flatten().collect()
}

fn reversals() -> Vec<Row> {
    let own = Names::Own(Thing::Transaction);
    let reversal = |_: &World, _: &str| -> Value {
        json!({"reason": "Paid twice", "narration": "Back", "acknowledgeTerms": true})
    };
    vec![
        Row {
            own: |world| &world.undoing.by_payer,
            ready: new_payments,
            strangers: |world| &world.undoing.strangers.0,
            ..post("/v1/transactions/{transactionId}/reverse", WRITE, own, reversal)
        },
        Row {
            own: |world| &world.undoing.by_staff,
            ready: new_payments,
            ..post(
                "/v1/staff/transactions/{transactionId}/reverse",
                Access::Needs(AccountOps),
                Names::Anybodys(Thing::Transaction),
                reversal,
            )
        },
    ]
}

fn complaints() -> Vec<Row> {
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
            ready: new_payments,
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
            ready: new_disputes,
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
            ready: new_disputes,
            ..post("/v1/staff/disputes/{disputeId}/start-review", decides, anybodys, note)
        },
        Row {
            own: |world| &world.undoing.under_review,
            ready: new_disputes,
            ..post("/v1/staff/disputes/{disputeId}/resolve", decides, anybodys, resolution)
        },
    ]
}

fn recurrences() -> Vec<Row> {
    let own = Names::Own(Thing::Recurrence);
    let plan = |_: &World, _: &str| -> Value {
        json!({
            "frequency": "MONTHLY", "startDate": "2099-01-31T00:00:00Z", "endDate": "2099-12-31T00:00:00Z",
            "executionDay": 31, "isActive": true, "description": "Rent",
        })
    };
    let change = |_: &World, _: &str| -> Value { json!({"isActive": false}) };
    vec![
        Row {
            own: |world| &world.undoing.disputable,
            strangers: |world| &world.undoing.strangers.0,
            ..post("/v1/transactions/{transactionId}/recurring", WRITE, Names::Own(Thing::Transaction), plan)
        },
        get("/v1/recurring", READ, Names::Nothing),
        Row {
            own: |world| &world.undoing.repeated[0],
            strangers: |world| &world.undoing.strangers_repeated,
            ..get("/v1/recurring/{recurringId}", READ, own)
        },
        Row {
            method: Method::PUT,
            own: |world| &world.undoing.repeated[1],
            ready: new_recurrences,
            strangers: |world| &world.undoing.strangers_repeated,
            ..post("/v1/recurring/{recurringId}", WRITE, own, change)
        },
        Row {
            own: |world| &world.undoing.repeated[2],
            ready: new_recurrences,
            strangers: |world| &world.undoing.strangers_repeated,
            ..delete("/v1/recurring/{recurringId}", WRITE, own)
        },
    ]
}
