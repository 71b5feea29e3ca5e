//! Whom to call when something happens to the caller.

use axum::extract::State;
use bursar_commands::compliance;
use bursar_domain::Personal;
use bursar_domain::compliance::{
    Change, Details, EmergencyContact, EmergencyContactChange, Priority, RecordKind, VerificationStatus,
};
use bursar_domain::kernel::ContactId;
use bursar_projections::compliance::{ComplianceFilter, ComplianceSort};
use bursar_projections::{Page, Sort};
use jiff::civil::Date;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::fields::Relationship;
use super::views::{AddedContact, ChangedContact, ContactList, RemovedContact};
use super::{Wanted, added, changed, listed, location, one, pending, removed};
use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, ManageProfile};
use crate::openapi::{ReadHeaders, ReadProblems, WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request::{Conditions, Edit, Email, OneOf, Phone, Queried, Text, Title, Write};
use crate::{query, request};

/// The routes about emergency contacts.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list_contacts, add_contact, change_contact, remove_contact))
}

query! {
    /// Which emergency contacts are listed, and how.
    ListContacts {
        /// Only this one.
        contact_id: Option<ContactId> = "contactId",
        /// Only those who stand so to the caller.
        relationship: Option<Relationship> = "relationship",
        /// Only those who are called then.
        priority: Option<OneOf<Priority>> = "priority",
        /// Only those of whom staff think this.
        verification_status: Option<OneOf<VerificationStatus>> = "verificationStatus",
        /// The order; newest first when absent.
        sort: Sort<ComplianceSort> = "sort",
        /// Which part.
        page: Page = "page",
    }
}

request! {
    /// Somebody to be called.
    AddContact {
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
        /// When they are called. At most one is `PRIMARY`: whoever was so far becomes `SECONDARY`.
        priority: OneOf<Priority> = "priority",
        /// Where they live.
        address: Option<Title<500>> = "address",
        /// Their birthday.
        date_of_birth: Option<Date> = "dateOfBirth",
    }
}

request! {
    /// What is different about somebody; what is absent stays, and null takes away what need not be there.
    ChangeContact {
        /// Whom.
        contact_id: ContactId = "contactId",
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
        /// When they are called. At most one is `PRIMARY`: whoever was so far becomes `SECONDARY`.
        priority: Option<OneOf<Priority>> = "priority",
        /// Where they live.
        address: Edit<Title<500>> = "address",
        /// Their birthday.
        date_of_birth: Edit<Date> = "dateOfBirth",
    }
}

request! {
    /// Who is removed, unless the query says so.
    RemoveContact {
        /// Who.
        contact_id: Option<ContactId> = "contactId",
        /// Why.
        reason: Option<Text<500>> = "reason",
    }
}

query! {
    /// Who is removed, unless the body says so.
    RemovedContactId {
        /// Who.
        contact_id: Option<ContactId> = "contactId",
        /// Why.
        reason: Option<Text<500>> = "reason",
    }
}

/// Lists the caller's emergency contacts.
#[utoipa::path(
    get, path = "/v1/compliance/emergency_contact", tag = "Compliance", params(ListContacts, ReadHeaders),
    responses((status = 200, description = "The contacts.", body = ContactList), ReadProblems)
)]
async fn list_contacts(
    State(app): State<App>,
    caller: Allowed<ManageProfile>,
    conditions: Conditions,
    Queried(query): Queried<ListContacts>,
) -> Result<Answer<ContactList>, Problem> {
    let filter = ComplianceFilter {
        id: query.contact_id.map(Into::into),
        status: query.verification_status.map(|OneOf(status)| status),
        relationship: query.relationship.map(String::from),
        priority: query.priority.map(|OneOf(priority)| priority.to_string()),
        ..ComplianceFilter::default()
    };
    let wanted = Wanted { kind: RecordKind::EmergencyContact, filter, sort: query.sort, page: query.page };
    let (contacts, pagination) = listed(&app, &caller, &conditions, wanted).await?;
    Ok(Answer::ok(ContactList { contacts, pagination }))
}

/// Adds somebody to be called when something happens to the caller.
#[utoipa::path(
    post, path = "/v1/compliance/emergency_contact", tag = "Compliance",
    params(WriteHeaders), request_body = AddContact,
    responses((status = 201, description = "Added.", body = AddedContact), WriteProblems)
)]
async fn add_contact(
    State(app): State<App>,
    write: Write<ManageProfile, AddContact>,
) -> Result<Answer<AddedContact>, Problem> {
    let Write { caller, body, context, .. } = write;
    let OneOf(priority) = body.priority;
    let contact = EmergencyContact {
        relationship: body.relationship.into(),
        first_name: Personal::new(body.first_name.into()),
        last_name: Personal::new(body.last_name.into()),
        phone_number: Personal::new(body.phone_number.into()),
        email: body.email.map(|email| Personal::new(email.into())),
        priority,
        address: body.address.map(|address| Personal::new(address.into())),
        date_of_birth: body.date_of_birth.map(Personal::new),
    };
    let details = Details::EmergencyContact(contact);
    let committed = compliance::keep(&app.journal, context, caller.user(), details, None).await?;
    let (id, Details::EmergencyContact(contact)) = added(&committed)? else {
        return Err(Problem::internal());
    };
    let result = AddedContact {
        contact_id: id.to_string(),
        standing: pending("Emergency contact added"),
        relationship: contact.relationship.clone(),
        priority: contact.priority.as_str(),
        created_at: id.minted_at(),
    };
    Ok(Answer::ok(result).at(&committed).created(&location(id)))
}

/// Changes one of the caller's emergency contacts. What differs is to be verified anew.
#[utoipa::path(
    put, path = "/v1/compliance/emergency_contact", tag = "Compliance",
    params(WriteHeaders), request_body = ChangeContact,
    responses((status = 200, description = "Changed.", body = ChangedContact), WriteProblems)
)]
async fn change_contact(
    State(app): State<App>,
    write: Write<ManageProfile, ChangeContact>,
) -> Result<Answer<ChangedContact>, Problem> {
    let Write { caller, body, context, .. } = write;
    let change = Change::EmergencyContact(EmergencyContactChange {
        relationship: body.relationship.map(String::from),
        first_name: body.first_name.map(|name| Personal::new(name.into())),
        last_name: body.last_name.map(|name| Personal::new(name.into())),
        phone_number: body.phone_number.map(|number| Personal::new(number.into())),
        email: body.email.change(|email| Personal::new(email.into())),
        priority: body.priority.map(|OneOf(priority)| priority),
        address: body.address.change(|address| Personal::new(address.into())),
        date_of_birth: body.date_of_birth.change(Personal::new),
    });
    let id = body.contact_id;
    let committed = compliance::change(&app.journal, context, caller.user(), id, change).await?;
    let (id, changed) = changed(&committed, "Emergency contact updated")?;
    Ok(Answer::ok(ChangedContact { contact_id: id.to_string(), changed }).at(&committed))
}

/// Removes one of the caller's emergency contacts, whose `contactId` is in the query or in the body.
#[utoipa::path(
    delete, path = "/v1/compliance/emergency_contact", tag = "Compliance",
    params(RemovedContactId, WriteHeaders), request_body(content = Option<RemoveContact>),
    responses((status = 200, description = "Removed.", body = RemovedContact), WriteProblems)
)]
async fn remove_contact(
    State(app): State<App>,
    query: Result<Queried<RemovedContactId>, Problem>,
    write: Write<ManageProfile, RemoveContact>,
) -> Result<Answer<RemovedContact>, Problem> {
    let (Write { caller, body, context, .. }, Queried(query)) = (write, query?);
    let id = one(RecordKind::EmergencyContact, query.contact_id, body.contact_id)?;
    let reason = body.reason.or(query.reason).map(String::from);
    let committed = compliance::remove(&app.journal, context, caller.user(), id, reason).await?;
    let (id, removed, remaining_contacts) = removed(&committed, "Emergency contact removed")?;
    let result = RemovedContact { contact_id: id.to_string(), removed, remaining_contacts };
    Ok(Answer::ok(result).at(&committed))
}
