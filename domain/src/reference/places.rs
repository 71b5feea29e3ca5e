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
    /// ISO 3166-1 alpha-3.
    pub alpha3_code: String,
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
    /// The country it lies in.
    pub country_code: String,
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
            countries.named_by(&city.city_code, &city.country_code)?;
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

    /// The country that somebody means: by either of its codes, or by its name. Case does not matter.
    #[must_use]
    pub fn country(&self, text: &str) -> Option<&Country> {
        let wanted = Wanted::new(text);
        self.countries.iter().find(|country| {
            let Country { country_code, alpha3_code, country_name, is_active, .. } = country;
            *is_active && [country_code, alpha3_code, country_name].iter().any(|name| wanted.is(name))
        })
    }

    /// The subdivision of the country that somebody means: by its code, with or without the country's, or by its name.
    /// Case does not matter.
    #[must_use]
    pub fn state<'a>(&'a self, country: &'a Country, text: &str) -> Option<&'a State> {
        let wanted = Wanted::new(text);
        self.states_of(country).find(|state| {
            let State { state_code, state_name, is_active, .. } = state;
            let own_code = state_code.split_once('-').map_or(&**state_code, |(_, own)| own);
            *is_active && [state_code, own_code, state_name].iter().any(|name| wanted.is(name))
        })
    }

    /// Whether a city of this name lies in the subdivision; in the country, when no subdivision is known.
    #[must_use]
    pub fn has_city(&self, country: &Country, state: Option<&State>, text: &str) -> bool {
        let wanted = Wanted::new(text);
        let lies_there = |city: &City| match state {
            Some(state) => city.state_code.as_ref() == Some(&state.state_code),
            None => city.country_code == country.country_code,
        };
        self.cities.iter().any(|city| lies_there(city) && city.is_active && wanted.is(&city.city_name))
    }
}

/// A name as somebody wrote it: case and the white space around it do not matter.
struct Wanted(String);

impl Wanted {
    fn new(text: &str) -> Self {
        Self(text.trim().to_lowercase())
    }

    fn is(&self, name: &str) -> bool {
        name.to_lowercase() == self.0
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
