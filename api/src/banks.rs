//! Banks that money can be sent to.

use axum::extract::State;
use bursar_domain::reference::{Bank, BankType};
use bursar_projections::Page;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, ReadAccount};
use crate::config::BankSection;
use crate::openapi::{ReadHeaders, ReadProblems};
use crate::paging::Pagination;
use crate::problem::Problem;
use crate::query;
use crate::request::{Conditions, OneOf, Queried, Search, Text};

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list_internal_banks)).routes(routes!(list_external_banks))
}

/// Banks inside which transfers are internal: this one.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InternalBanks {
    banks: Vec<InternalBank>,
    total_banks: usize,
}

/// This bank.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InternalBank {
    bank_code: String,
    bank_name: String,
    /// `COMMERCIAL`, `MICROFINANCE` ...
    bank_type: &'static str,
    is_active: bool,
    /// A URL; null when there is none.
    logo: Option<String>,
    /// By which channels customers can send money there.
    transfer_channels: Vec<String>,
}

query! {
    /// Which other banks are listed.
    ListExternalBanks {
        /// Text in name or code.
        q: Search = "q",
        /// ISO 3166-1 alpha-2.
        country: Option<Text<2>> = "country",
        /// The kind of licence.
        bank_type: Option<OneOf<BankType>> = "bankType",
        /// Which part.
        page: Page = "page",
    }
}

/// Other banks.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExternalBanks {
    banks: Vec<ExternalBank>,
    pagination: Pagination,
}

/// Another bank.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExternalBank {
    /// Routes transfers to it.
    bank_code: String,
    bank_name: String,
    /// `COMMERCIAL`, `MICROFINANCE` ...
    bank_type: &'static str,
    /// ISO 3166-1 alpha-2.
    country: String,
    /// Whether money can be sent there.
    is_active: bool,
    /// A URL; null when there is none.
    logo: Option<String>,
    /// By which channels customers can send money there.
    transfer_channels: Vec<String>,
    /// How long a transfer takes, in words.
    processing_time: &'static str,
}

/// Lists the banks inside which transfers are internal: this one.
#[utoipa::path(
    get, path = "/v1/payments/banks/internal", tag = "Payments", params(ReadHeaders),
    responses((status = 200, description = "This bank.", body = InternalBanks), ReadProblems)
)]
async fn list_internal_banks(
    State(app): State<App>,
    _: Allowed<ReadAccount>,
    wants: Conditions,
) -> Answer<InternalBanks> {
    let this = &app.config.bank;
    // A bank that the reference data do not know is the sandbox's.
    let listed = app.reference.banks.get(&this.code);
    let bank = InternalBank {
        bank_code: this.code.clone(),
        bank_name: this.name.clone(),
        bank_type: listed.map_or(BankType::Commercial, |bank| bank.bank_type).as_str(),
        is_active: true,
        logo: None,
        transfer_channels: this.channels.clone(),
    };
    Answer::ok(InternalBanks { banks: vec![bank], total_banks: 1 }).lasting(wants.none_match)
}

/// Lists the other banks that money can be sent to, in the order of their names.
#[utoipa::path(
    get, path = "/v1/payments/banks/external", tag = "Payments", params(ListExternalBanks, ReadHeaders),
    responses((status = 200, description = "Other banks.", body = ExternalBanks), ReadProblems)
)]
async fn list_external_banks(
    State(app): State<App>,
    _: Allowed<ReadAccount>,
    wants: Conditions,
    Queried(query): Queried<ListExternalBanks>,
) -> Result<Answer<ExternalBanks>, Problem> {
    let this = &app.config.bank;
    let matching = app.reference.banks.iter().filter(|bank| {
        bank.bank_code != this.code
            && query.country.as_ref().is_none_or(|country| bank.country == country.0)
            && query.bank_type.is_none_or(|OneOf(bank_type)| bank.bank_type == bank_type)
            && query.q.finds([
                &*bank.bank_name,
                &bank.bank_code,
                bank.cbn_code.as_deref().unwrap_or_default(),
            ])
    });
    let (banks, pagination) = Pagination::cut(query.page, matching);
    let banks = banks.into_iter().map(|bank| ExternalBank::of(bank, this)).collect();
    Ok(Answer::ok(ExternalBanks { banks, pagination }).lasting(wants.none_match))
}

impl ExternalBank {
    fn of(bank: &Bank, this: &BankSection) -> Self {
        Self {
            bank_code: bank.bank_code.clone(),
            bank_name: bank.bank_name.clone(),
            bank_type: bank.bank_type.as_str(),
            country: bank.country.clone(),
            is_active: bank.is_active,
            logo: None,
            transfer_channels: this.channels.clone(),
            processing_time: bank.processing_time(&this.country),
        }
    }
}
