//! Datasets as they are answered.

use bursar_domain::reference;
use serde::Serialize;
use utoipa::ToSchema;

use crate::paging::Pagination;

/// A country.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Country {
    /// ISO 3166-1 alpha-2.
    pub(super) country_code: &'static str,
    pub(super) country_name: &'static str,
    /// What international calls begin with.
    pub(super) phone_code: Option<&'static str>,
    /// What its money is called.
    pub(super) currency: Option<&'static str>,
    /// ISO 4217.
    pub(super) currency_code: Option<&'static str>,
    /// Whether it can be chosen.
    pub(super) is_active: bool,
    /// As an emoji.
    pub(super) flag: Option<&'static str>,
}

/// Every country.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Countries {
    pub(super) countries: Vec<Country>,
    pub(super) total_countries: usize,
}

/// A state, province or region of a country.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Subdivision {
    /// ISO 3166-2.
    pub(super) state_code: &'static str,
    pub(super) state_name: &'static str,
    /// Null where it is not known.
    pub(super) capital: Option<&'static str>,
    /// Whether it can be chosen.
    pub(super) is_active: bool,
}

/// What a country is divided into.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct States {
    pub(super) country_code: &'static str,
    pub(super) country_name: &'static str,
    pub(super) states: Vec<Subdivision>,
    pub(super) total_states: usize,
}

/// A city or a larger town.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct City {
    /// GeoNames id.
    pub(super) city_code: &'static str,
    pub(super) city_name: &'static str,
    /// Whether it is a capital, of whatever.
    pub(super) is_capital: bool,
    /// Whether it can be chosen.
    pub(super) is_active: bool,
}

/// The cities of a state.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cities {
    pub(super) state_code: &'static str,
    pub(super) state_name: &'static str,
    pub(super) cities: Vec<City>,
    pub(super) total_cities: usize,
}

/// A gender.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Gender {
    pub(super) gender_code: &'static str,
    pub(super) gender_name: &'static str,
    pub(super) description: &'static str,
    /// Whether it can be chosen.
    pub(super) is_active: bool,
}

/// A marital status.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MaritalStatus {
    pub(super) status_code: &'static str,
    pub(super) status_name: &'static str,
    pub(super) description: &'static str,
    /// Whether it can be chosen.
    pub(super) is_active: bool,
}

/// How somebody else stands to a customer.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Relationship {
    pub(super) relationship_code: &'static str,
    pub(super) relationship_name: &'static str,
    pub(super) description: &'static str,
    /// Whether it can be chosen.
    pub(super) is_active: bool,
}

/// Every gender that can be recorded.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Genders {
    pub(super) genders: Vec<Gender>,
    pub(super) total_genders: usize,
}

/// Every marital status that can be recorded.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MaritalStatuses {
    pub(super) marital_statuses: Vec<MaritalStatus>,
    pub(super) total_statuses: usize,
}

/// Every relationship that can be recorded.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Relationships {
    pub(super) relationships: Vec<Relationship>,
    pub(super) total_relationships: usize,
}

/// An occupation.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Profession {
    /// ISCO-08, four digits.
    pub(super) profession_code: &'static str,
    pub(super) profession_name: &'static str,
    /// Title of its major group.
    pub(super) category: &'static str,
    /// Whether it can be chosen.
    pub(super) is_active: bool,
}

/// Occupations.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Professions {
    pub(super) professions: Vec<Profession>,
    pub(super) pagination: Pagination,
}

/// How often something repeats.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Period {
    pub(super) period_code: &'static str,
    pub(super) period_name: &'static str,
    /// ISO 8601.
    pub(super) duration: &'static str,
    pub(super) description: &'static str,
    /// Whether it can be chosen.
    pub(super) is_active: bool,
}

/// Every period.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Periods {
    pub(super) periods: Vec<Period>,
    pub(super) total_periods: usize,
}

/// How long loans usually run.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoanInterval {
    pub(super) interval_code: &'static str,
    pub(super) interval_name: &'static str,
    /// Months.
    pub(super) duration_in_months: u16,
    pub(super) description: &'static str,
    /// Whether it can be chosen.
    pub(super) is_active: bool,
}

/// Every usual duration of a loan.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoanIntervals {
    pub(super) intervals: Vec<LoanInterval>,
    pub(super) total_intervals: usize,
}

impl Country {
    pub(super) fn of(one: &'static reference::Country) -> Self {
        Self {
            country_code: &one.country_code,
            country_name: &one.country_name,
            phone_code: one.phone_code.as_deref(),
            currency: one.currency.as_deref(),
            currency_code: one.currency_code.as_deref(),
            is_active: one.is_active,
            flag: one.flag.as_deref(),
        }
    }
}

impl Subdivision {
    pub(super) fn of(one: &'static reference::State) -> Self {
        Self {
            state_code: &one.state_code,
            state_name: &one.state_name,
            capital: one.capital.as_deref(),
            is_active: one.is_active,
        }
    }
}

impl City {
    pub(super) fn of(one: &'static reference::City) -> Self {
        Self {
            city_code: &one.city_code,
            city_name: &one.city_name,
            is_capital: one.is_capital,
            is_active: one.is_active,
        }
    }
}

impl Gender {
    pub(super) fn of(one: &'static reference::Choice) -> Self {
        Self {
            gender_code: &one.code,
            gender_name: &one.name,
            description: &one.description,
            is_active: one.is_active,
        }
    }
}

impl MaritalStatus {
    pub(super) fn of(one: &'static reference::Choice) -> Self {
        Self {
            status_code: &one.code,
            status_name: &one.name,
            description: &one.description,
            is_active: one.is_active,
        }
    }
}

impl Relationship {
    pub(super) fn of(one: &'static reference::Choice) -> Self {
        Self {
            relationship_code: &one.code,
            relationship_name: &one.name,
            description: &one.description,
            is_active: one.is_active,
        }
    }
}

impl Profession {
    pub(super) fn of(one: &'static reference::Profession) -> Self {
        Self {
            profession_code: &one.profession_code,
            profession_name: &one.profession_name,
            category: &one.category,
            is_active: true,
        }
    }
}

impl Period {
    pub(super) fn of(one: &'static reference::Period) -> Self {
        Self {
            period_code: &one.period_code,
            period_name: &one.period_name,
            duration: &one.duration,
            description: &one.description,
            is_active: one.is_active,
        }
    }
}

impl LoanInterval {
    pub(super) fn of(one: &'static reference::LoanInterval) -> Self {
        Self {
            interval_code: &one.loan_interval_code,
            interval_name: &one.loan_interval_name,
            duration_in_months: one.duration_in_months,
            description: &one.description,
            is_active: one.is_active,
        }
    }
}
