//! Where the caller can be found.

use axum::extract::State;
use bursar_commands::{Committed, compliance};
use bursar_domain::compliance::{
    Address, AddressType, ComplianceEvent, Details, RecordKind, VerificationStatus,
};
use bursar_domain::kernel::AddressId;
use bursar_domain::{Event, Personal};
use bursar_projections::compliance::{ComplianceFilter, ComplianceSort};
use bursar_projections::{Page, Sort};
use jiff::civil::Date;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::fields::Country;
use super::views::{AddressList, KeptAddress, Standing};
use super::{Wanted, listed, location};
use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, ManageProfile};
use crate::openapi::{ReadHeaders, ReadProblems, WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request::{Conditions, OneOf, Queried, Title, Write};
use crate::{query, request};

/// The routes about addresses.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list_addresses, keep_address))
}

query! {
    /// Which addresses are listed, and how.
    ListAddresses {
        /// Only this one.
        address_id: Option<AddressId> = "addressId",
        /// Only the one of this type.
        address_type: Option<OneOf<AddressType>> = "addressType",
        /// Only those of which staff think this.
        verification_status: Option<OneOf<VerificationStatus>> = "verificationStatus",
        /// The order; newest first when absent.
        sort: Sort<ComplianceSort> = "sort",
        /// Which part.
        page: Page = "page",
    }
}

request! {
    /// An address, all of it.
    KeepAddress {
        /// The address whose place this one takes; the one of the same type when absent.
        address_id: Option<AddressId> = "addressId",
        /// What it is for.
        address_type: OneOf<AddressType> = "addressType",
        /// House and street.
        street_address: Title<200> = "streetAddress",
        /// The city or town.
        city: Title<100> = "city",
        /// The state: its ISO 3166-2 code, with or without the country's, or its English name. One that is not known is
        /// kept as it is written.
        state: Option<Title<100>> = "state",
        /// The postal code.
        postal_code: Option<Title<20>> = "postalCode",
        /// The country: its ISO 3166-1 code of two or three letters, or its English name.
        country: Country = "country",
        /// Whether it comes first, in the place of the one that does now. The first address does anyway.
        is_primary: Option<bool> = "isPrimary",
        /// The first day it is good for.
        valid_from: Option<Date> = "validFrom",
        /// The last.
        valid_to: Option<Date> = "validTo",
    }
}

/// Lists the caller's addresses.
#[utoipa::path(
    get, path = "/v1/compliance/address", tag = "Compliance", params(ListAddresses, ReadHeaders),
    responses((status = 200, description = "The addresses.", body = AddressList), ReadProblems)
)]
async fn list_addresses(
    State(app): State<App>,
    caller: Allowed<ManageProfile>,
    conditions: Conditions,
    Queried(query): Queried<ListAddresses>,
) -> Result<Answer<AddressList>, Problem> {
    let filter = ComplianceFilter {
        id: query.address_id.map(Into::into),
        status: query.verification_status.map(|OneOf(status)| status),
        address_type: query.address_type.map(|OneOf(kind)| kind.to_string()),
        ..ComplianceFilter::default()
    };
    let wanted = Wanted { kind: RecordKind::Address, filter, sort: query.sort, page: query.page };
    let (addresses, pagination) = listed(&app, &caller, &conditions, wanted).await?;
    Ok(Answer::ok(AddressList { addresses, pagination }))
}

/// Adds an address, or puts it in the place of the caller's address of that type (or of `addressId`): 201 or 200. What is
/// absent is then no part of it any more.
#[utoipa::path(
    post, path = "/v1/compliance/address", tag = "Compliance",
    params(WriteHeaders), request_body = KeepAddress,
    responses(
        (status = 200, description = "Replaced.", body = KeptAddress),
        (status = 201, description = "Added.", body = KeptAddress),
        WriteProblems
    )
)]
async fn keep_address(
    State(app): State<App>,
    write: Write<ManageProfile, KeepAddress>,
) -> Result<Answer<KeptAddress>, Problem> {
    let Write { caller, body, context, .. } = write;
    let in_place_of = body.address_id;
    let details = Details::Address(located(&app, body));
    let committed = compliance::keep(&app.journal, context, caller.user(), details, in_place_of).await?;
    kept(&committed)
}

/// The address, and what the datasets know of it.
fn located(app: &App, body: KeepAddress) -> Address {
    let country = app.places.countries.get(body.country.code);
    let state =
        country.zip(body.state.as_ref()).and_then(|(country, state)| app.places.state(country, &state.0));
    let geocoded = country.is_some_and(|country| app.places.has_city(country, state, &body.city.0));
    let OneOf(address_type) = body.address_type;
    Address {
        address_type,
        street_address: Personal::new(body.street_address.into()),
        city: Personal::new(body.city.into()),
        state: body.state.map(|state| Personal::new(state.into())),
        postal_code: body.postal_code.map(|code| Personal::new(code.into())),
        country: Personal::new(body.country.text),
        is_primary: body.is_primary.unwrap_or(false),
        valid_from: body.valid_from.map(Personal::new),
        valid_to: body.valid_to.map(Personal::new),
        country_code: body.country.code.to_owned(),
        state_code: state.map(|state| Personal::new(state.state_code.clone())),
        validated: state.is_some(),
        geocoded,
    }
}

/// What became of the address.
fn kept(committed: &Committed) -> Result<Answer<KeptAddress>, Problem> {
    let (_, (id, details, status, is_new)) = committed.event(|event| match event {
        Event::Compliance(ComplianceEvent::Added { id, details }) => {
            Some((*id, &**details, VerificationStatus::Pending, true))
        }
        Event::Compliance(ComplianceEvent::Changed(changed)) => {
            Some((changed.id, &changed.details, changed.status, false))
        }
        _ => None,
    })?;
    let Details::Address(address) = details else { return Err(Problem::internal()) };
    let result = KeptAddress {
        address_id: id.to_string(),
        standing: Standing::of(status, if is_new { "Address added" } else { "Address updated" }),
        address_type: address.address_type.as_str(),
        validated: address.validated,
        geocoded: address.geocoded,
        is_primary: address.is_primary,
        created_at: id.minted_at(),
    };
    let answer = Answer::ok(result).at(committed);
    Ok(if is_new { answer.created(&location(id)) } else { answer })
}
