//! Rows about what is paid again and again.

use bursar_domain::kernel::Permission::AuditRead;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use reqwest::Method;
use serde_json::{Value, json};

use super::row::{Access, Names, READ, Row, Thing, WRITE, delete, get, post};
use super::world::World;
use crate::support::Person;

/// Mandates of Ada's, one for each operation that needs one to itself, and one of Bola's.
pub struct Standing {
    read: String,
    changed: String,
    cancelled: String,
    strangers: String,
}

impl Standing {
    pub async fn new(ada: &Person, bola: &Person) -> Self {
        Self {
            read: instructs(ada, bola).await,
            changed: instructs(ada, bola).await,
            cancelled: instructs(ada, bola).await,
            strangers: instructs(bola, ada).await,
        }
    }
}

async fn instructs(payer: &Person, payee: &Person) -> String {
    let body = json!({
        "amount": 1_000, "currency": "NGN", "frequency": "YEARLY", "startDate": "2099-01-01T00:00:00Z",
        "sourceAccount": payer.current, "beneficiaryAccount": payee.current,
    });
    payer.client.post("/v1/mandates", &body).await.is(201).text_at("mandateId").to_owned()
}

/// Mandates that are active.
fn new_mandates(world: &mut World) -> BoxFuture<'_, ()> {
    async {
        world.standing.changed = instructs(&world.ada, &world.bola).await;
        world.standing.cancelled = instructs(&world.ada, &world.bola).await;
    }
    .boxed()
}

pub fn rows() -> Vec<Row> {
    let own = |row: Row| Row {
        names: Names::Own(Thing::Mandate),
        own: |world| &world.standing.read,
        strangers: |world| &world.standing.strangers,
        ..row
    };
    let mandate = |world: &World, account: &str| -> Value {
        json!({
            "mandateName": "Rent", "mandateType": "PAYMENT", "amount": 1_000, "currency": "NGN",
            "frequency": "MONTHLY", "startDate": "2099-01-31T00:00:00Z", "endDate": "2099-12-31T00:00:00Z",
            "executionDay": 31, "sourceAccount": account, "beneficiaryAccount": world.bola.current,
            "beneficiaryName": "Bola", "description": "Flat 3", "isActive": true,
        })
    };
    let change = |_: &World, _: &str| -> Value {
        json!({
            "mandateName": "Less rent", "amount": 900, "frequency": "WEEKLY", "endDate": null,
            "description": null, "executionDay": 5, "isActive": false,
        })
    };
    vec![
        get("/v1/mandates", READ, Names::Nothing),
        post("/v1/mandates", WRITE, Names::Own(Thing::Account), mandate),
        own(get("/v1/mandates/{mandateId}", READ, Names::Nothing)),
        Row {
            own: |world| &world.standing.read,
            by: Some(|world| &world.auditor.client),
            ..get(
                "/v1/audit/explain/mandates/{mandateId}",
                Access::Needs(AuditRead),
                Names::Anybodys(Thing::Mandate),
            )
        },
        Row {
            method: Method::PUT,
            own: |world| &world.standing.changed,
            ready: new_mandates,
            ..own(post("/v1/mandates/{mandateId}", WRITE, Names::Nothing, change))
        },
        Row {
            own: |world| &world.standing.cancelled,
            ready: new_mandates,
            ..own(delete("/v1/mandates/{mandateId}", WRITE, Names::Nothing))
        },
    ]
}
