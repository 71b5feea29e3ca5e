//! Rows about payments that were made, and the payments they are about.

use bursar_domain::kernel::Permission::AccountOps;
use serde_json::{Value, json};

use super::table::{Access, Names, Row, Thing, WRITE, World, post};
use crate::support::Person;

/// Payments of Ada's, one for each write that needs one to itself; and one that she has no part in.
pub struct Undoing {
    by_payer: String,
    by_staff: String,
    strangers: String,
}

impl Undoing {
    pub async fn new(ada: &Person, bola: &Person, chidi: &Person) -> Self {
        let pays = async |payer: &Person, payee: &Person, key: &str| {
            let paid = payer.client.pay(&payer.current, &payee.current, 1_000, key).await.is(201);
            paid.text_at("transactionId").to_owned()
        };
        Self {
            by_payer: pays(ada, bola, "by payer").await,
            by_staff: pays(ada, bola, "by staff").await,
            strangers: pays(bola, chidi, "strangers").await,
        }
    }
}

pub fn rows() -> Vec<Row> {
    let own = Names::Own(Thing::Transaction);
    let reversal = |_: &World, _: &str| -> Value {
        json!({"reason": "Paid twice", "narration": "Back", "acknowledgeTerms": true})
    };
    vec![
        Row {
            own: |world| &world.undoing.by_payer,
            strangers: |world| &world.undoing.strangers,
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
