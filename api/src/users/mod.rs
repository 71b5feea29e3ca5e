//! People: how they come to the bank, what it knows of them, and how they prove it.

mod avatar;
mod contact;
mod fields;
mod identity;
mod onboarding;
mod profile;
mod staff;
mod views;

pub(crate) use fields::age_fits;
pub(crate) use staff::known;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(onboarding::register_user))
        .routes(routes!(onboarding::find_holder, onboarding::onboard_holder))
        .routes(routes!(staff::find_customers, onboarding::register_customer))
        .routes(routes!(onboarding::read_customer))
        .routes(routes!(onboarding::open_customer_account))
        .routes(routes!(identity::look_up_identity))
        .routes(routes!(identity::resend_identity_code))
        .routes(routes!(identity::confirm_identity))
        .routes(routes!(identity::read_verification))
        .routes(routes!(contact::verify_email))
        .routes(routes!(contact::confirm_email))
        .routes(routes!(contact::confirm_phone))
        .routes(routes!(profile::read_profile))
        .routes(routes!(profile::update_user))
        .routes(routes!(avatar::read_avatar, avatar::set_avatar))
        .routes(routes!(avatar::read_avatar_image))
        .routes(routes!(avatar::read_avatar_thumbnail))
}
