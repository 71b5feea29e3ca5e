//! What the caller calls transactions by.

use axum::extract::State;
use bursar_commands::tags::NewTag;
use bursar_commands::transactions::involved;
use bursar_commands::{Committed, tags};
use bursar_domain::kernel::{TagId, TransactionId};
use bursar_domain::tags::{Placed, Tag, TagChange, TagsEvent};
use bursar_domain::{Event, Personal, Recorded};
use bursar_projections::tags::{TagFilter, TagRow, TagSort, of_owner};
use bursar_projections::{Page, Sort};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, ReadAccount, WriteTransactions};
use crate::openapi::{ReadHeaders, ReadProblems, WriteHeaders, WriteProblems};
use crate::paging::Pagination;
use crate::problem::Problem;
use crate::request::{Color, Conditions, InPath, Nothing, Queried, Search, Text, Title, Write};
use crate::{query, request};

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_tags, create_tag))
        .routes(routes!(change_tag, remove_tag))
        .routes(routes!(tag_transaction))
}

query! {
    /// Which tags are listed, and how.
    ListTags {
        /// Only those that can be put on transactions, or only the others.
        is_active: Option<bool> = "isActive",
        /// Only those that apps offer first, or only the others.
        is_default: Option<bool> = "isDefault",
        /// Text in name or description.
        q: Search = "q",
        /// The order; newest first when absent.
        sort: Sort<TagSort> = "sort",
        /// Which part.
        page: Page = "page",
    }
}

request! {
    /// A tag to be made.
    CreateTag {
        /// What it is called; not as another tag of the caller's, whatever the case.
        tag_name: Title<50> = "tagName",
        /// `#` and 3, 4, 6 or 8 hexadecimal digits, or the name of a colour.
        tag_color: Option<Color> = "tagColor",
        /// As the app names it.
        tag_icon: Option<Text<100>> = "tagIcon",
        /// What it is for.
        description: Option<Text<500>> = "description",
        /// Whether apps offer it first.
        is_default: Option<bool> = "isDefault",
    }
}

request! {
    /// What is different about a tag; what is absent stays.
    ChangeTag {
        /// What it is called; not as another tag of the caller's, whatever the case.
        tag_name: Option<Title<50>> = "tagName",
        /// `#` and 3, 4, 6 or 8 hexadecimal digits, or the name of a colour.
        tag_color: Option<Color> = "tagColor",
        /// As the app names it.
        tag_icon: Option<Text<100>> = "tagIcon",
        /// What it is for.
        description: Option<Text<500>> = "description",
        /// Whether it can be put on transactions. Where it is, it stays.
        is_active: Option<bool> = "isActive",
    }
}

request! {
    /// The tags of a transaction.
    TagTransaction {
        /// All of them: those that are on it and not here come off.
        tag_ids: Vec<TagId> = "tagIds",
        /// What the caller notes about it; nothing when absent.
        notes: Option<Text<500>> = "notes",
    }
}

/// The caller's tags.
#[derive(Debug, Serialize, ToSchema)]
pub struct TagList {
    tags: Vec<TagView>,
    pagination: Pagination,
}

/// A tag.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TagView {
    tag_id: String,
    tag_name: String,
    tag_color: Option<String>,
    tag_icon: Option<String>,
    description: Option<String>,
    /// Whether apps offer it first.
    is_default: bool,
    /// Whether it can be put on transactions.
    is_active: bool,
    /// Transactions that carry it.
    transaction_count: i64,
    created_at: Timestamp,
}

/// A tag that was made.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatedTag {
    #[serde(flatten)]
    tag: WrittenTag,
    is_default: bool,
    created_at: Timestamp,
}

/// A tag that was changed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedTag {
    #[serde(flatten)]
    tag: WrittenTag,
    updated_at: Timestamp,
}

/// A tag as it is now.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WrittenTag {
    /// `SUCCESS`.
    status: &'static str,
    tag_id: String,
    tag_name: String,
    tag_color: Option<String>,
    tag_icon: Option<String>,
    description: Option<String>,
    is_active: bool,
    message: &'static str,
}

/// A tag that is no more.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RemovedTag {
    /// `SUCCESS`.
    status: &'static str,
    tag_id: String,
    tag_name: String,
    deleted_at: Timestamp,
    message: &'static str,
    /// Transactions that carried it.
    affected_transactions: usize,
}

/// A transaction and its tags.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaggedTransaction {
    /// `SUCCESS`.
    status: &'static str,
    transaction_id: String,
    tag_ids: Vec<String>,
    tag_names: Vec<String>,
    notes: Option<String>,
    tagged_at: Timestamp,
    message: &'static str,
}

/// Lists the caller's tags.
#[utoipa::path(
    get, path = "/v1/transactions/tags", tag = "Transactions", params(ListTags, ReadHeaders),
    responses((status = 200, description = "The tags.", body = TagList), ReadProblems)
)]
async fn list_tags(
    State(app): State<App>,
    caller: Allowed<ReadAccount>,
    wants: Conditions,
    Queried(list): Queried<ListTags>,
) -> Result<Answer<TagList>, Problem> {
    app.fresh(&caller, &wants, &["tags"]).await?;
    let filter = TagFilter { is_active: list.is_active, is_default: list.is_default, q: list.q.0 };
    let found = of_owner(&app.pool, caller.user(), &filter, list.sort, list.page).await?;
    Ok(Answer::ok(TagList {
        pagination: Pagination::of(list.page, found.total),
        tags: found.items.into_iter().map(TagView::from).collect(),
    }))
}

/// Makes a tag.
#[utoipa::path(
    post, path = "/v1/transactions/tags", tag = "Transactions",
    params(WriteHeaders), request_body = CreateTag,
    responses((status = 201, description = "Made.", body = CreatedTag), WriteProblems)
)]
async fn create_tag(
    State(app): State<App>,
    write: Write<WriteTransactions, CreateTag>,
) -> Result<Answer<CreatedTag>, Problem> {
    let Write { caller, body, context, .. } = write;
    let new = NewTag {
        name: body.tag_name.into(),
        color: body.tag_color.map(String::from),
        icon: body.tag_icon.map(String::from),
        description: body.description.map(String::from),
        is_default: body.is_default.unwrap_or(false),
    };
    let committed = tags::create(&app.journal, context, caller.user(), new).await?;
    let (recorded, tag) = tag(&committed)?;
    let location = format!("/v1/transactions/tags/{}", tag.id);
    let result = CreatedTag {
        tag: WrittenTag::of(tag, "Tag created"),
        is_default: tag.is_default,
        created_at: recorded.recorded_at,
    };
    Ok(Answer::ok(result).at(&committed).created(&location))
}

/// Changes a tag.
#[utoipa::path(
    put, path = "/v1/transactions/tags/{tagId}", tag = "Transactions",
    params(InPath<TagId>, WriteHeaders), request_body = ChangeTag,
    responses((status = 200, description = "Changed.", body = ChangedTag), WriteProblems)
)]
async fn change_tag(
    State(app): State<App>,
    id: InPath<TagId>,
    write: Write<WriteTransactions, ChangeTag>,
) -> Result<Answer<ChangedTag>, Problem> {
    let Write { caller, body, context, .. } = write;
    let change = TagChange {
        name: body.tag_name.map(|name| Personal::new(name.into())),
        color: body.tag_color.map(String::from),
        icon: body.tag_icon.map(String::from),
        description: body.description.map(|text| Personal::new(text.into())),
        is_active: body.is_active,
    };
    let committed = tags::change(&app.journal, context, caller.user(), id.get()?, change).await?;
    let (recorded, tag) = tag(&committed)?;
    let result = ChangedTag { tag: WrittenTag::of(tag, "Tag changed"), updated_at: recorded.recorded_at };
    Ok(Answer::ok(result).at(&committed))
}

/// Removes a tag, also from every transaction that carries it.
#[utoipa::path(
    delete, path = "/v1/transactions/tags/{tagId}", tag = "Transactions",
    params(InPath<TagId>, WriteHeaders),
    responses((status = 200, description = "Removed.", body = RemovedTag), WriteProblems)
)]
async fn remove_tag(
    State(app): State<App>,
    id: InPath<TagId>,
    write: Write<WriteTransactions, Nothing>,
) -> Result<Answer<RemovedTag>, Problem> {
    let Write { caller, context, .. } = write;
    let committed = tags::remove(&app.journal, context, caller.user(), id.get()?).await?;
    let (recorded, (id, name, transactions)) = committed.event(|event| match event {
        Event::Tags(TagsEvent::Removed { id, name, transactions }) => Some((id, name, transactions)),
        _ => None,
    })?;
    let result = RemovedTag {
        status: "SUCCESS",
        tag_id: id.to_string(),
        tag_name: name.or_erased().to_owned(),
        deleted_at: recorded.recorded_at,
        message: "Tag removed",
        affected_transactions: *transactions,
    };
    Ok(Answer::ok(result).at(&committed))
}

/// Puts tags and notes on a transaction that the caller paid or was paid by. Nobody else sees them.
#[utoipa::path(
    post, path = "/v1/transactions/{transactionId}/tag", tag = "Transactions",
    params(InPath<TransactionId>, WriteHeaders), request_body = TagTransaction,
    responses((status = 200, description = "Tagged.", body = TaggedTransaction), WriteProblems)
)]
async fn tag_transaction(
    State(app): State<App>,
    id: InPath<TransactionId>,
    write: Write<WriteTransactions, TagTransaction>,
) -> Result<Answer<TaggedTransaction>, Problem> {
    let Write { caller, body, context, .. } = write;
    let transaction = involved(&app.journal, caller.user(), id.get()?).await?;
    let (tag_ids, notes) = (body.tag_ids, body.notes.map(String::from));
    let owner = caller.user();
    let committed = tags::place(&app.journal, context, owner, &transaction, tag_ids, notes).await?;
    let (recorded, placed) = committed.event(|event| match event {
        Event::Tags(TagsEvent::Placed(placed)) => Some(&**placed),
        _ => None,
    })?;
    Ok(Answer::ok(TaggedTransaction::of(recorded, placed)).at(&committed))
}

/// The tag that a unit made or changed.
fn tag(committed: &Committed) -> Result<(&Recorded, &Tag), Problem> {
    Ok(committed.event(|event| match event {
        Event::Tags(TagsEvent::Created(tag) | TagsEvent::Changed(tag)) => Some(&**tag),
        _ => None,
    })?)
}

impl From<TagRow> for TagView {
    fn from(row: TagRow) -> Self {
        Self {
            tag_id: row.tag_id.to_string(),
            tag_name: row.name,
            tag_color: row.color,
            tag_icon: row.icon,
            description: row.description,
            is_default: row.is_default,
            is_active: row.is_active,
            transaction_count: row.transaction_count,
            created_at: row.created_at,
        }
    }
}

impl WrittenTag {
    fn of(tag: &Tag, message: &'static str) -> Self {
        Self {
            status: "SUCCESS",
            tag_id: tag.id.to_string(),
            tag_name: tag.name.or_erased().to_owned(),
            tag_color: tag.color.clone(),
            tag_icon: tag.icon.clone(),
            description: tag.description.as_ref().and_then(Personal::get).cloned(),
            is_active: tag.is_active,
            message,
        }
    }
}

impl TaggedTransaction {
    fn of(recorded: &Recorded, placed: &Placed) -> Self {
        Self {
            status: "SUCCESS",
            transaction_id: placed.transaction_id.to_string(),
            tag_ids: placed.tags.iter().map(|tag| tag.id.to_string()).collect(),
            tag_names: placed.tags.iter().map(|tag| tag.name.or_erased().to_owned()).collect(),
            notes: placed.notes.as_ref().and_then(Personal::get).cloned(),
            tagged_at: recorded.recorded_at,
            message: "Transaction tagged",
        }
    }
}
