//! What the caller says about themselves and those close to them: addresses, next of kin, employment, emergency contacts.
//!
//! The four kinds are kept, listed, changed and removed alike; a file has what is a kind's own, its fields.

mod address;
mod emergency_contact;
mod employment;
pub(crate) mod fields;
mod kin;
mod staff;
mod views;

use bursar_commands::Committed;
use bursar_domain::compliance::{ComplianceEvent, Details, RecordId, RecordKind, VerificationStatus};
use bursar_domain::{Event, Personal};
use bursar_projections::compliance::{ComplianceFilter, ComplianceRow, ComplianceSort, of_owner};
use bursar_projections::{Page, Sort};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use utoipa_axum::router::OpenApiRouter;

use crate::app::App;
use crate::auth::Caller;
use crate::paging::Pagination;
use crate::problem::Problem;
use crate::request::Conditions;
use views::{Changed, Listed, Removed, Standing};

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .merge(address::routes())
        .merge(kin::routes())
        .merge(employment::routes())
        .merge(emergency_contact::routes())
        .merge(staff::routes())
}

/// The read model behind these pages.
const MODEL: &str = "compliance";

/// What `reason` says when a removal gives none.
const NO_REASON: &str = "Removed by the customer";

/// Which records a list shows, and how.
struct Wanted {
    kind: RecordKind,
    filter: ComplianceFilter,
    sort: Sort<ComplianceSort>,
    page: Page,
}

/// One page of the caller's records of a kind.
async fn listed<T: DeserializeOwned>(
    app: &App,
    caller: &Caller,
    conditions: &Conditions,
    wanted: Wanted,
) -> Result<(Vec<T>, Pagination), Problem> {
    let Wanted { kind, filter, sort, page } = wanted;
    app.fresh(caller, conditions, &[MODEL]).await?;
    let found = of_owner(&app.pool, caller.user(), kind, &filter, sort, page).await?;
    let records: Result<Vec<T>, _> = found.items.into_iter().map(shown).collect();
    Ok((records?, Pagination::of(page, found.total)))
}

/// A row as people see it. The view is made from the names that the domain gives the fields, and says what they are.
fn shown<T: DeserializeOwned>(row: ComplianceRow) -> Result<T, Problem> {
    let shown = || {
        let mut object: Map<String, Value> = row.details.clone();
        object.insert(id_name(row.kind).to_owned(), row.record_id.to_string().into());
        if let Value::Object(listed) = serde_json::to_value(Listed::of(&row))? {
            object.extend(listed);
        }
        serde_json::from_value(Value::Object(object))
    };
    shown().map_err(|error| {
        tracing::error!(%error, record = %row.record_id, "a record cannot be shown");
        Problem::internal()
    })
}

/// What the id of a kind is called.
const fn id_name(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::Address => "addressId",
        RecordKind::Kin => "kinId",
        RecordKind::Employment => "employmentId",
        RecordKind::EmergencyContact => "contactId",
    }
}

/// Where a record is: the list of its kind that shows nothing else.
fn location(id: RecordId) -> String {
    let list = match id.kind() {
        RecordKind::Address => "address",
        RecordKind::Kin => "kin",
        RecordKind::Employment => "employment",
        RecordKind::EmergencyContact => "emergency_contact",
    };
    format!("/v1/compliance/{list}?{}={id}", id_name(id.kind()))
}

/// The record that a unit added.
fn added(committed: &Committed) -> Result<(RecordId, &Details), Problem> {
    let (_, added) = committed.event(|event| match event {
        Event::Compliance(ComplianceEvent::Added { id, details }) => Some((*id, &**details)),
        _ => None,
    })?;
    Ok(added)
}

/// What a unit changed. The record that was asked for comes before one that makes room for it.
fn changed(committed: &Committed, message: &'static str) -> Result<(RecordId, Changed), Problem> {
    let (recorded, changed) = committed.event(|event| match event {
        Event::Compliance(ComplianceEvent::Changed(changed)) => Some(&**changed),
        _ => None,
    })?;
    let result = Changed {
        standing: Standing::of(changed.status, message),
        updated_fields: changed.updated_fields.clone(),
        updated_at: recorded.recorded_at,
    };
    Ok((changed.id, result))
}

/// What a unit removed, and how many of its kind are left.
fn removed(committed: &Committed, message: &'static str) -> Result<(RecordId, Removed, usize), Problem> {
    let (recorded, (id, reason, remaining)) = committed.event(|event| match event {
        Event::Compliance(ComplianceEvent::Removed { id, reason, remaining }) => {
            Some((*id, reason, *remaining))
        }
        _ => None,
    })?;
    let reason = reason.as_ref().map_or(NO_REASON, Personal::or_erased).to_owned();
    let removed = Removed { status: "SUCCESS", removed_at: recorded.recorded_at, reason, message };
    Ok((id, removed, remaining))
}

/// A record that staff have not seen.
fn pending(message: &'static str) -> Standing {
    Standing::of(VerificationStatus::Pending, message)
}

/// The record that a DELETE is about: its id is in the query or in the body, and nothing else will do.
fn one<T: PartialEq>(kind: RecordKind, in_query: Option<T>, in_body: Option<T>) -> Result<T, Problem> {
    let wrong = |code, message| {
        let name = id_name(kind);
        Err(Problem::bad_request(format!("/{name}"), code, format!("{name} {message}")))
    };
    match (in_query, in_body) {
        (Some(one), Some(other)) if one != other => wrong("CONFLICT", "is another in the query"),
        (Some(one), _) | (None, Some(one)) => Ok(one),
        (None, None) => wrong("REQUIRED", "is required, in the query or in the body"),
    }
}
