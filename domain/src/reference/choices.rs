//! What people choose from, in the order in which it is offered.

use serde::Deserialize;

/// One of a few.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Choice {
    /// Names it; unique in its list.
    #[serde(alias = "gender_code", alias = "marital_status_code", alias = "relationship_code")]
    pub code: String,
    /// What people call it.
    #[serde(alias = "gender_name", alias = "marital_status_name", alias = "relationship_name")]
    pub name: String,
    /// What it means.
    pub description: String,
    /// Whether it can be chosen.
    pub is_active: bool,
}

/// An occupation.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Profession {
    /// ISCO-08, four digits.
    pub profession_code: String,
    /// Its name.
    pub profession_name: String,
    /// Title of its major group.
    pub category: String,
}

/// How often something repeats.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Period {
    /// `DAILY`, `MONTHLY` ...
    pub period_code: String,
    /// Its name.
    pub period_name: String,
    /// ISO 8601.
    pub duration: String,
    /// What it means.
    pub description: String,
    /// Whether it can be chosen.
    pub is_active: bool,
}

/// How long loans usually run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct LoanInterval {
    /// `12_MONTHS` ...
    pub loan_interval_code: String,
    /// Its name.
    pub loan_interval_name: String,
    /// Months.
    pub duration_in_months: u16,
    /// What it means.
    pub description: String,
    /// Whether it can be chosen.
    pub is_active: bool,
}

/// All of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choices {
    /// Genders.
    pub genders: Vec<Choice>,
    /// Marital statuses.
    pub marital_statuses: Vec<Choice>,
    /// How somebody else stands to a customer.
    pub relationships: Vec<Choice>,
    /// Occupations.
    pub professions: Vec<Profession>,
    /// How often something repeats, the most often first.
    pub periods: Vec<Period>,
    /// How long loans run, the shortest first.
    pub loan_intervals: Vec<LoanInterval>,
}
