//! T14: a key comes again with another body, from another user, on another route. Nobody is told what it was used for.

use serde_json::{Value, json};

use crate::support::chance::{did, scaled};
use crate::support::client::{Answer, transfer};
use crate::support::{Bank, Person};

const KEYS: usize = 50;
const INTERNAL: &str = "/v1/payments/transfer/internal";
const OWN: &str = "/v1/payments/transfer/self";

async fn post(person: &Person, path: &str, key: &str, body: &Value) -> Answer {
    person.client.post_with_key(path, key, body).await
}

#[tokio::test]
async fn a_key_means_one_request_of_one_caller_on_one_route() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let before = bank.done().await;
    for n in 0..scaled(KEYS) {
        let key = format!("reused-{n}");
        let mut body = transfer(&ada.current, &bola.current, 10);
        body["narration"] = json!(format!("Secret {n}"));
        let first = post(&ada, INTERNAL, &key, &body).await.is(201);
        // Another body: in one field, in the smallest way.
        let field = ["amount", "narration", "destinationAccount", "reference"][n % 4];
        let mut other = body.clone();
        other[field] = match field {
            "amount" => json!(11),
            "destinationAccount" => json!(bola.savings),
            _ => json!(format!("{} ", other[field].as_str().unwrap().to_uppercase())),
        };
        let refused = post(&ada, INTERNAL, &key, &other).await.problem(422, "IDEMPOTENCY_KEY_REUSED");
        let id = first.text_at("transactionId").to_owned();
        assert!(!refused.text.contains(&id) && !refused.text.contains("Secret"), "{}", refused.text);
        // Another user and another route: theirs, and new.
        let theirs = transfer(&bola.current, &ada.current, 10);
        let own = json!({"sourceAccount": ada.current, "destinationAccount": ada.savings, "amount": 1, "currency": "NGN"});
        for (person, path, body) in [(&bola, INTERNAL, &theirs), (&ada, OWN, &own)] {
            let made = post(person, path, &key, body).await.is(201);
            assert_eq!(made.header("idempotent-replayed"), "");
            assert!(!made.text.contains(&id) && !made.text.contains("Secret"), "{}", made.text);
        }
        // And what was meant first is still what it means.
        let again = post(&ada, INTERNAL, &key, &body).await.is(201);
        assert_eq!((again.header("idempotent-replayed"), &again.text), ("true", &first.text));
    }
    let keys = scaled(KEYS);
    assert_eq!(bank.done().await - before, 3 * i64::try_from(keys).unwrap());
    did(keys, "keys used again");
    bank.caught_up().await;
    bank.close().await;
}
