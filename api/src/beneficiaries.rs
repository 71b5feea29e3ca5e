//! Whom the caller keeps to pay again.

use axum::extract::State;
use bursar_commands::Committed;
use bursar_commands::beneficiaries::{self, NewBeneficiary};
use bursar_commands::journal::NoSuchEvent;
use bursar_domain::beneficiaries::{BeneficiariesEvent, Beneficiary, BeneficiaryKind, Payee};
use bursar_domain::kernel::BeneficiaryId;
use bursar_domain::{AccountNumber, Event, Personal, Recorded};
use bursar_projections::beneficiaries::{BeneficiaryFilter, BeneficiaryRow, BeneficiarySort, of_owner};
use bursar_projections::{Page, Sort};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, Caller, ReadAccount, WriteTransactions};
use crate::openapi::{ReadHeaders, ReadProblems, WriteHeaders, WriteProblems};
use crate::paging::Pagination;
use crate::problem::Problem;
use crate::request::{Conditions, InPath, Nothing, OneOf, Queried, Search, Text, Write};
use crate::{query, request};

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_internal_beneficiaries, add_internal_beneficiary))
        .routes(routes!(remove_beneficiary))
}

query! {
    /// Which beneficiaries are listed, and how.
    ListBeneficiaries {
        /// Only favourites, or only the others.
        is_favorite: Option<bool> = "isFavorite",
        /// Text in name, nickname, number or institution.
        q: Search = "q",
        /// The order; newest first when absent.
        sort: Sort<BeneficiarySort> = "sort",
        /// Which part.
        page: Page = "page",
    }
}

/// Accounts of this bank that the caller keeps.
#[derive(Debug, Serialize, ToSchema)]
pub struct InternalBeneficiaries {
    beneficiaries: Vec<InternalBeneficiary>,
    pagination: Pagination,
}

/// An account of this bank that the caller keeps.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InternalBeneficiary {
    beneficiary_id: String,
    account_number: String,
    account_name: Option<String>,
    nickname: Option<String>,
    is_favorite: bool,
    /// When they were last paid.
    last_used: Option<Timestamp>,
    /// Transfers to them since they were added.
    transfer_count: i64,
}

request! {
    /// An account of this bank to be kept.
    NewInternalBeneficiary {
        /// The account.
        account_number: AccountNumber = "accountNumber",
        /// The holder's name.
        account_name: Option<Text<140>> = "accountName",
        /// What the caller calls it.
        nickname: Option<Text<140>> = "nickname",
        /// `INTERNAL`.
        transfer_type: Option<OneOf<BeneficiaryKind>> = "transferType",
        /// Whether it comes first.
        is_favorite: Option<bool> = "isFavorite",
    }
}

/// A beneficiary that was added.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AddedInternalBeneficiary {
    beneficiary_id: String,
    /// `CREATED`.
    status: &'static str,
    account_number: String,
    account_name: Option<String>,
    nickname: Option<String>,
    /// `INTERNAL`.
    transfer_type: &'static str,
    is_favorite: bool,
    created_at: Timestamp,
    message: &'static str,
}

/// A beneficiary that was removed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RemovedBeneficiary {
    /// `SUCCESS`.
    status: &'static str,
    beneficiary_id: String,
    deleted_at: Timestamp,
    message: &'static str,
}

/// Lists the accounts of this bank that the caller keeps.
#[utoipa::path(
    get, path = "/v1/payments/beneficiaries/internal", tag = "Beneficiaries",
    params(ListBeneficiaries, ReadHeaders),
    responses((status = 200, description = "The beneficiaries.", body = InternalBeneficiaries), ReadProblems)
)]
async fn list_internal_beneficiaries(
    State(app): State<App>,
    caller: Allowed<ReadAccount>,
    wants: Conditions,
    Queried(query): Queried<ListBeneficiaries>,
) -> Result<Answer<InternalBeneficiaries>, Problem> {
    let (rows, pagination) = kept(&app, &caller, &wants, BeneficiaryKind::Internal, query).await?;
    let beneficiaries = rows.into_iter().map(InternalBeneficiary::of).collect();
    Ok(Answer::ok(InternalBeneficiaries { beneficiaries, pagination }))
}

/// Keeps an account of this bank, to be paid again.
#[utoipa::path(
    post, path = "/v1/payments/beneficiaries/internal", tag = "Beneficiaries",
    params(WriteHeaders), request_body = NewInternalBeneficiary,
    responses((status = 201, description = "Added.", body = AddedInternalBeneficiary), WriteProblems)
)]
async fn add_internal_beneficiary(
    State(app): State<App>,
    write: Write<WriteTransactions, NewInternalBeneficiary>,
) -> Result<Answer<AddedInternalBeneficiary>, Problem> {
    let Write { caller, body, context, .. } = write;
    fits(body.transfer_type, BeneficiaryKind::Internal)?;
    let new = NewBeneficiary {
        payee: Payee::Internal { account_number: body.account_number },
        name: body.account_name.map(String::from),
        institution: None,
        nickname: body.nickname.map(String::from),
        is_favorite: body.is_favorite.unwrap_or(false),
    };
    let committed = beneficiaries::add(&app.journal, context, caller.user(), new).await?;
    let (recorded, added) = added(&committed)?;
    let result = AddedInternalBeneficiary::of(recorded, added);
    let location = format!("/v1/payments/beneficiaries/{}", result.beneficiary_id);
    Ok(Answer::ok(result).at(&committed).created(&location))
}

/// Keeps a beneficiary no longer.
#[utoipa::path(
    delete, path = "/v1/payments/beneficiaries/{beneficiaryId}", tag = "Beneficiaries",
    params(InPath<BeneficiaryId>, WriteHeaders),
    responses((status = 200, description = "Removed.", body = RemovedBeneficiary), WriteProblems)
)]
async fn remove_beneficiary(
    State(app): State<App>,
    id: InPath<BeneficiaryId>,
    write: Write<WriteTransactions, Nothing>,
) -> Result<Answer<RemovedBeneficiary>, Problem> {
    let Write { caller, context, .. } = write;
    let committed = beneficiaries::remove(&app.journal, context, caller.user(), id.get()?).await?;
    let (recorded, id) = committed.event(|event| match event {
        Event::Beneficiaries(BeneficiariesEvent::Removed { id }) => Some(id),
        _ => None,
    })?;
    let result = RemovedBeneficiary {
        status: "SUCCESS",
        beneficiary_id: id.to_string(),
        deleted_at: recorded.recorded_at,
        message: "Beneficiary removed",
    };
    Ok(Answer::ok(result).at(&committed))
}

/// One page of those of a kind whom the caller keeps.
async fn kept(
    app: &App,
    caller: &Caller,
    wants: &Conditions,
    kind: BeneficiaryKind,
    query: ListBeneficiaries,
) -> Result<(Vec<BeneficiaryRow>, Pagination), Problem> {
    app.fresh(caller, wants, &["beneficiaries"]).await?;
    let filter = BeneficiaryFilter { is_favorite: query.is_favorite, q: query.q.0 };
    let found = of_owner(&app.pool, caller.user(), kind, &filter, query.sort, query.page).await?;
    Ok((found.items, Pagination::of(query.page, found.total)))
}

/// Whether a `transferType` that was given is that of the route.
fn fits(given: Option<OneOf<BeneficiaryKind>>, kind: BeneficiaryKind) -> Result<(), Problem> {
    match given {
        Some(OneOf(given)) if given != kind => {
            let message = format!("expected {kind} here");
            Err(Problem::bad_request("/transferType", "UNKNOWN_VALUE", message))
        }
        Some(_) | None => Ok(()),
    }
}

fn added(committed: &Committed) -> Result<(&Recorded, &Beneficiary), NoSuchEvent> {
    committed.event(|event| match event {
        Event::Beneficiaries(BeneficiariesEvent::Added(added)) => Some(&**added),
        _ => None,
    })
}

impl InternalBeneficiary {
    fn of(row: BeneficiaryRow) -> Self {
        Self {
            beneficiary_id: row.beneficiary_id.to_string(),
            account_number: row.number,
            account_name: row.name,
            nickname: row.nickname,
            is_favorite: row.is_favorite,
            last_used: row.last_used_at,
            transfer_count: row.payment_count,
        }
    }
}

impl AddedInternalBeneficiary {
    fn of(recorded: &Recorded, added: &Beneficiary) -> Self {
        let text = |text: &Option<Personal<String>>| text.as_ref().and_then(Personal::get).cloned();
        Self {
            beneficiary_id: added.id.to_string(),
            status: "CREATED",
            account_number: added.payee.number().to_owned(),
            account_name: text(&added.name),
            nickname: text(&added.nickname),
            transfer_type: added.payee.kind().as_str(),
            is_favorite: added.is_favorite,
            created_at: recorded.recorded_at,
            message: "Beneficiary added",
        }
    }
}
