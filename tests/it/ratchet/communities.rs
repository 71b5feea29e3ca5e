//! Rows about communities.

use bursar_domain::kernel::CommunityId;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use reqwest::Method;
use serde_json::{Value, json};

use super::row::{Names, PROFILE, Row, Thing, WRITE, delete, get, post};
use super::world::World;
use crate::support::Person;
use crate::support::client::Answer;

/// Communities, and what is in them. An id of something in a community has the community's in front.
pub struct Communities {
    /// Ada's, with money, rules that ask for contributions, and Bola in it.
    mine: String,
    /// Bola in it.
    bola: String,
    /// Bola's, which Ada is not in; and its only participant, and somebody whom he asked.
    strangers: [String; 3],
    /// One of Bola's that asked Ada.
    invited: String,
    /// One of Bola's that anybody may join.
    open: String,
    /// Bola's wish for money in a community that Ada is in, and in one that she is not in.
    wishes: [String; 2],
}

impl Communities {
    pub async fn new(ada: &Person, bola: &Person, chidi: &Person) -> Self {
        let strange = begins(bola, true).await;
        let asked = invites(bola, &strange, "chidi@example.com").await;
        let id = strange.text_at("communityId").to_owned();
        let only = format!("{id}/{}", strange.text_at("participantId"));
        let (mine, in_it) = shared(ada, bola).await;
        Self {
            mine,
            bola: in_it,
            invited: invites(bola, &strange, "ada@example.com").await,
            strangers: [id, only, asked],
            open: begins(bola, false).await.text_at("communityId").to_owned(),
            wishes: [wishes(bola, ada).await, wishes(bola, chidi).await],
        }
    }
}

pub async fn begins(admin: &Person, is_private: bool) -> Answer {
    let body = json!({"communityName": "Esusu", "category": "SAVINGS", "isPrivate": is_private});
    admin.client.post("/v1/communities", &body).await.is(201)
}

async fn invites(admin: &Person, community: &Answer, email: &str) -> String {
    let id = community.text_at("communityId");
    let path = format!("/v1/communities/{id}/participants");
    let invited = admin.client.post(&path, &json!({"inviteeEmail": email})).await.is(201);
    format!("{id}/{}", invited.text_at("invitationId"))
}

/// One of `admin`'s with money and rules, and with `other` in it.
async fn shared(admin: &Person, other: &Person) -> (String, String) {
    let begun = begins(admin, false).await;
    let id = begun.text_at("communityId").to_owned();
    let rules = json!({
        "autoApprove": true, "contributionAmount": 500, "contributionFrequency": "MONTHLY",
    });
    set(admin, &id, &rules).await;
    admin.client.pay(&admin.current, begun.text_at("accountNumber"), 100_000, &id).await.is(201);
    let joined = other.client.post(&format!("/v1/communities/{id}/join"), &json!({})).await.is(200);
    let participant = format!("{id}/{}", joined.text_at("participantId"));
    (id, participant)
}

async fn set(admin: &Person, id: &str, rules: &Value) {
    let request = admin.client.request(Method::PUT, &format!("/v1/communities/{id}"));
    request.json(rules).send().await.is(200);
}

/// What `admin` wants from a community that `other` is in.
async fn wishes(admin: &Person, other: &Person) -> String {
    let id = begins(admin, false).await.text_at("communityId").to_owned();
    set(admin, &id, &json!({"autoApprove": true, "withdrawalPolicy": "MAJORITY"})).await;
    other.client.post(&format!("/v1/communities/{id}/join"), &json!({})).await.is(200);
    let body = json!({"amount": 10, "destinationAccount": admin.current});
    let path = format!("/v1/communities/{id}/withdrawals");
    let wanted = admin.client.post(&path, &body).await.is(201);
    format!("{id}/{}", wanted.text_at("withdrawalId"))
}

/// Communities in which nothing has happened.
fn new_communities(world: &mut World) -> BoxFuture<'_, ()> {
    async { world.communities = Communities::new(&world.ada, &world.bola, &world.chidi).await }.boxed()
}

pub fn rows() -> Vec<Row> {
    let community = |row: Row| Row {
        names: Names::Own(Thing::Community),
        own: |world| &world.communities.mine,
        ready: new_communities,
        strangers: |world| &world.communities.strangers[0],
        ..row
    };
    let item = |row: Row| Row {
        names: Names::Own(Thing::CommunityItem),
        strangers: |world| &world.communities.strangers[1],
        ..community(row)
    };
    let put = |row: Row| Row { method: Method::PUT, ..row };
    let wanted = |_: &World, _: &str| -> Value {
        json!({
            "communityName": "Esusu", "description": "Twelve of us", "category": "SAVINGS",
            "maxParticipants": 12, "isPrivate": true, "initialRules": ["Nobody is late"],
            "logo": "https://example.com/logo.png", "tags": ["savings"], "currency": "NGN",
        })
    };
    let rules = |_: &World, _: &str| -> Value {
        json!({
            "rules": ["Nobody is late"], "maxParticipants": 9, "isPrivate": true, "autoApprove": false,
            "contributionAmount": 700, "contributionFrequency": "WEEKLY", "withdrawalPolicy": "ADMIN_ONLY",
        })
    };
    let invitee = |_: &World, _: &str| -> Value {
        json!({
            "inviteeEmail": "chidi@example.com", "inviteePhone": "+2348031000103", "inviteeName": "Chidi",
            "role": "MEMBER", "message": "Join us", "expiresAt": "2099-01-01T00:00:00Z",
        })
    };
    let code = |world: &World, _: &str| -> Value {
        let id: CommunityId = world.communities.open.parse().unwrap();
        json!({"inviteCode": world.bank.app.keys.invite_code(id)})
    };
    let pledge = |world: &World, _: &str| -> Value {
        json!({"sourceAccount": world.ada.current, "startDate": "2099-01-05T00:00:00Z", "executionDay": 5})
    };
    let money = |world: &World, _: &str| -> Value {
        json!({"amount": 10, "destinationAccount": world.ada.current, "narration": "Chairs"})
    };
    let yes = |_: &World, _: &str| -> Value { json!({"action": "ACCEPT", "message": "Gladly"}) };
    let no = |_: &World, _: &str| -> Value { json!({"action": "REJECT"}) };
    let name = Names::Nothing;
    vec![
        get("/v1/communities", PROFILE, name),
        post("/v1/communities", PROFILE, name, wanted),
        community(get("/v1/communities/{communityId}", PROFILE, name)),
        community(put(post("/v1/communities/{communityId}", PROFILE, name, rules))),
        community(post("/v1/communities/{communityId}/participants", PROFILE, name, invitee)),
        Row {
            own: |world| &world.communities.bola,
            ..item(delete("/v1/communities/{communityId}/participants/{participantId}", PROFILE, name))
        },
        Row {
            own: |world| &world.communities.invited,
            strangers: |world| &world.communities.strangers[2],
            ..item(put(post("/v1/communities/{communityId}/invitations/{invitationId}", PROFILE, name, yes)))
        },
        Row {
            own: |world| &world.communities.open,
            ..community(post("/v1/communities/{communityId}/join", PROFILE, name, code))
        },
        community(post("/v1/communities/{communityId}/contributions", WRITE, name, pledge)),
        community(get("/v1/communities/{communityId}/statement", PROFILE, name)),
        community(get("/v1/communities/{communityId}/withdrawals", PROFILE, name)),
        community(post("/v1/communities/{communityId}/withdrawals", WRITE, name, money)),
        Row {
            own: |world| &world.communities.wishes[0],
            strangers: |world| &world.communities.wishes[1],
            ..item(put(post("/v1/communities/{communityId}/withdrawals/{withdrawalId}", WRITE, name, no)))
        },
    ]
}
