//! What waits for staff to decide: one list over loans, closures, disputes, erasures, documents, records and cards.

use axum::extract::State;
use bursar_domain::kernel::Permission::{
    self, AccountOps, CardOps, DisputeResolve, KycVerify, LoanApprove, LoanDisburse, LoanReview, PiiErase,
};
use bursar_domain::kernel::Spelled as _;
use bursar_projections::Page;
use bursar_projections::approvals::{MODELS, Stage, Waiting, waiting};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::Caller;
use crate::openapi::{ReadHeaders, ReadProblems};
use crate::paging::Pagination;
use crate::problem::Problem;
use crate::query;
use crate::request::{Conditions, OneOf, Queried};

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list_approvals))
}

query! {
    /// Which of it is listed.
    ListApprovals {
        /// Only what waits for this.
        stage: Option<OneOf<Stage>> = "stage",
        /// Which part.
        page: Page = "page",
    }
}

/// What waits, oldest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct ApprovalList {
    /// What the caller can decide.
    stages: Vec<&'static str>,
    approvals: Vec<Approval>,
    pagination: Pagination,
}

/// Something that waits for a decision.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// For which: `LOAN_UNDER_REVIEW`, `CLOSURE_PENDING` ...
    stage: &'static str,
    /// Its id; the customer's for an erasure.
    id: String,
    user_id: String,
    /// Only for those who may read customers (`ACCOUNT_OPS`).
    customer_name: Option<String>,
    /// The account it is about.
    account_number: Option<String>,
    /// Minor units.
    amount: Option<i64>,
    currency: Option<String>,
    /// What it is, in a few words.
    summary: String,
    submitted_at: Timestamp,
    /// The member of staff who took the step before, when it must be another one's turn.
    previous_by: Option<String>,
    /// What the caller can do about it; nothing when it is another one's turn.
    actions: Vec<ApprovalAction>,
}

/// A decision, as a request that carries it out.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalAction {
    /// What it is called: `approve`, `reject` ...
    name: &'static str,
    /// Where to `POST`.
    path: String,
    /// The field of the body for words of the caller's.
    field: &'static str,
    /// Whether it must be filled.
    required: bool,
    /// Another field of the body, when there is one.
    outcome: Option<&'static str>,
}

/// A decision that can be taken in some stage.
struct Step {
    name: &'static str,
    needs: Permission,
    /// The field for words, and whether there must be some.
    words: (&'static str, bool),
    outcome: Option<&'static str>,
}

/// A step that needs no words.
const fn step(name: &'static str, needs: Permission) -> Step {
    Step { name, needs, words: ("note", false), outcome: None }
}

/// A step that must say why.
const fn reasoned(name: &'static str, needs: Permission) -> Step {
    Step { name, needs, words: ("reason", true), outcome: None }
}

/// A dispute is decided for one side or the other.
const fn resolved(outcome: &'static str) -> Step {
    Step { name: "resolve", needs: DisputeResolve, words: ("note", false), outcome: Some(outcome) }
}

/// Where things in this stage are decided, and how.
fn steps(stage: Stage) -> (&'static str, Vec<Step>) {
    match stage {
        Stage::LoanPending => ("loans", vec![step("start-review", LoanReview)]),
        Stage::LoanUnderReview => (
            "loans",
            vec![
                step("approve", LoanApprove),
                reasoned("reject", LoanApprove),
                Step { words: ("note", true), ..step("request-info", LoanReview) },
            ],
        ),
        Stage::LoanApproved => ("loans", vec![step("disburse", LoanDisburse)]),
        Stage::ClosurePending => {
            ("account-closures", vec![step("approve", AccountOps), reasoned("reject", AccountOps)])
        }
        Stage::ClosureApproved => ("account-closures", vec![step("finalize", AccountOps)]),
        Stage::DisputePending => ("disputes", vec![step("start-review", DisputeResolve)]),
        Stage::DisputeUnderReview => ("disputes", vec![resolved("WON"), resolved("LOST")]),
        Stage::ErasurePending => ("subjects", vec![reasoned("erase", PiiErase)]),
        Stage::DocumentPending => {
            ("documents", vec![step("verify", KycVerify), reasoned("reject", KycVerify)])
        }
        Stage::RecordPending => {
            ("compliance", vec![step("verify", KycVerify), reasoned("reject", KycVerify)])
        }
        Stage::CardPending => ("cards", vec![step("activate", CardOps)]),
    }
}

/// What `caller` can do about something in this stage.
fn actions(caller: &Caller, stage: Stage, id: &str) -> Vec<ApprovalAction> {
    let (noun, steps) = steps(stage);
    let steps = steps.into_iter().filter(|step| caller.may(step.needs));
    steps
        .map(|step| ApprovalAction {
            name: step.name,
            path: format!("/v1/staff/{noun}/{id}/{}", step.name),
            field: step.words.0,
            required: step.words.1,
            outcome: step.outcome,
        })
        .collect()
}

impl Approval {
    fn of(row: Waiting, caller: &Caller) -> Self {
        let is_mine = row.by.as_deref() == Some(caller.user().to_string().as_str());
        let actions = if is_mine { Vec::new() } else { actions(caller, row.stage, &row.id) };
        Self {
            stage: row.stage.as_str(),
            id: row.id,
            user_id: row.user_id.to_string(),
            customer_name: Some(row.name).filter(|_| caller.may(AccountOps)),
            account_number: row.account_number,
            amount: row.amount,
            currency: row.currency,
            summary: row.what,
            submitted_at: row.since,
            previous_by: row.by,
            actions,
        }
    }
}

/// Staff: lists what waits for a decision that the caller may take, oldest first. Whoever may decide nothing has nothing waiting.
#[utoipa::path(
    get, path = "/v1/staff/approvals", tag = "Staff", params(ListApprovals, ReadHeaders),
    responses((status = 200, description = "What waits.", body = ApprovalList), ReadProblems)
)]
async fn list_approvals(
    State(app): State<App>,
    caller: Caller,
    wants: Conditions,
    Queried(query): Queried<ListApprovals>,
) -> Result<Answer<ApprovalList>, Problem> {
    app.fresh(&caller, &wants, MODELS).await?;
    let decides = |stage: &Stage| steps(*stage).1.iter().any(|step| caller.may(step.needs));
    let stages: Vec<Stage> = Stage::ALL.iter().copied().filter(decides).collect();
    let wanted = |stage: &Stage| query.stage.is_none_or(|OneOf(only)| only == *stage);
    let listed: Vec<Stage> = stages.iter().copied().filter(wanted).collect();
    let found = waiting(&app.pool, &listed, query.page).await?;
    Ok(Answer::ok(ApprovalList {
        stages: stages.iter().map(|stage| stage.as_str()).collect(),
        approvals: found.items.into_iter().map(|row| Approval::of(row, &caller)).collect(),
        pagination: Pagination::of(query.page, found.total),
    }))
}
