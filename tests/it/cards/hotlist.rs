//! Cards that are blocked: until somebody unblocks them, for a while, or for ever.

use serde_json::{Value, json};

use super::{EXTERNAL, VISA, card, fund, link, read, remove};
use crate::support::client::Answer;
use crate::support::{Bank, Person};

async fn hotlist(person: &Person, card: &str, body: Value) -> Answer {
    person.client.post(&format!("/v1/cards/{card}/hotlist"), &body).await
}

#[tokio::test]
async fn a_blocked_card_pays_nothing_until_it_is_unblocked() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let id = link(&ada, VISA).await;
    let block = json!({"action": "BLOCK", "reason": "Mislaid", "temporary": false});
    let blocked = hotlist(&ada, &id, block.clone()).await.is(200);
    for (member, value) in [
        ("status", json!("SUCCESS")),
        ("cardId", json!(id)),
        ("action", json!("BLOCK")),
        ("cardStatus", json!("BLOCKED")),
        ("unblockDate", Value::Null),
    ] {
        assert_eq!(blocked.body[member], value, "{member}");
    }
    assert_eq!(read(&ada, &id).await.is(200).body["cardStatus"], "BLOCKED");
    let refused = fund(&ada, &id, 100).await.problem(409, "INVALID_STATE");
    assert_eq!(refused.body["currentState"], "BLOCKED");
    hotlist(&ada, &id, block).await.problem(409, "INVALID_STATE");
    bank.later(400 * 24 * 60 * 60).await;
    let ada = bank.ada().await;
    let unblocked = hotlist(&ada, &id, json!({"action": "UNBLOCK"})).await.is(200);
    assert_eq!(
        (&unblocked.body["action"], &unblocked.body["cardStatus"]),
        (&json!("UNBLOCK"), &json!("ACTIVE"))
    );
    fund(&ada, &id, 100).await.is(201);
    bank.close().await;
}

#[tokio::test]
async fn a_temporary_block_ends_by_itself() {
    let bank = Bank::open().await;
    for (duration, seconds) in [("PT24H", 86_400), ("24h", 86_400), ("7d", 7 * 86_400)] {
        let ada = bank.ada().await;
        let id = link(&ada, VISA).await;
        let block = json!({"action": "BLOCK", "temporary": true, "duration": duration});
        let blocked = hotlist(&ada, &id, block).await.is(200);
        let at = |member: &str| blocked.text_at(member).parse::<jiff::Timestamp>().unwrap();
        // The two are read from the clock one after the other.
        let length = at("unblockDate").duration_since(at("processedAt")).as_secs();
        assert!((length - seconds).abs() <= 1, "{duration}: {length}");
        bank.later(seconds - 60).await;
        fund(&bank.ada().await, &id, 100).await.problem(409, "INVALID_STATE");
        bank.later(61).await;
        let ada = bank.ada().await;
        bank.caught_up().await;
        assert_eq!(read(&ada, &id).await.is(200).body["cardStatus"], "ACTIVE");
        fund(&ada, &id, 100).await.is(201);
        remove(&ada, &id).await.is(200);
    }
    assert_eq!(bank.events_of("card.unblocked").await, 3);
    // A card that went, and one that was unblocked by hand, are not unblocked once more.
    let ada = bank.ada().await;
    let (gone, free) = (link(&ada, VISA).await, link(&ada, "4242424242424242").await);
    for id in [&gone, &free] {
        hotlist(&ada, id, json!({"action": "BLOCK", "temporary": true, "duration": "PT1H"})).await.is(200);
    }
    remove(&ada, &gone).await.is(200);
    hotlist(&ada, &free, json!({"action": "UNBLOCK"})).await.is(200);
    bank.later(3_700).await;
    assert_eq!(bank.events_of("card.unblocked").await, 4);
    for (body, pointer) in [
        (json!({"action": "BLOCK", "temporary": true}), "/duration"),
        (json!({"action": "BLOCK", "temporary": true, "duration": "PT0S"}), "/duration"),
        (json!({"action": "BLOCK", "temporary": true, "duration": "P400D"}), "/duration"),
        (json!({"action": "BLOCK", "temporary": true, "duration": "soon"}), "/duration"),
        (json!({"action": "BLOCK", "temporary": true, "duration": "P1D", "reason": "LOST"}), "/temporary"),
        (json!({"action": "MELT"}), "/action"),
    ] {
        assert_eq!(hotlist(&bank.ada().await, &free, body).await.pointers(), [pointer]);
    }
    bank.close().await;
}

#[tokio::test]
async fn a_card_that_was_reported_lost_or_stolen_never_pays_again() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let id = link(&ada, VISA).await;
    hotlist(&ada, &id, json!({"action": "BLOCK", "reason": "STOLEN"})).await.is(200);
    let refused = hotlist(&ada, &id, json!({"action": "UNBLOCK"})).await.problem(409, "INVALID_STATE");
    assert_eq!(refused.body["currentState"], "BLOCKED");
    remove(&ada, &id).await.is(200);
    ada.client.post(EXTERNAL, &card(VISA)).await.problem(409, "CARD_REPORTED");
    bank.close().await;
}
