//! Two server processes on one log.

use futures_util::future::join_all;

use crate::support::Bank;

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_write_one_log() {
    let bank = Bank::open().await;
    let (second, address) = bank.second().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let has = ada.client.balance(&ada.current).await;
    let share = has / 40;
    let there = ada.client.at(address);
    let keys: Vec<String> = (0..100).map(|n| format!("two-{n}")).collect();
    // Every key goes to both servers at once.
    let here = join_all(keys.iter().map(|key| ada.client.pay(&ada.current, &bola.current, share, key)));
    let elsewhere = join_all(keys.iter().map(|key| there.pay(&ada.current, &bola.current, share, key)));
    let (here, elsewhere) = tokio::join!(here, elsewhere);
    let mut paid = 0;
    for (one, other) in here.iter().zip(&elsewhere) {
        match (one.status, other.status) {
            (201, 201) => {
                assert_eq!(one.text, other.text);
                paid += 1;
            }
            // Refused first, and refused again: nothing came back in between.
            (422, 422) => {}
            statuses => panic!("{statuses:?} {} {}", one.text, other.text),
        }
    }
    assert_eq!(paid, 40);
    assert_eq!(ada.client.balance(&ada.current).await, has - 40 * share);
    second.close().await;
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_server_knows_is_never_older_than_what_the_other_wrote() {
    let bank = Bank::open().await;
    let (second, address) = bank.second().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let there = ada.client.at(address);
    let has = ada.client.balance(&ada.current).await;
    // Both have the account in memory; then it is emptied through one and tried through the other, back and forth.
    for round in 0..12 {
        let (payer, other) = if round % 2 == 0 { (&ada.client, &there) } else { (&there, &ada.client) };
        payer.pay(&ada.current, &bola.current, has, &format!("empty-{round}")).await.is(201);
        let refused = other.pay(&ada.current, &bola.current, 1, &format!("more-{round}")).await;
        assert_eq!(refused.problem(422, "INSUFFICIENT_FUNDS").body["availableBalance"], 0);
        bola.client.pay(&bola.current, &ada.current, has, &format!("refill-{round}")).await.is(201);
    }
    second.close().await;
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_revoked_at_one_server_has_ended_at_the_other() {
    let bank = Bank::open().await;
    let (second, address) = bank.second().await;
    let session = bank.client().session("ada@example.com", "phone").await;
    let here = bank.client().with_token(session["accessToken"].as_str().unwrap());
    let there = here.at(address);
    there.get("/v1/accounts").await.is(200);
    let revoke = serde_json::json!({
        "accessToken": session["accessToken"], "refreshToken": session["refreshToken"], "deviceId": "phone",
    });
    let revoked = here.post("/v1/users/token/revoke", &revoke).await.is(200);
    here.get("/v1/accounts").await.problem(401, "UNAUTHENTICATED");
    let position = revoked.header("bursar-position").parse::<i64>().unwrap();
    let mut head = second.journal.head();
    head.wait_for(|reached| *reached >= position).await.unwrap();
    there.get("/v1/accounts").await.problem(401, "UNAUTHENTICATED");
    second.close().await;
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_written_at_one_server_is_read_at_the_other() {
    let bank = Bank::open().await;
    let (second, address) = bank.second().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let there = ada.client.at(address);
    let mut head = second.journal.head();
    for n in 0..10 {
        let paid = ada.client.pay(&ada.current, &bola.current, 10 + n, &format!("there-{n}")).await.is(201);
        let position = paid.header("bursar-position").parse::<i64>().unwrap();
        // As soon as the other server has heard of it, which takes milliseconds ...
        head.wait_for(|reached| *reached >= position).await.unwrap();
        // ... it reads nothing older, however far its read models are.
        let statement = there.get(&format!("/v1/accounts/{}/statement?size=1", ada.current)).await.is(200);
        assert_eq!(statement.body["transactions"][0]["transactionId"], paid.body["transactionId"]);
    }
    second.close().await;
    bank.close().await;
}
