//! Where the caller works and has worked.

use axum::extract::State;
use bursar_commands::compliance;
use bursar_domain::Personal;
use bursar_domain::compliance::{
    Change, Details, Employment, EmploymentChange, EmploymentType, RecordKind, VerificationStatus,
};
use bursar_domain::kernel::{EmploymentId, utc_date};
use bursar_projections::compliance::{ComplianceFilter, ComplianceSort};
use bursar_projections::{Page, Sort};
use jiff::civil::Date;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::views::{AddedEmployment, ChangedEmployment, EmploymentList, RemovedEmployment};
use super::{Wanted, added, changed, listed, location, one, pending, removed};
use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, ManageProfile};
use crate::openapi::{ReadHeaders, ReadProblems, WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request::{Conditions, Edit, OneOf, Phone, Queried, Text, Title, Write};
use crate::{query, request};

/// The routes about employment.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(
        list_employment,
        add_employment,
        change_employment,
        remove_employment
    ))
}

query! {
    /// Which employments are listed, and how.
    ListEmployment {
        /// Only this one.
        employment_id: Option<EmploymentId> = "employmentId",
        /// Only those on these terms.
        employment_type: Option<OneOf<EmploymentType>> = "employmentType",
        /// Only those of which staff think this.
        verification_status: Option<OneOf<VerificationStatus>> = "verificationStatus",
        /// The order; newest first when absent.
        sort: Sort<ComplianceSort> = "sort",
        /// Which part.
        page: Page = "page",
    }
}

request! {
    /// An employment.
    AddEmployment {
        /// Who employs the caller.
        company_name: Title<200> = "companyName",
        /// As what.
        position: Title<200> = "position",
        /// On what terms.
        employment_type: OneOf<EmploymentType> = "employmentType",
        /// The first day.
        start_date: Date = "startDate",
        /// The last day; none while it goes on.
        end_date: Option<Date> = "endDate",
        /// What it pays, in the caller's words.
        salary: Option<Title<100>> = "salary",
        /// Where the company is.
        company_address: Option<Title<500>> = "companyAddress",
        /// With the country code, E.164.
        company_phone: Option<Phone> = "companyPhone",
        /// Whom the caller reports to.
        supervisor_name: Option<Title<200>> = "supervisorName",
        /// Whether the caller works there now; when absent, unless it has ended.
        is_current: Option<bool> = "isCurrent",
    }
}

request! {
    /// What is different about an employment; what is absent stays, and null takes away what need not be there.
    ChangeEmployment {
        /// Which.
        employment_id: EmploymentId = "employmentId",
        /// Who employs the caller.
        company_name: Option<Title<200>> = "companyName",
        /// As what.
        position: Option<Title<200>> = "position",
        /// On what terms.
        employment_type: Option<OneOf<EmploymentType>> = "employmentType",
        /// The first day.
        start_date: Option<Date> = "startDate",
        /// The last day. One before today ends it, whether or not `isCurrent` says so too.
        end_date: Edit<Date> = "endDate",
        /// What it pays, in the caller's words.
        salary: Edit<Title<100>> = "salary",
        /// Where the company is.
        company_address: Edit<Title<500>> = "companyAddress",
        /// With the country code, E.164.
        company_phone: Edit<Phone> = "companyPhone",
        /// Whom the caller reports to.
        supervisor_name: Edit<Title<200>> = "supervisorName",
        /// Whether the caller works there now.
        is_current: Option<bool> = "isCurrent",
    }
}

request! {
    /// What is removed, unless the query says so.
    RemoveEmployment {
        /// Which.
        employment_id: Option<EmploymentId> = "employmentId",
        /// Why.
        reason: Option<Text<500>> = "reason",
    }
}

query! {
    /// What is removed, unless the body says so.
    RemovedEmploymentId {
        /// Which.
        employment_id: Option<EmploymentId> = "employmentId",
        /// Why.
        reason: Option<Text<500>> = "reason",
    }
}

/// Lists where the caller works and has worked.
#[utoipa::path(
    get, path = "/v1/compliance/employment", tag = "Compliance", params(ListEmployment, ReadHeaders),
    responses((status = 200, description = "The employments.", body = EmploymentList), ReadProblems)
)]
async fn list_employment(
    State(app): State<App>,
    caller: Allowed<ManageProfile>,
    conditions: Conditions,
    Queried(query): Queried<ListEmployment>,
) -> Result<Answer<EmploymentList>, Problem> {
    let filter = ComplianceFilter {
        id: query.employment_id.map(Into::into),
        status: query.verification_status.map(|OneOf(status)| status),
        employment_type: query.employment_type.map(|OneOf(terms)| terms.to_string()),
        ..ComplianceFilter::default()
    };
    let wanted = Wanted { kind: RecordKind::Employment, filter, sort: query.sort, page: query.page };
    let (employment, pagination) = listed(&app, &caller, &conditions, wanted).await?;
    Ok(Answer::ok(EmploymentList { employment, pagination }))
}

/// Adds an employment of the caller's.
#[utoipa::path(
    post, path = "/v1/compliance/employment", tag = "Compliance",
    params(WriteHeaders), request_body = AddEmployment,
    responses((status = 201, description = "Added.", body = AddedEmployment), WriteProblems)
)]
async fn add_employment(
    State(app): State<App>,
    write: Write<ManageProfile, AddEmployment>,
) -> Result<Answer<AddedEmployment>, Problem> {
    let Write { caller, body, context, .. } = write;
    let today = utc_date(app.journal.sources().clock.now());
    let OneOf(employment_type) = body.employment_type;
    let employment = Employment {
        company_name: Personal::new(body.company_name.into()),
        position: Personal::new(body.position.into()),
        employment_type,
        start_date: Personal::new(body.start_date),
        end_date: body.end_date.map(Personal::new),
        salary: body.salary.map(|salary| Personal::new(salary.into())),
        company_address: body.company_address.map(|address| Personal::new(address.into())),
        company_phone: body.company_phone.map(|number| Personal::new(number.into())),
        supervisor_name: body.supervisor_name.map(|name| Personal::new(name.into())),
        is_current: body.is_current.unwrap_or_else(|| body.end_date.is_none_or(|end| end >= today)),
    };
    let details = Details::Employment(employment);
    let committed = compliance::keep(&app.journal, context, caller.user(), details, None).await?;
    let (id, Details::Employment(employment)) = added(&committed)? else { return Err(Problem::internal()) };
    let result = AddedEmployment {
        employment_id: id.to_string(),
        standing: pending("Employment added"),
        company_name: employment.company_name.or_erased().to_owned(),
        is_current: employment.is_current,
        created_at: id.minted_at(),
    };
    Ok(Answer::ok(result).at(&committed).created(&location(id)))
}

/// Changes an employment of the caller's. What differs is to be verified anew.
#[utoipa::path(
    put, path = "/v1/compliance/employment", tag = "Compliance",
    params(WriteHeaders), request_body = ChangeEmployment,
    responses((status = 200, description = "Changed.", body = ChangedEmployment), WriteProblems)
)]
async fn change_employment(
    State(app): State<App>,
    write: Write<ManageProfile, ChangeEmployment>,
) -> Result<Answer<ChangedEmployment>, Problem> {
    let Write { caller, body, context, .. } = write;
    let change = Change::Employment(EmploymentChange {
        company_name: body.company_name.map(|name| Personal::new(name.into())),
        position: body.position.map(|position| Personal::new(position.into())),
        employment_type: body.employment_type.map(|OneOf(terms)| terms),
        start_date: body.start_date.map(Personal::new),
        end_date: body.end_date.change(Personal::new),
        salary: body.salary.change(|salary| Personal::new(salary.into())),
        company_address: body.company_address.change(|address| Personal::new(address.into())),
        company_phone: body.company_phone.change(|number| Personal::new(number.into())),
        supervisor_name: body.supervisor_name.change(|name| Personal::new(name.into())),
        is_current: body.is_current,
    });
    let id = body.employment_id;
    let committed = compliance::change(&app.journal, context, caller.user(), id, change).await?;
    let (id, changed) = changed(&committed, "Employment updated")?;
    Ok(Answer::ok(ChangedEmployment { employment_id: id.to_string(), changed }).at(&committed))
}

/// Removes an employment of the caller's, whose `employmentId` is in the query or in the body.
#[utoipa::path(
    delete, path = "/v1/compliance/employment", tag = "Compliance",
    params(RemovedEmploymentId, WriteHeaders), request_body(content = Option<RemoveEmployment>),
    responses((status = 200, description = "Removed.", body = RemovedEmployment), WriteProblems)
)]
async fn remove_employment(
    State(app): State<App>,
    query: Result<Queried<RemovedEmploymentId>, Problem>,
    write: Write<ManageProfile, RemoveEmployment>,
) -> Result<Answer<RemovedEmployment>, Problem> {
    let (Write { caller, body, context, .. }, Queried(query)) = (write, query?);
    let id = one(RecordKind::Employment, query.employment_id, body.employment_id)?;
    let reason = body.reason.or(query.reason).map(String::from);
    let committed = compliance::remove(&app.journal, context, caller.user(), id, reason).await?;
    let (id, removed, remaining_records) = removed(&committed, "Employment removed")?;
    let result = RemovedEmployment { employment_id: id.to_string(), removed, remaining_records };
    Ok(Answer::ok(result).at(&committed))
}
