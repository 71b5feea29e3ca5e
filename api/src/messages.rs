//! What the bank has told the caller.

use std::collections::BTreeMap;

use axum::extract::State;
use bursar_commands::messages::delete;
use bursar_domain::Event;
use bursar_domain::kernel::MessageId;
use bursar_domain::messages::{Category, MessagesEvent};
use bursar_projections::messages::{MessageFilter, MessageRow, MessageSort, of_owner};
use bursar_projections::{Page, Sort};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, ManageProfile};
use crate::openapi::{ReadHeaders, ReadProblems, WriteHeaders, WriteProblems};
use crate::paging::Pagination;
use crate::problem::Problem;
use crate::query;
use crate::request::{Conditions, InPath, Nothing, OneOf, Queried, Search, Write};

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list_messages)).routes(routes!(delete_message))
}

query! {
    /// Which messages are listed, and how.
    ListMessages {
        /// Only this kind of news.
        category: Option<OneOf<Category>> = "category",
        /// Only with this text in subject or body.
        text: Search = "q",
        /// The order; newest first when absent.
        sort: Sort<MessageSort> = "sort",
        /// Which part.
        page: Page = "page",
    }
}

/// A message.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageView {
    message_id: String,
    /// `SECURITY`, `PAYMENT`, `ACCOUNT`, `COMPLIANCE` or `GENERAL`.
    category: &'static str,
    subject: String,
    body: String,
    /// Ids of what it is about, by name (`transactionId`).
    about: BTreeMap<String, String>,
    /// The ways it was sent besides being kept here: `EMAIL`, `SMS`, `PUSH`.
    sent_by: Vec<&'static str>,
    created_at: Timestamp,
}

/// Messages, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct MessagePage {
    messages: Vec<MessageView>,
    pagination: Pagination,
}

/// A message that was deleted.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageDeleted {
    /// `SUCCESS`.
    status: &'static str,
    message_id: String,
    deleted_at: Timestamp,
    message: &'static str,
}

impl From<MessageRow> for MessageView {
    fn from(row: MessageRow) -> Self {
        Self {
            message_id: row.message_id.to_string(),
            category: row.category.as_str(),
            subject: row.subject,
            body: row.body,
            about: row.about,
            sent_by: row.sent_by.iter().map(|channel| channel.as_str()).collect(),
            created_at: row.created_at,
        }
    }
}

/// Lists what the bank has told the caller.
#[utoipa::path(
    get, path = "/v1/users/messages", tag = "Users", params(ListMessages, ReadHeaders),
    responses((status = 200, description = "The messages.", body = MessagePage), ReadProblems)
)]
async fn list_messages(
    State(app): State<App>,
    caller: Allowed<ManageProfile>,
    wants: Conditions,
    Queried(query): Queried<ListMessages>,
) -> Result<Answer<MessagePage>, Problem> {
    app.fresh(&caller, &wants, &["messages"]).await?;
    let filter =
        MessageFilter { category: query.category.map(|OneOf(category)| category), text: query.text.0 };
    let found = of_owner(&app.pool, caller.user(), &filter, query.sort, query.page).await?;
    Ok(Answer::ok(MessagePage {
        pagination: Pagination::of(query.page, found.total),
        messages: found.items.into_iter().map(MessageView::from).collect(),
    }))
}

/// Deletes a message of the caller.
///
/// It is gone from the list; the bank's log keeps it.
#[utoipa::path(
    delete, path = "/v1/users/messages/{messageId}", tag = "Users", params(InPath<MessageId>, WriteHeaders),
    responses((status = 200, description = "Deleted.", body = MessageDeleted), WriteProblems)
)]
async fn delete_message(
    State(app): State<App>,
    id: InPath<MessageId>,
    write: Write<ManageProfile, Nothing>,
) -> Result<Answer<MessageDeleted>, Problem> {
    let Write { caller, context, .. } = write;
    let committed = delete(&app.journal, context, caller.user(), id.get()?).await?;
    let (recorded, message_id) = committed.event(|event| match event {
        Event::Messages(MessagesEvent::Deleted { id }) => Some(id.to_string()),
        _ => None,
    })?;
    let result = MessageDeleted {
        status: "SUCCESS",
        message_id,
        deleted_at: recorded.recorded_at,
        message: "Message deleted",
    };
    Ok(Answer::ok(result).at(&committed))
}
