//! Staff: who outside the bank is told what happens in it. [The guide](../../docs/webhooks.md) is for whoever is told.

mod deliveries;
mod views;

use axum::extract::State;
use bursar_commands::webhooks::{self, Address};
use bursar_domain::Event;
use bursar_domain::kernel::WebhookId;
use bursar_domain::webhooks::{EventFilter, Settings, WebhookCommand, WebhookEvent, event_types};
use bursar_projections::Page;
use bursar_projections::webhooks::{find, page};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, WebhookAdmin};
use crate::openapi::{IfMatch, ReadHeaders, ReadProblems, WriteHeaders, WriteProblems};
use crate::paging::Pagination;
use crate::problem::Problem;
use crate::request::{Conditions, InPath, Nothing, Queried, Strict, Text, Write};
use crate::{query, request};
use views::{EventTypeList, WebhookDone, WebhookList, WebhookSecret, WebhookView};

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_webhooks, create_webhook))
        .routes(routes!(list_event_types))
        .routes(routes!(read_webhook, change_webhook, remove_webhook))
        .routes(routes!(rotate_webhook_secret))
        .routes(routes!(enable_webhook))
        .routes(routes!(disable_webhook))
        .merge(deliveries::routes())
}

query! {
    /// Which webhooks are listed.
    ListWebhooks {
        /// Which part.
        page: Page = "page",
    }
}

request! {
    /// Where a webhook is and what it wants to hear, all of it.
    WebhookSettings {
        /// The address: https, without user name and password.
        url: Address = "url",
        /// Which events: `payment.completed`, all of a noun (`payment.*`), or all (`*`).
        event_types: Vec<EventFilter> = "eventTypes",
        /// What it is.
        description: Option<Text<500>> = "description",
    }
}

impl WebhookSettings {
    /// What the log keeps of it.
    ///
    /// # Errors
    /// 400, for an address to which everything would travel in the clear.
    fn checked(self, app: &App) -> Result<Settings, Problem> {
        if !self.url.is_secure() && !app.config.sandbox {
            return Err(Problem::bad_request("/url", "HTTPS_REQUIRED", "only https is told anything"));
        }
        if self.event_types.is_empty() {
            return Err(Problem::bad_request("/eventTypes", "REQUIRED", "at least one is needed"));
        }
        Ok(Settings {
            url: self.url.as_str().to_owned(),
            event_types: self.event_types,
            description: self.description.map(String::from),
        })
    }
}

/// Staff: lists the webhooks, newest first.
#[utoipa::path(
    get, path = "/v1/staff/webhooks", tag = "Webhooks", params(ListWebhooks, ReadHeaders),
    responses((status = 200, description = "The webhooks.", body = WebhookList), ReadProblems)
)]
async fn list_webhooks(
    State(app): State<App>,
    caller: Allowed<WebhookAdmin>,
    wants: Conditions,
    Queried(list): Queried<ListWebhooks>,
) -> Result<Answer<WebhookList>, Problem> {
    app.fresh(&caller, &wants, &["webhooks"]).await?;
    let found = page(&app.pool, list.page).await?;
    let pagination = Pagination::of(list.page, found.total);
    let webhooks = found.items.into_iter().map(WebhookView::from).collect();
    Ok(Answer::ok(WebhookList { webhooks, pagination }))
}

/// Staff: lists the events that can be asked for.
#[utoipa::path(
    get, path = "/v1/staff/webhooks/event-types", tag = "Webhooks",
    responses((status = 200, description = "The names of the events.", body = EventTypeList), ReadProblems)
)]
async fn list_event_types(_: Allowed<WebhookAdmin>) -> Answer<EventTypeList> {
    Answer::ok(EventTypeList { event_types: event_types().collect() })
}

/// Staff: tells an address what happens from now on. The secret is shown here and never again.
#[utoipa::path(
    post, path = "/v1/staff/webhooks", tag = "Webhooks", params(WriteHeaders), request_body = WebhookSettings,
    responses((status = 201, description = "Created.", body = WebhookSecret), WriteProblems)
)]
async fn create_webhook(
    State(app): State<App>,
    write: Write<WebhookAdmin, Strict<WebhookSettings>>,
) -> Result<Answer<WebhookSecret>, Problem> {
    let Write { body: Strict(body), context, .. } = write;
    let settings = body.checked(&app)?;
    let committed = webhooks::create(&app.journal, context, settings).await?;
    let result = WebhookSecret::of(&app, &committed)?;
    let location = format!("/v1/staff/webhooks/{}", result.webhook_id);
    Ok(Answer::ok(result).at(&committed).created(&location).secret())
}

/// Staff: a webhook.
#[utoipa::path(
    get, path = "/v1/staff/webhooks/{webhookId}", tag = "Webhooks", params(InPath<WebhookId>, ReadHeaders),
    responses((status = 200, description = "The webhook.", body = WebhookView), ReadProblems)
)]
async fn read_webhook(
    State(app): State<App>,
    caller: Allowed<WebhookAdmin>,
    id: InPath<WebhookId>,
    wants: Conditions,
) -> Result<Answer<WebhookView>, Problem> {
    let id = id.get()?;
    app.fresh(&caller, &wants, &["webhooks"]).await?;
    let row = find(&app.pool, id).await?.ok_or_else(|| Problem::not_found("webhook"))?;
    let version = row.version;
    Ok(Answer::ok(WebhookView::from(row)).tagged(version, wants.none_match))
}

/// Staff: changes where a webhook is and what it wants to hear, all of it.
#[utoipa::path(
    put, path = "/v1/staff/webhooks/{webhookId}", tag = "Webhooks",
    params(InPath<WebhookId>, WriteHeaders, IfMatch), request_body = WebhookSettings,
    responses((status = 200, description = "Changed.", body = WebhookDone), WriteProblems)
)]
async fn change_webhook(
    State(app): State<App>,
    id: InPath<WebhookId>,
    write: Write<WebhookAdmin, Strict<WebhookSettings>>,
) -> Result<Answer<WebhookDone>, Problem> {
    let Write { body: Strict(body), context, .. } = write;
    let (id, settings) = (id.get()?, Box::new(body.checked(&app)?));
    let committed = webhooks::ask(&app.journal, context, id, WebhookCommand::Change(settings)).await?;
    Ok(WebhookDone::of(&committed, id, "Webhook changed"))
}

/// Staff: removes a webhook.
#[utoipa::path(
    delete, path = "/v1/staff/webhooks/{webhookId}", tag = "Webhooks",
    params(InPath<WebhookId>, WriteHeaders, IfMatch),
    responses((status = 200, description = "Removed.", body = WebhookDone), WriteProblems)
)]
async fn remove_webhook(
    State(app): State<App>,
    id: InPath<WebhookId>,
    write: Write<WebhookAdmin, Nothing>,
) -> Result<Answer<WebhookDone>, Problem> {
    let id = id.get()?;
    let committed = webhooks::ask(&app.journal, write.context, id, WebhookCommand::Remove).await?;
    Ok(WebhookDone::of(&committed, id, "Webhook removed"))
}

/// Staff: signs with a new secret, which is shown here and never again. For a day both secrets sign.
#[utoipa::path(
    post, path = "/v1/staff/webhooks/{webhookId}/rotate-secret", tag = "Webhooks",
    params(InPath<WebhookId>, WriteHeaders, IfMatch),
    responses((status = 200, description = "The new secret.", body = WebhookSecret), WriteProblems)
)]
async fn rotate_webhook_secret(
    State(app): State<App>,
    id: InPath<WebhookId>,
    write: Write<WebhookAdmin, Nothing>,
) -> Result<Answer<WebhookSecret>, Problem> {
    let committed = webhooks::rotate_secret(&app.journal, write.context, id.get()?).await?;
    let result = WebhookSecret::of(&app, &committed)?;
    Ok(Answer::ok(result).at(&committed).secret())
}

/// Staff: tells a webhook again, first what has waited.
#[utoipa::path(
    post, path = "/v1/staff/webhooks/{webhookId}/enable", tag = "Webhooks",
    params(InPath<WebhookId>, WriteHeaders, IfMatch),
    responses((status = 200, description = "Enabled.", body = WebhookDone), WriteProblems)
)]
async fn enable_webhook(
    State(app): State<App>,
    id: InPath<WebhookId>,
    write: Write<WebhookAdmin, Nothing>,
) -> Result<Answer<WebhookDone>, Problem> {
    let id = id.get()?;
    let committed = webhooks::ask(&app.journal, write.context, id, WebhookCommand::Enable).await?;
    Ok(WebhookDone::of(&committed, id, "Webhook enabled"))
}

/// Staff: tells a webhook nothing for now. What happens meanwhile waits.
#[utoipa::path(
    post, path = "/v1/staff/webhooks/{webhookId}/disable", tag = "Webhooks",
    params(InPath<WebhookId>, WriteHeaders, IfMatch),
    responses((status = 200, description = "Disabled.", body = WebhookDone), WriteProblems)
)]
async fn disable_webhook(
    State(app): State<App>,
    id: InPath<WebhookId>,
    write: Write<WebhookAdmin, Nothing>,
) -> Result<Answer<WebhookDone>, Problem> {
    let id = id.get()?;
    let committed = webhooks::disable(&app.journal, write.context, id).await?;
    Ok(WebhookDone::of(&committed, id, "Webhook disabled"))
}

/// The generation of the secret that an event brings.
const fn generation(event: &Event) -> Option<u32> {
    match event {
        Event::Webhook(WebhookEvent::Created(_)) => Some(0),
        Event::Webhook(WebhookEvent::SecretRotated { generation, .. }) => Some(*generation),
        _ => None,
    }
}
