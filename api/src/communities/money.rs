//! What participants put in and take out.

use axum::extract::State;
use bursar_commands::communities::{self, Pledge};
use bursar_commands::{Committed, Context, accounts, once};
use bursar_domain::communities::CommunityEvent;
use bursar_domain::kernel::{CommunityId, WithdrawalId, micros};
use bursar_domain::mandates::MandateEvent;
use bursar_domain::{AccountNumber, Amount, Event};
use bursar_projections::Page;
use bursar_projections::communities::withdrawals;
use jiff::Timestamp;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::views::{ContributionResult, WithdrawalInfo, WithdrawalList, WithdrawalResult};
use super::{MODEL, community};
use crate::accounts::{AccountStatement, ENTRIES, StatementQuery, statement_of};
use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, Caller, ManageProfile, WriteTransactions};
use crate::calendar::calendar;
use crate::openapi::{ReadHeaders, ReadProblems, WriteHeaders, WriteProblems};
use crate::paging::Pagination;
use crate::problem::Problem;
use crate::request::{Conditions, DayNumber, InPath, OneOf, Queried, Text, Write};
use crate::{query, request};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(contribute))
        .routes(routes!(read_community_statement))
        .routes(routes!(list_withdrawals, withdraw_from_community))
        .routes(routes!(vote_on_withdrawal))
}

request! {
    /// How the caller contributes. Amount and frequency are those of the rules.
    ContributionRequest {
        /// The caller's account that pays.
        source_account: AccountNumber = "sourceAccount",
        /// From when on; now when absent.
        start_date: Option<Timestamp> = "startDate",
        /// The day of the month or week; that of `startDate` when absent.
        execution_day: Option<DayNumber> = "executionDay",
    }
}

request! {
    /// Money to be taken out.
    CommunityWithdrawalRequest {
        /// Minor units, 1 to 10^15.
        amount: Amount = "amount",
        /// The caller's account that it goes to.
        destination_account: AccountNumber = "destinationAccount",
        /// What it is for.
        narration: Option<Text<500>> = "narration",
    }
}

request! {
    /// What the caller thinks of a withdrawal.
    VoteRequest {
        /// Whether they agree.
        action: OneOf<Vote> = "action",
    }
}

bursar_domain::spelled! {
    /// What somebody thinks of a withdrawal.
    pub enum Vote {
        /// They agree.
        Approve = "APPROVE",
        /// They do not.
        Reject = "REJECT",
    }
}

query! {
    /// Which withdrawals are listed.
    ListWithdrawals {
        /// Which part.
        page: Page = "page",
    }
}

/// Contributes to a community, as its rules ask for, by a standing instruction of the caller's.
///
/// It is in `/v1/mandates`, where it can be paused and ended like any other. It keeps its amount when the rules change.
#[utoipa::path(
    post, path = "/v1/communities/{communityId}/contributions", tag = "Communities",
    params(InPath<CommunityId>, WriteHeaders), request_body = ContributionRequest,
    responses((status = 201, description = "Set up.", body = ContributionResult), WriteProblems)
)]
async fn contribute(
    State(app): State<App>,
    id: InPath<CommunityId>,
    write: Write<WriteTransactions, ContributionRequest>,
) -> Result<Answer<ContributionResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    let id = id.get()?;
    // Answered as then: they may have left since, and the rules may have changed.
    let pledge = async |context| pledged(&app, &caller, context, id, body).await;
    let committed = once(&app.journal, context, pledge).await?;
    let (recorded, set_up) = committed.event(|event| match event {
        Event::Mandate(MandateEvent::SetUp(set_up)) => Some(&**set_up),
        _ => None,
    })?;
    let result = ContributionResult::of(id, recorded, set_up);
    let location = format!("/v1/mandates/{}", recorded.stream.id);
    Ok(Answer::ok(result).at(&committed).created(&location))
}

async fn pledged(
    app: &App,
    caller: &Caller,
    context: Context,
    id: CommunityId,
    body: ContributionRequest,
) -> Result<Committed, Problem> {
    let club = communities::club(&app.journal, caller.user(), id).await?;
    let frequency = club.rules().contribution_frequency;
    let frequency = frequency.ok_or_else(communities::no_contributions)?;
    let starts_at = micros(body.start_date.unwrap_or_else(|| app.journal.sources().clock.now()));
    let calendar = calendar(frequency, starts_at, None, body.execution_day)?;
    let source = accounts::owned(&app.journal, caller.user(), &body.source_account).await?;
    Ok(communities::pledge(&app.journal, context, id, Pledge { source, starts_at, calendar }).await?)
}

/// Reads what went in and out of a community that the caller is in. Without a range: the last 30 days.
#[utoipa::path(
    get, path = "/v1/communities/{communityId}/statement", tag = "Communities",
    params(InPath<CommunityId>, StatementQuery, ReadHeaders),
    responses((status = 200, description = "The statement.", body = AccountStatement), ReadProblems)
)]
async fn read_community_statement(
    State(app): State<App>,
    caller: Allowed<ManageProfile>,
    wants: Conditions,
    id: InPath<CommunityId>,
    Queried(query): Queried<StatementQuery>,
) -> Result<Answer<AccountStatement>, Problem> {
    let row = community(&app, &caller, &wants, id, &[MODEL, "accounts", ENTRIES]).await?;
    Ok(Answer::ok(statement_of(&app, row.holder, &row.account_number, query).await?))
}

/// Lists what participants of a community that the caller is in have taken out, or want to.
#[utoipa::path(
    get, path = "/v1/communities/{communityId}/withdrawals", tag = "Communities",
    params(InPath<CommunityId>, ListWithdrawals, ReadHeaders),
    responses((status = 200, description = "The withdrawals.", body = WithdrawalList), ReadProblems)
)]
async fn list_withdrawals(
    State(app): State<App>,
    caller: Allowed<ManageProfile>,
    wants: Conditions,
    id: InPath<CommunityId>,
    Queried(query): Queried<ListWithdrawals>,
) -> Result<Answer<WithdrawalList>, Problem> {
    let row = community(&app, &caller, &wants, id, &[MODEL]).await?;
    let found = withdrawals(&app.pool, row.community_id, query.page).await?;
    Ok(Answer::ok(WithdrawalList {
        pagination: Pagination::of(query.page, found.total),
        withdrawals: found.items.into_iter().map(WithdrawalInfo::from).collect(),
    }))
}

/// Takes money out of a community into an account of the caller's.
///
/// `ADMIN_ONLY`: the admin may. `ROTATING`: each participant in turn, in the order in which they joined. `MAJORITY`: it waits
/// until more than half of the participants, the caller among them, agree.
#[utoipa::path(
    post, path = "/v1/communities/{communityId}/withdrawals", tag = "Communities",
    params(InPath<CommunityId>, WriteHeaders), request_body = CommunityWithdrawalRequest,
    responses((status = 201, description = "Paid, or asked for.", body = WithdrawalResult), WriteProblems)
)]
async fn withdraw_from_community(
    State(app): State<App>,
    id: InPath<CommunityId>,
    write: Write<WriteTransactions, CommunityWithdrawalRequest>,
) -> Result<Answer<WithdrawalResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    let id = id.get()?;
    let destination = accounts::owned(&app.journal, caller.user(), &body.destination_account).await?;
    let narration = body.narration.map(String::from);
    let committed =
        communities::withdraw(&app.journal, context, id, &destination, body.amount, narration).await?;
    let (_, wanted) = committed.event(|event| match event {
        Event::Community(CommunityEvent::WithdrawalRequested(wanted)) => Some(wanted.id),
        _ => None,
    })?;
    Ok(Answer::ok(WithdrawalResult::of(&committed, id, wanted)?)
        .at(&committed)
        .created(&format!("/v1/communities/{id}/withdrawals")))
}

/// Agrees to a withdrawal, or does not. The vote that makes it more than half pays it; when half or more are against it, it
/// ends.
#[utoipa::path(
    put, path = "/v1/communities/{communityId}/withdrawals/{withdrawalId}", tag = "Communities",
    params(InPath<CommunityId>, InPath<WithdrawalId>, WriteHeaders), request_body = VoteRequest,
    responses((status = 200, description = "Counted.", body = WithdrawalResult), WriteProblems)
)]
async fn vote_on_withdrawal(
    State(app): State<App>,
    id: InPath<CommunityId>,
    withdrawal: InPath<WithdrawalId>,
    write: Write<WriteTransactions, VoteRequest>,
) -> Result<Answer<WithdrawalResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    // What is in a community is as unknown as the community to whoever is not in it.
    let withdrawal = withdrawal.get().map_err(|_| Problem::not_found("community"))?;
    let (id, OneOf(vote)) = (id.get()?, body.action);
    let approve = vote == Vote::Approve;
    let committed = communities::vote(&app.journal, context, caller.user(), id, withdrawal, approve).await?;
    Ok(Answer::ok(WithdrawalResult::of(&committed, id, withdrawal)?).at(&committed))
}
