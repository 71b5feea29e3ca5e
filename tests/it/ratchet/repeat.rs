//! The operations of the ratchet for other tests: each can succeed again and again.

use bursar_commands::Context;
use bursar_commands::passwords::Password;
use bursar_commands::users;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::json;

use super::row::Row;
use super::world::{CARD, World, asks_for_card, calls, keeps};
use crate::messages::tell;
use crate::support::client::{PASSWORD, Request};
use crate::support::devices;

/// Undoes what keeps an operation from succeeding once more.
pub type Ready = fn(&mut World) -> BoxFuture<'_, ()>;

/// Nothing does.
pub fn always(_: &mut World) -> BoxFuture<'_, ()> {
    async {}.boxed()
}

/// Ada's spare session is new.
pub fn new_session(world: &mut World) -> BoxFuture<'_, ()> {
    async {
        let session = world.bank.client().session("ada@example.com", "spare").await;
        world.refresh = session["refreshToken"].as_str().unwrap().to_owned();
    }
    .boxed()
}

/// Chidi's current account can be frozen.
pub fn unfrozen(world: &mut World) -> BoxFuture<'_, ()> {
    let path = format!("/v1/staff/accounts/{}/unfreeze", world.chidi.current);
    // Unless it is so already.
    async move { drop(world.teller.client.post(&path, &json!({"reason": "Once more"})).await) }.boxed()
}

/// Chidi's savings account can be unfrozen.
pub fn frozen(world: &mut World) -> BoxFuture<'_, ()> {
    let path = format!("/v1/staff/accounts/{}/freeze", world.chidi.savings);
    async move { drop(world.teller.client.post(&path, &json!({"reason": "Once more"})).await) }.boxed()
}

/// The bank has told Ada something.
pub fn told(world: &mut World) -> BoxFuture<'_, ()> {
    async { world.messages.0 = tell(&world.bank, "ada@example.com", "Once more").await }.boxed()
}

/// The rebuild of before has ended.
pub fn nothing_rebuilt(world: &mut World) -> BoxFuture<'_, ()> {
    async {
        let path = "/v1/staff/ops/projections/products/rebuild";
        while world.approver.client.get(path).await.is(200).body["state"] == "RUNNING" {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    }
    .boxed()
}

/// There is somebody whom nobody has asked to erase.
pub fn somebody_new(world: &mut World) -> BoxFuture<'_, ()> {
    async {
        let name = format!("erasable{}", world.bank.events().await);
        world.erasable = world.bank.registered(&name).await.to_string();
    }
    .boxed()
}

/// Ada keeps nobody.
pub fn nobody_kept(world: &mut World) -> BoxFuture<'_, ()> {
    async {
        // Another server may have been asked.
        world.bank.caught_up().await;
        for kind in ["internal", "external", "bills", "mwallet"] {
            let list = world.ada.client.get(&format!("/v1/payments/beneficiaries/{kind}")).await.is(200);
            for kept in list.body["beneficiaries"].as_array().unwrap() {
                let id = kept["beneficiaryId"].as_str().unwrap();
                world.ada.client.delete(&format!("/v1/payments/beneficiaries/{id}")).await.is(200);
            }
        }
    }
    .boxed()
}

/// Ada keeps somebody new.
pub fn somebody_kept(world: &mut World) -> BoxFuture<'_, ()> {
    async {
        nobody_kept(world).await;
        world.beneficiaries.0 = keeps(&world.ada, &world.chidi).await;
    }
    .boxed()
}

/// Ada has no tags.
pub fn no_tags(world: &mut World) -> BoxFuture<'_, ()> {
    async {
        // Another server may have been asked.
        world.bank.caught_up().await;
        let list = world.ada.client.get("/v1/transactions/tags").await.is(200);
        for tag in list.list_at("tags") {
            let path = format!("/v1/transactions/tags/{}", tag["tagId"].as_str().unwrap());
            world.ada.client.delete(&path).await.is(200);
        }
    }
    .boxed()
}

/// The number of the card that the row links.
pub const NEW_CARD: &str = "5555555555554444";

/// Ada has her card, and it is not blocked; one that was removed comes back under its id.
pub fn card_linked(world: &mut World) -> BoxFuture<'_, ()> {
    let body = json!({"cardNumber": CARD, "expiryDate": "12/60", "cvv": "123"});
    async move {
        drop(world.ada.client.post("/v1/cards/external", &body).await);
        let hotlist = format!("/v1/cards/{}/hotlist", world.cards.0);
        drop(world.ada.client.post(&hotlist, &json!({"action": "UNBLOCK"})).await);
    }
    .boxed()
}

/// Ada has asked for a card.
pub fn card_issued(world: &mut World) -> BoxFuture<'_, ()> {
    async { world.issued = asks_for_card(&world.ada).await }.boxed()
}

/// Ada has no card of the number that is to be linked.
pub fn no_new_card(world: &mut World) -> BoxFuture<'_, ()> {
    async {
        // Another server may have been asked.
        world.bank.caught_up().await;
        let list = world.ada.client.get("/v1/cards").await.is(200);
        for card in list.list_at("cards") {
            if card["cardNumber"].as_str().unwrap().ends_with(&NEW_CARD[12..]) {
                let id = card["cardId"].as_str().unwrap();
                world.ada.client.delete(&format!("/v1/cards/{id}")).await.is(200);
            }
        }
    }
    .boxed()
}

/// Ada has one tag, a new one.
pub fn one_tag(world: &mut World) -> BoxFuture<'_, ()> {
    async {
        no_tags(world).await;
        world.tags.0 = calls(&world.ada).await;
    }
    .boxed()
}

/// What the teller changes their password to.
pub const NEW_PASSWORD: &str = "another-password-2026";

/// The teller has the password of all the demo's people.
pub fn old_password(world: &mut World) -> BoxFuture<'_, ()> {
    async {
        let app = &world.bank.app;
        let (user, old) = (world.bank.user("teller@example.com").await, Password::typed(PASSWORD.to_owned()));
        users::set_password(&app.journal, &app.passwords, Context::default(), user, old).await.unwrap();
    }
    .boxed()
}

impl World {
    /// How many events the operation writes.
    pub async fn events_of(&mut self, row: &Row) -> i64 {
        (row.ready)(self).await;
        let before = self.bank.done().await;
        let done = row.good_request(self).send().await;
        assert!(done.status < 300, "{row}: {}", done.text);
        let written = self.bank.done().await - before;
        assert_eq!(written > 0, row.replays, "{row}");
        written
    }
}

impl Row {
    /// `request` once more, with its key. What it says may depend on the time, so it is not made anew; only an assertion
    /// counts once, whatever becomes of it.
    pub fn once_more(&self, world: &World, request: &Request, key: &str) -> Request {
        if self.path == devices::LOGIN { self.good_request(world).key(key) } else { request.again() }
    }

    /// A good request by somebody who may.
    pub fn good_request(&self, world: &World) -> Request {
        self.request(&world.caller(self), world, (self.own)(world))
    }

    /// Whether it is a question that somebody who is logged in asks of the database.
    pub fn reads(&self) -> bool {
        // A stream has no end that could be waited for.
        self.method == reqwest::Method::GET && self.is_private() && self.path != "/v1/events/stream"
    }
}
