//! Where people live.

use serde::Deserialize;

use super::{Dataset, Entry, ReferenceError};

/// A country. The field names are those of the dataset's columns, as everywhere in this module.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Country {
    /// ISO 3166-1 alpha-2.
    pub country_code: String,
    /// In English.
    pub country_name: String,
    /// What international calls begin with, such as `+234`.
    pub phone_code: Option<String>,
    /// What its money is called.
    pub currency: Option<String>,
    /// ISO 4217 code of its money.
    pub currency_code: Option<String>,
    /// Whether it can be chosen.
    pub is_active: bool,
    /// As an emoji.
    pub flag: Option<String>,
}

/// A subdivision of a country.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct State {
    /// The country.
    pub country_code: String,
    /// ISO 3166-2, such as `NG-LA`.
    pub state_code: String,
    /// In English.
    pub state_name: String,
    /// Where known.
    pub capital: Option<String>,
    /// Whether it can be chosen.
    pub is_active: bool,
}

/// A city or a larger town.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct City {
    /// GeoNames id.
    pub city_code: String,
    /// The subdivision it lies in, where known.
    pub state_code: Option<String>,
    /// Its name.
    pub city_name: String,
    /// Whether it is a capital, of whatever.
    pub is_capital: bool,
    /// Whether it can be chosen.
    pub is_active: bool,
}

/// Countries, their subdivisions, and the cities in those.
#[derive(Debug, Clone)]
pub struct Places {
    /// Countries.
    pub countries: Dataset<Country>,
    /// Subdivisions of countries.
    pub states: Dataset<State>,
    cities: Dataset<City>,
}

impl Places {
    /// Places of these rows.
    ///
    /// # Errors
    /// [`ReferenceError`], when they do not fit together.
    pub fn new(
        countries: Vec<Country>,
        states: Vec<State>,
        cities: Vec<City>,
    ) -> Result<Self, ReferenceError> {
        let (countries, states) = (Dataset::new(countries)?, Dataset::new(states)?);
        let cities = Dataset::new(cities)?;
        for state in states.iter() {
            countries.named_by(&state.state_code, &state.country_code)?;
        }
        for city in cities.iter() {
            if let Some(state) = &city.state_code {
                states.named_by(&city.city_code, state)?;
            }
        }
        Ok(Self { countries, states, cities })
    }

    /// What the country is divided into, in the order of names.
    pub fn states_of<'a>(&'a self, country: &'a Country) -> impl Iterator<Item = &'a State> {
        self.states.iter().filter(|state| state.country_code == country.country_code)
    }

    /// The cities of the subdivision, in the order of names.
    pub fn cities_of<'a>(&'a self, state: &'a State) -> impl Iterator<Item = &'a City> {
        self.cities.iter().filter(|city| city.state_code.as_ref() == Some(&state.state_code))
    }
}

impl Entry for Country {
    fn code(&self) -> &str {
        &self.country_code
    }

    fn name(&self) -> &str {
        &self.country_name
    }
}

impl Entry for State {
    fn code(&self) -> &str {
        &self.state_code
    }

    fn name(&self) -> &str {
        &self.state_name
    }
}

impl Entry for City {
    fn code(&self) -> &str {
        &self.city_code
    }

    fn name(&self) -> &str {
        &self.city_name
    }
}
