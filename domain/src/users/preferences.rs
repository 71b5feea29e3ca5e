//! Where somebody lives, and how they want to be spoken to.

use serde::{Deserialize, Serialize};

/// Where somebody lives.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostalAddress {
    /// Street and number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub street: Option<String>,
    /// City.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub city: Option<String>,
    /// State or province.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Postal code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub postal_code: Option<String>,
    /// ISO 3166-1 alpha-2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
}

/// How somebody wants to be spoken to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preferences {
    /// BCP 47.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// IANA time zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// By which ways they want to hear from the bank; what they must hear they hear anyway.
    #[serde(default)]
    pub notifications: Notifications,
}

/// By which ways somebody wants to hear from the bank. Nothing said means yes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notifications {
    /// Mail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<bool>,
    /// Short messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sms: Option<bool>,
    /// Notifications in the app.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push: Option<bool>,
}

/// What was said before, where nothing is said now.
pub(super) fn over<T: Clone>(new: &Option<T>, old: &Option<T>) -> Option<T> {
    new.clone().or_else(|| old.clone())
}

impl PostalAddress {
    /// The fields that `self` has, and those of `old` that it has not.
    #[must_use]
    pub fn over(&self, old: &Self) -> Self {
        Self {
            street: over(&self.street, &old.street),
            city: over(&self.city, &old.city),
            state: over(&self.state, &old.state),
            postal_code: over(&self.postal_code, &old.postal_code),
            country: over(&self.country, &old.country),
        }
    }
}

impl Preferences {
    /// The fields that `self` has, and those of `old` that it has not.
    #[must_use]
    pub fn over(&self, old: &Self) -> Self {
        let (new, before) = (&self.notifications, &old.notifications);
        Self {
            language: over(&self.language, &old.language),
            timezone: over(&self.timezone, &old.timezone),
            notifications: Notifications {
                email: new.email.or(before.email),
                sms: new.sms.or(before.sms),
                push: new.push.or(before.push),
            },
        }
    }
}
