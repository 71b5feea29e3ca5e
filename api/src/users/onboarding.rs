//! How people come to the bank.

use axum::extract::State;
use bursar_commands::Committed;
use bursar_commands::accounts::{self, NewAccount};
use bursar_commands::users::{self, Holder};
use bursar_domain::kernel::UserId;
use bursar_domain::users::{Preferences, ProfileUpdate, UserEvent};
use bursar_domain::{AccountNumber, Currency, Event};
use bursar_projections::users::find;
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::fields::{HolderFields, NewUser, address};
use super::staff::known;
use super::views::{ProfileView, RegisteredUser};
use crate::accounts::{OpenedAccount, opened};
use crate::answer::Answer;
use crate::app::App;
use crate::auth::{AccountOps, Allowed, Caller};
use crate::edge::Scope;
use crate::openapi::{ReadHeaders, ReadProblems, WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request;
use crate::request::{Conditions, InPath, Submission, Text, Write};

/// Registers somebody who wants to become a customer.
///
/// They get a mail that tells what comes next: set a password, log in, verify the identity. That an email address is taken is
/// told (409), because whoever registers needs to know; how often one address may ask is limited.
#[utoipa::path(
    post, path = "/v1/users", tag = "Users", security(()),
    params(WriteHeaders), request_body = NewUser,
    responses((status = 201, description = "Registered.", body = RegisteredUser), WriteProblems)
)]
pub(super) async fn register_user(
    State(app): State<App>,
    submission: Submission<NewUser>,
) -> Result<Answer<RegisteredUser>, Problem> {
    let Submission { body, sent } = submission;
    app.admit_client(&sent.headers)?;
    let email = users::normalised_email(&body.email.0);
    sent.scope.limit(app.limits.login(sent.scope.address(), &email).await?)?;
    let user = body.checked(&app)?;
    let context = sent.anonymous(&app, &email);
    let committed = users::sign_up(&app.journal, &app.keys, context, user).await?;
    let result =
        registered(&committed, "Check your mail: it tells how to set a password and verify your identity")?;
    Ok(Answer::ok(result).at(&committed).created("/v1/users/profile"))
}

/// Staff: registers somebody who stands at the desk. With an account of theirs they can begin to use the bank digitally.
#[utoipa::path(
    post, path = "/v1/staff/customers", tag = "Staff",
    params(WriteHeaders), request_body = NewUser,
    responses((status = 201, description = "Registered.", body = RegisteredUser), WriteProblems)
)]
pub(super) async fn register_customer(
    State(app): State<App>,
    write: Write<AccountOps, NewUser>,
) -> Result<Answer<RegisteredUser>, Problem> {
    let Write { body, context, .. } = write;
    let user = body.checked(&app)?;
    let committed = users::register(&app.journal, &app.keys, context, user).await?;
    let result = registered(&committed, "Customer registered")?;
    let location = format!("/v1/staff/customers/{}", result.user_id);
    Ok(Answer::ok(result).at(&committed).created(&location))
}

fn registered(committed: &Committed, message: &'static str) -> Result<RegisteredUser, Problem> {
    let (recorded, ()) =
        committed.event(|event| matches!(event, Event::User(UserEvent::Registered(_))).then_some(()))?;
    Ok(RegisteredUser {
        user_id: recorded.stream.id.to_string(),
        status: "PENDING",
        created_at: recorded.recorded_at,
        message,
    })
}

/// Staff: reads what the bank knows of a customer.
#[utoipa::path(
    get, path = "/v1/staff/customers/{userId}", tag = "Staff", params(InPath<UserId>, ReadHeaders),
    responses((status = 200, description = "The customer.", body = ProfileView), ReadProblems)
)]
pub(super) async fn read_customer(
    State(app): State<App>,
    caller: Allowed<AccountOps>,
    wants: Conditions,
    id: InPath<UserId>,
) -> Result<Answer<ProfileView>, Problem> {
    let id = id.get()?;
    app.fresh(&caller, &wants, &["users"]).await?;
    let row = find(&app.pool, id).await?.ok_or_else(|| Problem::not_found("user"))?;
    let version = row.version;
    Ok(Answer::ok(ProfileView::from(row)).tagged(version, wants.none_match))
}

request! {
    /// An account for a customer who stands at the desk.
    CustomerAccount {
        /// The product's code, as in `/v1/account/products/types`.
        product_id: Text<64> = "productId",
        /// ISO 4217; the product's.
        currency: Currency = "currency",
        /// The name on it; the product's when absent.
        account_name: Option<Text<140>> = "accountName",
    }
}

/// Staff: opens an account for a customer.
#[utoipa::path(
    post, path = "/v1/staff/customers/{userId}/accounts", tag = "Staff",
    params(InPath<UserId>, WriteHeaders), request_body = CustomerAccount,
    responses((status = 201, description = "Opened.", body = OpenedAccount), WriteProblems)
)]
pub(super) async fn open_customer_account(
    State(app): State<App>,
    id: InPath<UserId>,
    write: Write<AccountOps, CustomerAccount>,
) -> Result<Answer<OpenedAccount>, Problem> {
    let Write { body, context, .. } = write;
    let id = known(&app, id.get()?).await?;
    let request = NewAccount {
        name: body.account_name.map(String::from),
        product_id: body.product_id.into(),
        account_type: None,
        currency: body.currency,
        initial_deposit: None,
        plan: None,
        saves_from: None,
    };
    let committed = accounts::open(&app.journal, &context, id, request).await?;
    opened(&committed)
}

/// The holder of an account, hardly visible.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HolderView {
    user_id: String,
    /// The first letter of each name.
    name: String,
    /// All but country code and last three digits masked.
    phone_number: String,
    account_number: String,
    /// Whether they use the digital bank.
    digital_active: bool,
}

/// Looks up who holds an account, to see whether it is the right one. A few times a minute.
#[utoipa::path(
    get, path = "/v1/users/by/{accountNo}", tag = "Users", params(InPath<AccountNumber>, ReadHeaders),
    responses((status = 200, description = "The holder.", body = HolderView), ReadProblems)
)]
pub(super) async fn find_holder(
    State(app): State<App>,
    caller: Caller,
    scope: axum::Extension<Scope>,
    number: InPath<AccountNumber>,
) -> Result<Answer<HolderView>, Problem> {
    scope.limit(app.limits.lookup(caller.user()).await?)?;
    let number = number.get()?;
    let found = users::holder_of(&app.journal, &number).await?;
    let view = HolderView {
        user_id: found.user.to_string(),
        name: found.name,
        phone_number: found.phone_number,
        account_number: number.to_string(),
        digital_active: found.is_digital,
    };
    Ok(Answer::ok(view))
}

/// Somebody who may use the bank digitally.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OnboardedHolder {
    user_id: String,
    account_number: String,
    /// `ACTIVE`.
    status: &'static str,
    updated_at: Timestamp,
    message: &'static str,
}

/// Opens the digital bank to somebody who holds an account.
///
/// Family name, date of birth, and phone number or email address must be those on file; anything else is one refusal
/// (`IDENTITY_MISMATCH`), whatever the reason. Contact data stay as they are. Whoever uses the bank digitally already must be
/// logged in, and changes only what they say about themselves.
#[utoipa::path(
    post, path = "/v1/users/by/{accountNo}", tag = "Users", security(()),
    params(InPath<AccountNumber>, WriteHeaders), request_body = HolderFields,
    responses((status = 200, description = "Active.", body = OnboardedHolder), WriteProblems)
)]
pub(super) async fn onboard_holder(
    State(app): State<App>,
    number: InPath<AccountNumber>,
    submission: Submission<HolderFields>,
) -> Result<Answer<OnboardedHolder>, Problem> {
    let Submission { body, sent } = submission;
    // Whoever has a session is known by it; anybody else is a client like at login.
    let caller = app.auth.authenticate(&sent.headers).await.ok();
    if caller.is_none() {
        app.admit_client(&sent.headers)?;
    }
    let number = number.get().unwrap_or_else(|_| AccountNumber::from("0000000000"));
    sent.scope.limit(app.limits.login(sent.scope.address(), number.as_str()).await?)?;
    let context = match &caller {
        Some(caller) => sent.context(&app, caller.actor()),
        None => sent.anonymous(&app, number.as_str()),
    };
    let update = ProfileUpdate {
        address: address(&app, body.address)?,
        preferences: body.preferences.map(Preferences::from),
        ..ProfileUpdate::default()
    };
    let holder = Holder {
        last_name: body.last_name.into(),
        date_of_birth: body.date_of_birth,
        email: body.email.map(String::from),
        phone_number: body.phone_number.map(String::from),
    };
    let caller = caller.as_ref().map(Caller::user);
    let committed = users::onboard(&app.journal, context, caller, &number, &holder, update).await?;
    let (recorded, onboarded) = committed.event(|event| match event {
        Event::User(UserEvent::Onboarded(onboarded)) => Some(&**onboarded),
        _ => None,
    })?;
    let result = OnboardedHolder {
        user_id: recorded.stream.id.to_string(),
        account_number: onboarded.account_number.to_string(),
        status: "ACTIVE",
        updated_at: recorded.recorded_at,
        message: "Digital services are active; set a password to log in",
    };
    Ok(Answer::ok(result).at(&committed))
}
