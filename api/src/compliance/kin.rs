//! The caller's next of kin.

use axum::extract::State;
use bursar_commands::compliance;
use bursar_domain::Personal;
use bursar_domain::compliance::{Change, Details, Kin, KinChange, RecordKind, VerificationStatus};
use bursar_domain::kernel::KinId;
use bursar_projections::compliance::{ComplianceFilter, ComplianceSort};
use bursar_projections::{Page, Sort};
use jiff::civil::Date;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::fields::Relationship;
use super::views::{AddedKin, ChangedKin, KinList, RemovedKin};
use super::{Wanted, added, changed, listed, location, one, pending, removed};
use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, ManageProfile};
use crate::openapi::{ReadHeaders, ReadProblems, WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request::{Conditions, Edit, Email, OneOf, Phone, Queried, Text, Title, Write};
use crate::{query, request};

/// The routes about next of kin.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list_kin, add_kin, change_kin, remove_kin))
}

query! {
    /// Which next of kin are listed, and how.
    ListKin {
        /// Only this one.
        kin_id: Option<KinId> = "kinId",
        /// Only those who stand so to the caller.
        relationship: Option<Relationship> = "relationship",
        /// Only those of whom staff think this.
        verification_status: Option<OneOf<VerificationStatus>> = "verificationStatus",
        /// The order; newest first when absent.
        sort: Sort<ComplianceSort> = "sort",
        /// Which part.
        page: Page = "page",
    }
}

request! {
    /// Somebody next of kin.
    AddKin {
        /// How they stand to the caller: a code of `/v1/datasets/person/relationships`.
        relationship: Relationship = "relationship",
        /// Their given names.
        first_name: Title<100> = "firstName",
        /// Their family name.
        last_name: Title<100> = "lastName",
        /// With the country code, E.164.
        phone_number: Phone = "phoneNumber",
        /// Where they can be written to.
        email: Option<Email> = "email",
        /// Where they live.
        address: Option<Title<500>> = "address",
        /// Whether they come first, in the place of whoever does now. The first one does anyway.
        is_primary: Option<bool> = "isPrimary",
        /// Their birthday.
        date_of_birth: Option<Date> = "dateOfBirth",
        /// Their nationality.
        nationality: Option<Title<100>> = "nationality",
    }
}

request! {
    /// What is different about somebody; what is absent stays, and null takes away what need not be there.
    ChangeKin {
        /// Whom.
        kin_id: KinId = "kinId",
        /// How they stand to the caller: a code of `/v1/datasets/person/relationships`.
        relationship: Option<Relationship> = "relationship",
        /// Their given names.
        first_name: Option<Title<100>> = "firstName",
        /// Their family name.
        last_name: Option<Title<100>> = "lastName",
        /// With the country code, E.164.
        phone_number: Option<Phone> = "phoneNumber",
        /// Where they can be written to.
        email: Edit<Email> = "email",
        /// Where they live.
        address: Edit<Title<500>> = "address",
        /// True puts them first. They are no longer first when somebody else is.
        is_primary: Option<bool> = "isPrimary",
        /// Their birthday.
        date_of_birth: Edit<Date> = "dateOfBirth",
        /// Their nationality.
        nationality: Edit<Title<100>> = "nationality",
    }
}

request! {
    /// Who is removed, unless the query says so.
    RemoveKin {
        /// Who.
        kin_id: Option<KinId> = "kinId",
        /// Why.
        reason: Option<Text<500>> = "reason",
    }
}

query! {
    /// Who is removed, unless the body says so.
    RemovedKinId {
        /// Who.
        kin_id: Option<KinId> = "kinId",
        /// Why.
        reason: Option<Text<500>> = "reason",
    }
}

/// Lists the caller's next of kin.
#[utoipa::path(
    get, path = "/v1/compliance/kin", tag = "Compliance", params(ListKin, ReadHeaders),
    responses((status = 200, description = "The next of kin.", body = KinList), ReadProblems)
)]
async fn list_kin(
    State(app): State<App>,
    caller: Allowed<ManageProfile>,
    conditions: Conditions,
    Queried(query): Queried<ListKin>,
) -> Result<Answer<KinList>, Problem> {
    let filter = ComplianceFilter {
        id: query.kin_id.map(Into::into),
        status: query.verification_status.map(|OneOf(status)| status),
        relationship: query.relationship.map(String::from),
        ..ComplianceFilter::default()
    };
    let wanted = Wanted { kind: RecordKind::Kin, filter, sort: query.sort, page: query.page };
    let (kin, pagination) = listed(&app, &caller, &conditions, wanted).await?;
    Ok(Answer::ok(KinList { kin, pagination }))
}

/// Adds somebody to the caller's next of kin.
#[utoipa::path(
    post, path = "/v1/compliance/kin", tag = "Compliance",
    params(WriteHeaders), request_body = AddKin,
    responses((status = 201, description = "Added.", body = AddedKin), WriteProblems)
)]
async fn add_kin(
    State(app): State<App>,
    write: Write<ManageProfile, AddKin>,
) -> Result<Answer<AddedKin>, Problem> {
    let Write { caller, body, context, .. } = write;
    let kin = Kin {
        relationship: body.relationship.into(),
        first_name: Personal::new(body.first_name.into()),
        last_name: Personal::new(body.last_name.into()),
        phone_number: Personal::new(body.phone_number.into()),
        email: body.email.map(|email| Personal::new(email.into())),
        address: body.address.map(|address| Personal::new(address.into())),
        is_primary: body.is_primary.unwrap_or(false),
        date_of_birth: body.date_of_birth.map(Personal::new),
        nationality: body.nationality.map(|nationality| Personal::new(nationality.into())),
    };
    let committed = compliance::keep(&app.journal, context, caller.user(), Details::Kin(kin), None).await?;
    let (id, Details::Kin(kin)) = added(&committed)? else { return Err(Problem::internal()) };
    let result = AddedKin {
        kin_id: id.to_string(),
        standing: pending("Next of kin added"),
        relationship: kin.relationship.clone(),
        is_primary: kin.is_primary,
        created_at: id.minted_at(),
    };
    Ok(Answer::ok(result).at(&committed).created(&location(id)))
}

/// Changes one of the caller's next of kin. What differs is to be verified anew.
#[utoipa::path(
    put, path = "/v1/compliance/kin", tag = "Compliance",
    params(WriteHeaders), request_body = ChangeKin,
    responses((status = 200, description = "Changed.", body = ChangedKin), WriteProblems)
)]
async fn change_kin(
    State(app): State<App>,
    write: Write<ManageProfile, ChangeKin>,
) -> Result<Answer<ChangedKin>, Problem> {
    let Write { caller, body, context, .. } = write;
    let change = Change::Kin(KinChange {
        relationship: body.relationship.map(String::from),
        first_name: body.first_name.map(|name| Personal::new(name.into())),
        last_name: body.last_name.map(|name| Personal::new(name.into())),
        phone_number: body.phone_number.map(|number| Personal::new(number.into())),
        email: body.email.change(|email| Personal::new(email.into())),
        address: body.address.change(|address| Personal::new(address.into())),
        is_primary: body.is_primary,
        date_of_birth: body.date_of_birth.change(Personal::new),
        nationality: body.nationality.change(|nationality| Personal::new(nationality.into())),
    });
    let committed = compliance::change(&app.journal, context, caller.user(), body.kin_id, change).await?;
    let (id, changed) = changed(&committed, "Next of kin updated")?;
    Ok(Answer::ok(ChangedKin { kin_id: id.to_string(), changed }).at(&committed))
}

/// Removes one of the caller's next of kin, whose `kinId` is in the query or in the body.
#[utoipa::path(
    delete, path = "/v1/compliance/kin", tag = "Compliance",
    params(RemovedKinId, WriteHeaders), request_body(content = Option<RemoveKin>),
    responses((status = 200, description = "Removed.", body = RemovedKin), WriteProblems)
)]
async fn remove_kin(
    State(app): State<App>,
    query: Result<Queried<RemovedKinId>, Problem>,
    write: Write<ManageProfile, RemoveKin>,
) -> Result<Answer<RemovedKin>, Problem> {
    let (Write { caller, body, context, .. }, Queried(query)) = (write, query?);
    let id = one(RecordKind::Kin, query.kin_id, body.kin_id)?;
    let reason = body.reason.or(query.reason).map(String::from);
    let committed = compliance::remove(&app.journal, context, caller.user(), id, reason).await?;
    let (id, removed, remaining_contacts) = removed(&committed, "Next of kin removed")?;
    Ok(Answer::ok(RemovedKin { kin_id: id.to_string(), removed, remaining_contacts }).at(&committed))
}
