//! What people say about themselves.

use bursar_domain::users::{Notifications, PostalAddress, Preferences, RegisterUser};
use jiff::civil::Date;

use crate::app::App;
use crate::problem::{FieldError, Problem};
use crate::request;
use crate::request::{CountryCode, Email, Language, Phone, Strict, Text, TimeZoneName, Title};

/// Nobody is older, in years.
const OLDEST: i16 = 150;

request! {
    /// Somebody who wants to become a customer.
    NewUser {
        /// Given name.
        first_name: Title<100> = "firstName",
        /// Family name.
        last_name: Title<100> = "lastName",
        /// Where mail goes, and how they log in; nobody else may have it.
        email: Email = "email",
        /// With country code; E.164 in answers.
        phone_number: Phone = "phoneNumber",
        /// `YYYY-MM-DD`. There is a least age.
        date_of_birth: Date = "dateOfBirth",
        /// ISO 3166-1 alpha-2.
        country_code: CountryCode = "countryCode",
        /// BCP 47.
        preferred_language: Option<Language> = "preferredLanguage",
    }
}

request! {
    /// Where somebody lives. A field that is absent stays as it is.
    AddressFields {
        /// Street and number.
        street: Option<Title<200>> = "street",
        /// City.
        city: Option<Title<100>> = "city",
        /// State or province.
        state: Option<Title<100>> = "state",
        /// Postal code.
        postal_code: Option<Title<20>> = "postalCode",
        /// ISO 3166-1 alpha-2.
        country: Option<CountryCode> = "country",
    }
}

request! {
    /// How somebody wants to be spoken to. A field that is absent stays as it is.
    PreferenceFields {
        /// BCP 47.
        language: Option<Language> = "language",
        /// IANA, such as `Africa/Lagos`.
        timezone: Option<TimeZoneName> = "timezone",
        /// By which ways.
        notifications: Option<Strict<NotificationFields>> = "notifications",
    }
}

request! {
    /// By which ways somebody wants to hear from the bank. What they must hear they hear anyway.
    NotificationFields {
        /// Mail.
        email: Option<bool> = "email",
        /// Short messages.
        sms: Option<bool> = "sms",
        /// Notifications in the app.
        push: Option<bool> = "push",
    }
}

request! {
    /// The holder of an account, as the bank knows them, and what they say about themselves.
    HolderFields {
        /// Given name; not compared.
        first_name: Option<Text<100>> = "firstName",
        /// Family name on file.
        last_name: Title<100> = "lastName",
        /// Email address on file; this or the phone number must be right.
        email: Option<Email> = "email",
        /// Phone number on file; this or the email address must be right.
        phone_number: Option<Phone> = "phoneNumber",
        /// Date of birth on file.
        date_of_birth: Date = "dateOfBirth",
        /// Where they live.
        address: Option<AddressFields> = "address",
        /// How they want to be spoken to.
        preferences: Option<PreferenceFields> = "preferences",
    }
}

request! {
    /// What changes; what is absent stays as it is. Nothing else may be in here.
    ProfileFields {
        /// Given name. Of somebody whose identity is verified it counts once it is verified anew.
        first_name: Option<Title<100>> = "firstName",
        /// Family name. Of somebody whose identity is verified it counts once it is verified anew.
        last_name: Option<Title<100>> = "lastName",
        /// Counts once it is confirmed by a code.
        email: Option<Email> = "email",
        /// Counts once it is confirmed by a code.
        phone_number: Option<Phone> = "phoneNumber",
        /// Where they live.
        address: Option<Strict<AddressFields>> = "address",
        /// How they want to be spoken to.
        preferences: Option<Strict<PreferenceFields>> = "preferences",
        /// The password, once more; needed to change email or phoneNumber.
        current_password: Option<request::Secret> = "currentPassword",
    }
}

impl NewUser {
    /// Somebody who may become a customer.
    ///
    /// # Errors
    /// 400 for a country that is not known and a date on which nobody alive was born; 422 `UNDER_AGE`.
    pub(super) fn checked(self, app: &App) -> Result<RegisterUser, Problem> {
        let mut faults: Vec<FieldError> =
            country(app, "/countryCode", Some(&self.country_code)).into_iter().collect();
        let today = bursar_domain::kernel::utc_date(app.journal.sources().clock.now());
        let age = age(self.date_of_birth, today);
        if !(0..=OLDEST).contains(&age) {
            let message = "expected a date on which somebody alive was born".to_owned();
            faults.push(FieldError { pointer: "/dateOfBirth".to_owned(), code: "OUT_OF_RANGE", message });
        }
        if !faults.is_empty() {
            return Err(Problem::invalid(faults));
        }
        let least = app.config.users.minimum_age;
        if age < least {
            let detail = format!("a customer is at least {least} years old");
            let status = axum::http::StatusCode::UNPROCESSABLE_ENTITY;
            return Err(Problem::new(status, "UNDER_AGE", detail).with("minimumAge", least.into()));
        }
        Ok(RegisterUser {
            first_name: self.first_name.into(),
            last_name: self.last_name.into(),
            email: self.email.into(),
            phone_number: self.phone_number.into(),
            date_of_birth: self.date_of_birth,
            country_code: self.country_code.0,
            preferred_language: self.preferred_language.map(String::from),
        })
    }
}

/// Whether somebody born then can be a customer.
pub(crate) fn age_fits(born: Date, today: Date, least: i16) -> bool {
    (least.max(0)..=OLDEST).contains(&age(born, today))
}

/// Whole years on `today`; negative for somebody not yet born.
fn age(born: Date, today: Date) -> i16 {
    if born > today {
        return -1;
    }
    let birthday_to_come = (today.month(), today.day()) < (born.month(), born.day());
    today.year() - born.year() - i16::from(birthday_to_come)
}

/// What is wrong with a country, if it is none that can be chosen.
pub(super) fn country(app: &App, pointer: &str, code: Option<&CountryCode>) -> Option<FieldError> {
    let code = code?;
    let known = app.places.countries.get(&code.0).is_some_and(|country| country.is_active);
    (!known).then(|| FieldError {
        pointer: pointer.to_owned(),
        code: "UNKNOWN_VALUE",
        message: "expected a country of /v1/datasets/countries".to_owned(),
    })
}

/// An address whose country is known.
///
/// # Errors
/// 400.
pub(super) fn address(app: &App, fields: Option<AddressFields>) -> Result<Option<PostalAddress>, Problem> {
    let Some(fields) = fields else { return Ok(None) };
    if let Some(fault) = country(app, "/address/country", fields.country.as_ref()) {
        return Err(Problem::invalid(vec![fault]));
    }
    Ok(Some(PostalAddress {
        street: fields.street.map(String::from),
        city: fields.city.map(String::from),
        state: fields.state.map(String::from),
        postal_code: fields.postal_code.map(String::from),
        country: fields.country.map(|country| country.0),
    }))
}

impl From<PreferenceFields> for Preferences {
    fn from(fields: PreferenceFields) -> Self {
        let said = fields.notifications.map(|Strict(said)| said);
        let of = |way: fn(&NotificationFields) -> Option<bool>| said.as_ref().and_then(way);
        Self {
            language: fields.language.map(String::from),
            timezone: fields.timezone.map(String::from),
            notifications: Notifications { email: of(|n| n.email), sms: of(|n| n.sms), push: of(|n| n.push) },
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn a_year_of_life_is_over_on_the_birthday() {
        let born = date(2010, 11, 21);
        assert_eq!(age(born, date(2026, 11, 20)), 15);
        assert_eq!(age(born, date(2026, 11, 21)), 16);
        assert_eq!(age(date(2004, 2, 29), date(2020, 2, 28)), 15);
        assert_eq!(age(date(2004, 2, 29), date(2021, 3, 1)), 17);
        assert_eq!(age(date(2026, 11, 22), date(2026, 11, 21)), -1);
    }
}
