//! Setting an account up.

use axum::extract::State;
use bursar_commands::accounts;
use bursar_domain::accounts::{
    AccountEvent, Configure, Configured, Notifications, SavingsFrequency, SavingsPlan, StatementDelivery,
    StatementFrequency,
};
use bursar_domain::kernel::{micros, utc_date};
use bursar_domain::{AccountNumber, Amount, Event, Recorded};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::WriteTransactions;
use crate::openapi::{IfMatch, WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request;
use crate::request::{InPath, OneOf, Strict, Write};

request! {
    /// By which ways the holder of an account hears of it.
    AccountNotifications {
        /// By mail.
        email: Option<bool> = "email",
        /// By short message.
        sms: Option<bool> = "sms",
        /// By notification in the app.
        push: Option<bool> = "push",
    }
}

request! {
    /// What changes about an account; what is absent stays.
    ConfigureAccount {
        /// The goal of a TARGET_SAVINGS account, minor units.
        savings_goal: Option<Amount> = "savingsGoal",
        /// How often it saves.
        savings_frequency: Option<OneOf<SavingsFrequency>> = "savingsFrequency",
        /// Each contribution, minor units.
        savings_amount: Option<Amount> = "savingsAmount",
        /// When the plan ends.
        maturity_date: Option<Timestamp> = "maturityDate",
        /// By which ways the caller hears of the account.
        notifications: Option<Strict<AccountNotifications>> = "notifications",
        /// By which way statements are sent.
        statement_delivery: Option<OneOf<StatementDelivery>> = "statementDelivery",
        /// How often statements are sent; `MONTHLY` until it is said.
        statement_frequency: Option<OneOf<StatementFrequency>> = "statementFrequency",
        /// Whether a TARGET_SAVINGS account may be closed before its plan ends.
        early_closure_allowed: Option<bool> = "earlyClosureAllowed",
    }
}

/// By which ways the holder of an account hears of it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AccountNotificationSettings)]
pub struct NotificationSettings {
    pub(super) email: bool,
    pub(super) sms: bool,
    pub(super) push: bool,
}

/// How an account is set up now. Sums in minor units.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfiguredAccount {
    /// `SUCCESS`.
    status: &'static str,
    account_number: String,
    savings_goal: Option<i64>,
    savings_frequency: Option<&'static str>,
    savings_amount: Option<i64>,
    maturity_date: Option<Timestamp>,
    notifications: NotificationSettings,
    statement_delivery: &'static str,
    statement_frequency: &'static str,
    /// When the next statement is sent; none when none are.
    next_statement_date: Option<Timestamp>,
    early_closure_allowed: bool,
    updated_at: Timestamp,
    message: &'static str,
}

impl From<Notifications> for NotificationSettings {
    fn from(Notifications { email, sms, push }: Notifications) -> Self {
        Self { email, sms, push }
    }
}

/// Sets up an account of the caller's: notifications, statements, and for target savings the plan.
///
/// Statements begin with the day on which they are asked for, and leave no day out. Unknown fields are refused.
#[utoipa::path(
    put, path = "/v1/accounts/{accountNo}/configure", tag = "Accounts",
    params(InPath<AccountNumber>, WriteHeaders, IfMatch), request_body = ConfigureAccount,
    responses((status = 200, description = "Set up.", body = ConfiguredAccount), WriteProblems)
)]
pub(super) async fn configure_account(
    State(app): State<App>,
    number: InPath<AccountNumber>,
    write: Write<WriteTransactions, Strict<ConfigureAccount>>,
) -> Result<Answer<ConfiguredAccount>, Problem> {
    let Write { caller, body: Strict(body), context, .. } = write;
    let number = number.get()?;
    let notifications = body.notifications.map(|Strict(notifications)| notifications);
    let way = |pick: fn(&AccountNotifications) -> Option<bool>| notifications.as_ref().and_then(pick);
    let configure = Configure {
        plan: SavingsPlan {
            goal: body.savings_goal.map(Amount::minor),
            frequency: body.savings_frequency.map(|OneOf(frequency)| frequency),
            amount: body.savings_amount.map(Amount::minor),
            maturity_date: body.maturity_date.map(micros),
        },
        email: way(|ways| ways.email),
        sms: way(|ways| ways.sms),
        push: way(|ways| ways.push),
        statement_delivery: body.statement_delivery.map(|OneOf(delivery)| delivery),
        statement_frequency: body.statement_frequency.map(|OneOf(frequency)| frequency),
        early_closure_allowed: body.early_closure_allowed,
        today: utc_date(app.journal.sources().clock.now()),
    };
    let committed = accounts::configure(&app.journal, context, caller.user(), &number, configure).await?;
    let (recorded, configured) = committed.event(|event| match event {
        Event::Account(AccountEvent::Configured(configured)) => Some(&**configured),
        _ => None,
    })?;
    Ok(Answer::ok(ConfiguredAccount::of(recorded, configured)).at(&committed))
}

impl ConfiguredAccount {
    fn of(recorded: &Recorded, configured: &Configured) -> Self {
        let settings = &configured.settings;
        let plan = settings.plan.clone().unwrap_or_default();
        Self {
            status: "SUCCESS",
            account_number: recorded.stream.id.to_string(),
            savings_goal: plan.goal,
            savings_frequency: plan.frequency.map(SavingsFrequency::as_str),
            savings_amount: plan.amount,
            maturity_date: plan.maturity_date,
            notifications: settings.notifications.into(),
            statement_delivery: settings.statement_delivery.as_str(),
            statement_frequency: settings.statement_frequency.as_str(),
            next_statement_date: configured.next_statement.map(|next| next.at),
            early_closure_allowed: settings.early_closure_allowed,
            updated_at: recorded.recorded_at,
            message: "Account set up",
        }
    }
}
