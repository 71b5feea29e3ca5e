//! Two server processes on one log.

use futures_util::future::join_all;
use jiff::SignedDuration;

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

#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_token_presented_at_two_servers_at_once_has_one_successor() {
    let bank = Bank::open().await;
    let (second, address) = bank.second().await;
    for _ in 0..10 {
        let session = bank.client().session("ada@example.com", "phone").await;
        let refresh = serde_json::json!({"refreshToken": session["refreshToken"], "deviceId": "phone"});
        let (here, there) = (bank.client(), bank.client().at(address));
        let asked = (0..6).map(|n| {
            let client = if n % 2 == 0 { &here } else { &there };
            client.post("/v1/users/token/refresh", &refresh)
        });
        let answers = join_all(asked).await;
        let successors: std::collections::HashSet<_> =
            answers.into_iter().map(|answer| answer.is(200).text_at("refreshToken").to_owned()).collect();
        assert_eq!(successors.len(), 1);
        // A thief's device among them ends it for all.
        let stolen = serde_json::json!({"refreshToken": session["refreshToken"], "deviceId": "thief"});
        there.post("/v1/users/token/refresh", &stolen).await.problem(401, "INVALID_TOKEN");
        let next = serde_json::json!({"refreshToken": successors.iter().next(), "deviceId": "phone"});
        here.post("/v1/users/token/refresh", &next).await.problem(401, "INVALID_TOKEN");
    }
    second.close().await;
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_passwords_at_two_servers_are_counted_together() {
    let bank = Bank::open().await;
    let (second, address) = bank.second().await;
    let wrong = serde_json::json!({
        "username": "ada@example.com", "password": "not-her-password", "deviceInfo": {"deviceId": "phone"},
    });
    let (here, there) = (bank.client(), bank.client().at(address));
    let runs = || bank.app.passwords.runs() + second.passwords.runs();
    let before = runs();
    let guesses = (0..40).map(|n| {
        let client = if n % 2 == 0 { &here } else { &there };
        client.post("/v1/users/password/login", &wrong)
    });
    let answers = join_all(guesses).await;
    assert_eq!(runs() - before, 5, "each is counted before it is looked at");
    assert_eq!(answers.iter().filter(|answer| answer.status == 401).count(), 5);
    assert_eq!(answers.iter().filter(|answer| answer.status == 429).count(), 35);
    second.close().await;
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_clock_is_late_writes_nothing_before_what_another_has_relied_on() {
    let bank = Bank::open().await;
    let (second, address) = bank.second().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let late = ada.client.at(address);
    late.pay(&ada.current, &bola.current, 1, "in time").await.is(201);
    bank.advance(SignedDuration::from_mins(10));
    let relied_on = bank.app.journal.sources().clock.now();
    bank.app.journal.settled().await.unwrap();
    late.pay(&ada.current, &bola.current, 1, "late").await.is(201);
    let sql = "SELECT max(recorded_at) >= $1::timestamptz FROM events";
    let sql = sqlx::query_scalar::<_, bool>(sql).bind(relied_on.to_string());
    assert!(sql.fetch_one(&bank.pool).await.unwrap());
    second.close().await;
    bank.close().await;
}
