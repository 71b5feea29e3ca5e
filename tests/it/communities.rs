//! Communities: never one too many, and money that goes out only as the rules let it.

use bursar_domain::kernel::{CommunityId, MandateId};
use futures_util::future::join_all;
use jiff::ToSpan as _;
use reqwest::Method;
use serde_json::{Value, json};

use crate::recurrences::{on, today};
use crate::support::client::Answer;
use crate::support::{Bank, Person};

async fn begin(admin: &Person, fields: Value) -> Answer {
    let mut body = json!({"communityName": "Esusu", "category": "SAVINGS"});
    let Value::Object(fields) = fields else { panic!() };
    body.as_object_mut().unwrap().extend(fields);
    admin.client.post("/v1/communities", &body).await.is(201)
}

fn of(community: &Answer) -> String {
    format!("/v1/communities/{}", community.text_at("communityId"))
}

async fn put(person: &Person, path: &str, body: Value) -> Answer {
    person.client.request(Method::PUT, path).json(&body).send().await
}

async fn join(person: &Person, community: &Answer) -> Answer {
    let code = community.text_at("inviteCode");
    person.client.post(&format!("{}/join", of(community)), &json!({"inviteCode": code})).await
}

async fn balance(person: &Person, community: &Answer) -> i64 {
    person.client.get(&of(community)).await.is(200).body["balance"].as_i64().unwrap()
}

async fn withdraw(person: &Person, community: &Answer, amount: i64) -> Answer {
    let body = json!({"amount": amount, "destinationAccount": person.current});
    person.client.post(&format!("{}/withdrawals", of(community)), &body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seat_is_taken_once_however_many_want_it() {
    let bank = Bank::open().await;
    let (ada, bola, chidi) = (bank.ada().await, bank.bola().await, bank.chidi().await);
    let (teller, approver) = (bank.teller().await, bank.approver().await);
    let (_second, address) = bank.second().await;
    for _ in 0..5 {
        let community = begin(&ada, json!({"maxParticipants": 2})).await;
        put(&ada, &of(&community), json!({"autoApprove": true})).await.is(200);
        let path = format!("{}/join", of(&community));
        let code = json!({"inviteCode": community.text_at("inviteCode")});
        let people = [&bola, &chidi, &teller, &approver];
        // Each of them asks both servers at once.
        let everywhere = people.iter().flat_map(|one| [one.client.clone(), one.client.at(address)]);
        let asks = everywhere.map(|client| {
            let (path, code) = (path.clone(), code.clone());
            async move { client.post(&path, &code).await }
        });
        let answers = join_all(asks).await;
        let joined = answers.iter().filter(|answer| answer.status == 200).count();
        let refused = answers.iter().filter(|answer| answer.status == 409).count();
        assert_eq!((joined, refused), (1, 7));
        bank.caught_up().await;
        let seen = ada.client.get(&of(&community)).await.is(200);
        assert_eq!(seen.list_at("participants").len(), 2);
        assert_eq!(seen.body["participantCount"], 2);
    }
    bank.close().await;
}

#[tokio::test]
async fn a_private_community_shows_itself_to_nobody_without_the_code() {
    let bank = Bank::open().await;
    let (ada, bola, chidi) = (bank.ada().await, bank.bola().await, bank.chidi().await);
    let community = begin(&ada, json!({"description": "Of us", "isPrivate": true})).await;
    let code = community.text_at("inviteCode");
    assert_eq!(code.len(), 32, "{code}");
    let (path, unknown) = (of(&community), "/v1/communities/com_0192f0c1a00070008000000000000abc");
    for body in [json!({}), json!({"inviteCode": "0".repeat(32)})] {
        let here =
            bola.client.post(&format!("{path}/join"), &body).await.problem(404, "NOT_FOUND").body["detail"]
                .clone();
        let nowhere = bola.client.post(&format!("{unknown}/join"), &body).await;
        assert_eq!(here, nowhere.problem(404, "NOT_FOUND").body["detail"].clone());
    }
    bola.client.get(&path).await.problem(404, "NOT_FOUND");
    // The code is answered once; a repeat of the request has it again, and nothing else has.
    let seen = ada.client.get(&path).await.is(200);
    assert!(!seen.text.contains(code));
    // With the code the admin is asked, and told so.
    let asked = join(&bola, &community).await.is(200);
    assert_eq!(asked.body["status"], "INVITATION_REQUESTED");
    bola.client.get(&path).await.problem(404, "NOT_FOUND");
    let invitation = format!("{path}/invitations/{}", asked.text_at("invitationId"));
    put(&chidi, &invitation, json!({"action": "ACCEPT"})).await.problem(404, "NOT_FOUND");
    put(&bola, &invitation, json!({"action": "ACCEPT"})).await.problem(404, "NOT_FOUND");
    let let_in = put(&ada, &invitation, json!({"action": "ACCEPT"})).await.is(200);
    assert_eq!(let_in.body["communityDetails"]["description"], "Of us");
    put(&ada, &invitation, json!({"action": "DENY"})).await.problem(409, "INVALID_STATE");
    bank.caught_up().await;
    bola.client.get(&path).await.is(200);
    put(&bola, &path, json!({"isPrivate": false})).await.problem(403, "ADMIN_ONLY");
    bank.close().await;
}

#[tokio::test]
async fn whoever_is_invited_answers_and_nobody_else() {
    let bank = Bank::open().await;
    let (ada, bola, chidi) = (bank.ada().await, bank.bola().await, bank.chidi().await);
    let community = begin(&ada, json!({})).await;
    let path = of(&community);
    let invitee = json!({"inviteeEmail": "Bola@Example.com", "inviteeName": "Bola", "message": "Join us"});
    let invited = ada.client.post(&format!("{path}/participants"), &invitee).await.is(201);
    assert_eq!((&invited.body["role"], &invited.body["inviteeName"]), (&json!("MEMBER"), &json!("Bola")));
    bank.app.processes.run_due().await.unwrap();
    let told = bank.client().get("/v1/sandbox/messages?to=Bola@Example.com").await.is(200);
    let id = invited.text_at("invitationId");
    assert!(told.text.contains(id), "{}", told.text);
    let answer = invited.text_at("inviteLink").to_owned();
    put(&chidi, &answer, json!({"action": "ACCEPT"})).await.problem(404, "NOT_FOUND");
    put(&bola, &answer, json!({"action": "PERHAPS"})).await.problem(400, "VALIDATION_FAILED");
    let accepted = put(&bola, &answer, json!({"action": "ACCEPT"})).await.is(200);
    assert_eq!((&accepted.body["action"], &accepted.body["invitationId"]), (&json!("ACCEPT"), &json!(id)));
    let participant = format!("{path}/participants/{}", accepted.text_at("participantId"));
    chidi.client.delete(&participant).await.problem(404, "NOT_FOUND");
    let removed = ada.client.delete(&participant).await.is(200);
    assert_eq!(removed.body["removedBy"], json!(bank.user("ada@example.com").await));
    bola.client.get(&path).await.problem(404, "NOT_FOUND");
    let admin = format!("{path}/participants/{}", community.text_at("participantId"));
    ada.client.delete(&admin).await.problem(409, "ADMIN_STAYS");
    // Too late.
    let invited = ada.client.post(&format!("{path}/participants"), &invitee).await.is(201);
    on(&bank, today(&bank).checked_add(8.days()).unwrap()).await;
    let bola = bank.bola().await;
    let late = put(&bola, invited.text_at("inviteLink"), json!({"action": "ACCEPT"})).await;
    late.problem(409, "INVALID_STATE");
    bank.close().await;
}

#[tokio::test]
async fn contributions_are_paid_by_mandate_and_end_with_the_participation() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let community = begin(&ada, json!({})).await;
    let path = of(&community);
    let pledge = json!({"sourceAccount": bola.current});
    let contributions = format!("{path}/contributions");
    bola.client.post(&contributions, &pledge).await.problem(404, "NOT_FOUND");
    let half = put(&ada, &path, json!({"contributionAmount": 500})).await;
    half.problem(422, "RULES_INCOMPLETE");
    let rules = json!({
        "autoApprove": true, "contributionAmount": 500, "contributionFrequency": "DAILY",
        "withdrawalPolicy": "ROTATING",
    });
    let set = put(&ada, &path, rules.clone()).await.is(200);
    for field in ["autoApprove", "contributionAmount", "contributionFrequency", "withdrawalPolicy"] {
        assert_eq!(set.body[field], rules[field], "{field}");
    }
    let joined = join(&bola, &community).await.is(200);
    let pledged = bola.client.post(&contributions, &pledge).await.is(201);
    bola.client.post(&contributions, &pledge).await.problem(409, "ALREADY_CONTRIBUTING");
    let has = bola.client.balance(&bola.current).await;
    let start = today(&bank);
    on(&bank, start.checked_add(2.days()).unwrap()).await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    // Today's was made at once.
    let before = balance(&ada, &community).await;
    assert_eq!(before, 1_500);
    assert!(bola.client.balance(&bola.current).await < has);
    let statement = ada.client.get(&format!("{path}/statement")).await.is(200);
    assert_eq!(statement.body["closingBalance"], 1_500);
    assert_eq!(statement.list_at("transactions").len(), 3);
    // The policy stays as long as there is money.
    put(&ada, &path, json!({"withdrawalPolicy": "ADMIN_ONLY"})).await.problem(409, "FUNDS_HELD");
    let mandate: MandateId = pledged.text_at("mandateId").parse().unwrap();
    bola.client.delete(&format!("{path}/participants/{}", joined.text_at("participantId"))).await.is(200);
    let mandate = bola.client.get(&format!("/v1/mandates/{mandate}")).await.is(200);
    assert_eq!(mandate.body["status"], "CANCELLED");
    on(&bank, start.checked_add(5.days()).unwrap()).await;
    assert_eq!(balance(&bank.ada().await, &community).await, 1_500);
    bank.close().await;
}

#[tokio::test]
async fn a_repeat_is_answered_as_then_by_whoever_has_left_since() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let community = begin(&ada, json!({})).await;
    let path = of(&community);
    let rules = json!({
        "isPrivate": false, "autoApprove": true, "contributionAmount": 500, "contributionFrequency": "DAILY",
    });
    let policy = json!({"withdrawalPolicy": "ROTATING"});
    put(&ada, &path, rules).await.is(200);
    let was_set = ada.client.request(Method::PUT, &path).key("policy").json(&policy).send().await.is(200);
    let joined = join(&bola, &community).await.is(200);
    let asks = [
        ("participants", json!({"inviteeEmail": "chidi@example.com", "inviteeName": "Chidi"})),
        ("contributions", json!({"sourceAccount": bola.current})),
    ];
    let mut told = Vec::new();
    for (which, body) in &asks {
        told.push(bola.client.post_with_key(&format!("{path}/{which}"), which, body).await.is(201));
    }
    on(&bank, today(&bank).checked_add(1.days()).unwrap()).await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    bola.client.delete(&format!("{path}/participants/{}", joined.text_at("participantId"))).await.is(200);
    let events = bank.events().await;
    for ((which, body), before) in asks.iter().zip(&told) {
        let again = bola.client.post_with_key(&format!("{path}/{which}"), which, body).await.is(201);
        assert_eq!(again.body, before.body, "{which}");
        // Anything new is refused.
        bola.client.post(&format!("{path}/{which}"), body).await.problem(404, "NOT_FOUND");
    }
    // There is money by now, and the policy would stay.
    let again = ada.client.request(Method::PUT, &path).key("policy").json(&policy).send().await.is(200);
    assert_eq!(again.body, was_set.body);
    assert_eq!(bank.events().await, events);
    bank.close().await;
}

#[tokio::test]
async fn nobody_gets_at_the_money_by_another_way() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let community = begin(&ada, json!({})).await;
    put(&ada, &of(&community), json!({"autoApprove": true})).await.is(200);
    join(&bola, &community).await.is(200);
    let account = community.text_at("accountNumber");
    bola.client.pay(&bola.current, account, 9_000, "in").await.is(201);
    for person in [&ada, &bola] {
        let body = json!({
            "sourceAccount": account, "destinationAccount": person.current, "amount": 1, "currency": "NGN",
        });
        person.client.post("/v1/payments/transfer/internal", &body).await.problem(404, "NOT_FOUND");
        person.client.get(&format!("/v1/accounts/{account}")).await.problem(404, "NOT_FOUND");
    }
    withdraw(&bola, &community, 1_000).await.problem(403, "WITHDRAWAL_NOT_ALLOWED");
    withdraw(&ada, &community, 9_001).await.problem(422, "INSUFFICIENT_FUNDS");
    let has = ada.client.balance(&ada.current).await;
    let paid = withdraw(&ada, &community, 4_000).await.is(201);
    assert_eq!(paid.body["withdrawalStatus"], "PAID");
    bank.caught_up().await;
    assert_eq!(ada.client.balance(&ada.current).await, has + 4_000);
    assert_eq!(balance(&bola, &community).await, 5_000);
    let id: CommunityId = community.text_at("communityId").parse().unwrap();
    let elsewhere = json!({"amount": 1, "destinationAccount": bola.current});
    let stolen = ada.client.post(&format!("/v1/communities/{id}/withdrawals"), &elsewhere).await;
    stolen.problem(404, "NOT_FOUND");
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn more_than_half_must_agree_and_it_is_paid_once() {
    let bank = Bank::open().await;
    let (ada, bola, chidi) = (bank.ada().await, bank.bola().await, bank.chidi().await);
    let community = begin(&ada, json!({})).await;
    let rules = json!({"autoApprove": true, "withdrawalPolicy": "MAJORITY"});
    put(&ada, &of(&community), rules).await.is(200);
    let teller = bank.teller().await;
    for person in [&bola, &chidi, &teller] {
        join(person, &community).await.is(200);
    }
    ada.client.pay(&ada.current, community.text_at("accountNumber"), 9_000, "in").await.is(201);
    let has = bola.client.balance(&bola.current).await;
    let wanted = withdraw(&bola, &community, 3_000).await.is(201);
    assert_eq!(wanted.body["withdrawalStatus"], "PENDING");
    let path = format!("{}/withdrawals/{}", of(&community), wanted.text_at("withdrawalId"));
    // Two votes are missing of which each believes to be the second of four: together they pay, once.
    let votes = [&ada, &chidi, &teller].map(|person| put(person, &path, json!({"action": "APPROVE"})));
    let votes = join_all(votes).await;
    let paid = votes.iter().filter(|vote| vote.body["withdrawalStatus"] == "PAID").count();
    assert_eq!(paid, 1);
    bank.caught_up().await;
    assert_eq!(bola.client.balance(&bola.current).await, has + 3_000);
    bank.caught_up().await;
    let listed = ada.client.get(&format!("{}/withdrawals", of(&community))).await.is(200);
    assert_eq!(listed.list_at("withdrawals")[0]["withdrawalStatus"], "PAID");
    // Half against it end it.
    let wanted = withdraw(&bola, &community, 3_000).await.is(201);
    let path = format!("{}/withdrawals/{}", of(&community), wanted.text_at("withdrawalId"));
    put(&ada, &path, json!({"action": "REJECT"})).await.is(200);
    let ended = put(&chidi, &path, json!({"action": "REJECT"})).await.is(200);
    assert_eq!(ended.body["withdrawalStatus"], "REJECTED");
    put(&teller, &path, json!({"action": "APPROVE"})).await.problem(409, "INVALID_STATE");
    bank.close().await;
}
