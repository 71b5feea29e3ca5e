//! Rows about who outside the bank is told what happens in it.

use bursar_commands::{Context, webhooks};
use bursar_domain::kernel::Permission::WebhookAdmin;
use bursar_domain::kernel::WebhookId;
use bursar_domain::webhooks::{DisableReason, Settings, WebhookCommand};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use reqwest::Method;
use serde_json::{Value, json};

use super::row::{Access, Names, READ, Row, Thing, delete, get, post};
use super::world::World;
use crate::support::Bank;

/// Webhooks, one for each write that uses one up. All of them are where nobody listens.
pub struct Hooks {
    steady: String,
    /// A webhook and the position of something that it is to be told.
    delivery: String,
    removed: String,
    disabled: String,
    enabled: String,
}

fn settings(description: &str) -> Settings {
    Settings {
        url: "https://127.0.0.1:9/hooks".into(),
        event_types: vec!["webhook.tested".parse().unwrap()],
        description: Some(description.into()),
    }
}

async fn makes(bank: &Bank) -> String {
    let made = webhooks::create(&bank.app.journal, Context::default(), settings("World")).await.unwrap();
    bank.caught_up().await;
    made.events[0].stream.id.to_string()
}

async fn asks(bank: &Bank, id: &str, command: WebhookCommand) {
    let id: WebhookId = id.parse().unwrap();
    // Unless it is so already.
    drop(webhooks::ask(&bank.app.journal, Context::default(), id, command).await);
}

impl Hooks {
    pub async fn new(bank: &Bank) -> Self {
        let (steady, removed, enabled, disabled) =
            (makes(bank).await, makes(bank).await, makes(bank).await, makes(bank).await);
        asks(bank, &enabled, WebhookCommand::Disable { reason: DisableReason::Requested }).await;
        let id: WebhookId = steady.parse().unwrap();
        let test =
            webhooks::ask(&bank.app.journal, Context::default(), id, WebhookCommand::Test).await.unwrap();
        bank.app.webhooks.run_due().await.unwrap();
        let delivery = format!("{steady}/{}", test.position);
        Self { delivery, steady, removed, disabled, enabled }
    }
}

/// There is room for another webhook.
fn room(world: &mut World) -> BoxFuture<'_, ()> {
    async {
        let client = &world.approver.client;
        // Another server may have been asked.
        world.bank.caught_up().await;
        let list = client.get("/v1/staff/webhooks?size=100").await.is(200);
        for webhook in list.list_at("webhooks").iter().filter(|webhook| webhook["description"] == "Another") {
            let path = format!("/v1/staff/webhooks/{}", webhook["webhookId"].as_str().unwrap());
            client.delete(&path).await.is(200);
        }
    }
    .boxed()
}

/// The webhook is not as the row makes it.
fn otherwise(world: &mut World) -> BoxFuture<'_, ()> {
    async {
        let change = WebhookCommand::Change(Box::new(settings("Otherwise")));
        asks(&world.bank, &world.hooks.steady, change).await;
    }
    .boxed()
}

fn removable(world: &mut World) -> BoxFuture<'_, ()> {
    async {
        room(world).await;
        // The one before may be there still.
        asks(&world.bank, &world.hooks.removed, WebhookCommand::Remove).await;
        world.hooks.removed = makes(&world.bank).await;
    }
    .boxed()
}

fn enabled(world: &mut World) -> BoxFuture<'_, ()> {
    async { asks(&world.bank, &world.hooks.disabled, WebhookCommand::Enable).await }.boxed()
}

fn disabled(world: &mut World) -> BoxFuture<'_, ()> {
    let reason = DisableReason::Requested;
    async move { asks(&world.bank, &world.hooks.enabled, WebhookCommand::Disable { reason }).await }.boxed()
}

fn body(description: &str) -> Value {
    json!({"url": "https://127.0.0.1:9/hooks", "eventTypes": ["payment.*", "card.blocked"], "description": description})
}

pub fn rows() -> Vec<Row> {
    let admin = Access::Needs(WebhookAdmin);
    let hook = Names::Anybodys(Thing::Webhook);
    let steady = |row: Row| Row { own: |world| &world.hooks.steady, ..row };
    let does = |path, names| Row { method: Method::POST, ..delete(path, admin, names) };
    let rows = vec![
        get("/v1/staff/webhooks", admin, Names::Nothing),
        get("/v1/staff/webhooks/event-types", admin, Names::Nothing),
        post("/v1/staff/webhooks", admin, Names::Nothing, |_, _| body("Another")).after(room),
        steady(get("/v1/staff/webhooks/{webhookId}", admin, hook)),
        steady(Row {
            method: Method::PUT,
            ..post("/v1/staff/webhooks/{webhookId}", admin, hook, |_, _| body("Changed")).after(otherwise)
        }),
        Row {
            own: |world| &world.hooks.removed,
            ..delete("/v1/staff/webhooks/{webhookId}", admin, hook).after(removable)
        },
        steady(does("/v1/staff/webhooks/{webhookId}/rotate-secret", hook)),
        steady(does("/v1/staff/webhooks/{webhookId}/test", hook)),
        steady(post("/v1/staff/webhooks/{webhookId}/replay", admin, hook, |_, _| json!({"after": 0}))),
        steady(get("/v1/staff/webhooks/{webhookId}/deliveries", admin, hook)),
        Row {
            own: |world| &world.hooks.delivery,
            ..does(
                "/v1/staff/webhooks/{webhookId}/deliveries/{position}/replay",
                Names::Anybodys(Thing::Delivery),
            )
        },
        Row {
            own: |world| &world.hooks.enabled,
            ..does("/v1/staff/webhooks/{webhookId}/enable", hook).after(disabled)
        },
        Row {
            own: |world| &world.hooks.disabled,
            ..does("/v1/staff/webhooks/{webhookId}/disable", hook).after(enabled)
        },
    ];
    let rows = rows.into_iter().map(|row| Row { by: Some(|world| &world.approver.client), ..row });
    rows.chain([get("/v1/events/stream", READ, Names::Nothing)]).collect()
}
