//! What can happen to an account.

use jiff::civil::Date;
use jiff::{Timestamp, ToSpan as _};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::aggregate::{AggregateEvent, Due, When, names};
use crate::kernel::{AccountNumber, ClosureId, Origin, Personal, UserId, month_start};
use crate::ledger::{AccountStatus, Effect, Terms};
use crate::products::AccountType;

/// The task of looking whether anybody still uses an account.
pub const SILENCE: &str = "account.silence";
/// The task of sending a statement.
pub const STATEMENT: &str = "account.statement";

/// Events of an account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccountEvent {
    /// The contract begins.
    Opened(Box<Opened>),
    /// No money may leave.
    Frozen {
        /// Why.
        reason: String,
    },
    /// Money may leave again.
    Unfrozen {
        /// Why.
        reason: String,
    },
    /// Its holder has set it up, from now on like this.
    Configured(Box<Configured>),
    /// Nobody has used it for long: no money may leave.
    WentDormant {
        /// When somebody last did.
        silent_since: Timestamp,
    },
    /// Money may leave again.
    Reactivated {
        /// Why.
        reason: String,
    },
    /// A statement of the days from `from` to `to`, both included, was sent to its holder.
    StatementSent {
        /// The first day.
        from: Date,
        /// The last.
        to: Date,
        /// When the next one is due.
        next: Timestamp,
    },
    /// Nothing happens to it any more.
    Closed {
        /// The application; none when its holder was erased.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        closure_id: Option<ClosureId>,
    },
}

/// How an account is set up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Configured {
    /// All of it, changed or not.
    pub settings: Settings,
    /// The first day that no statement has had, and when it will; none when no statements are sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_statement: Option<NextStatement>,
}

/// A statement that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextStatement {
    /// Its first day.
    pub from: Date,
    /// When it is sent.
    pub at: Timestamp,
}

/// What the holder of an account decides about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The plan of a target savings account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<SavingsPlan>,
    /// By which ways they hear of the account.
    #[serde(default)]
    pub notifications: Notifications,
    /// By which way statements are sent.
    pub statement_delivery: StatementDelivery,
    /// How often.
    pub statement_frequency: StatementFrequency,
    /// Whether a target savings account may be closed before its plan ends.
    pub early_closure_allowed: bool,
}

impl Default for Settings {
    /// Mail about what happens, no statements, and free to go.
    fn default() -> Self {
        Self {
            plan: None,
            notifications: Notifications::default(),
            statement_delivery: StatementDelivery::None,
            statement_frequency: StatementFrequency::Monthly,
            early_closure_allowed: true,
        }
    }
}

/// By which ways a holder hears of an account, besides in the app.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notifications {
    /// Mail.
    pub email: bool,
    /// Short messages.
    pub sms: bool,
    /// Notifications in the app.
    pub push: bool,
}

impl Default for Notifications {
    fn default() -> Self {
        Self { email: true, sms: false, push: false }
    }
}

crate::spelled! {
    /// By which way statements are sent.
    pub enum StatementDelivery {
        /// They are not.
        None = "NONE",
        /// Mail.
        Email = "EMAIL",
        /// A notification in the app.
        Push = "PUSH",
    }
}

crate::spelled! {
    /// How often statements are sent.
    pub enum StatementFrequency {
        /// On Mondays, about the week before.
        Weekly = "WEEKLY",
        /// On the first, about the month before.
        Monthly = "MONTHLY",
    }
}

impl StatementFrequency {
    /// The first day after the period that `day` is in.
    #[must_use]
    pub fn ends_after(self, day: Date) -> Date {
        let next = match self {
            Self::Weekly => day.checked_add(i32::from(8 - day.weekday().to_monday_one_offset()).days()),
            Self::Monthly => month_start(day).checked_add(1.month()),
        };
        next.unwrap_or(Date::MAX)
    }
}

/// The contract as concluded. Sums in minor units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// The name on the account.
    pub name: Personal<String>,
    /// Its kind.
    pub account_type: AccountType,
    /// The product's code.
    pub product_id: String,
    /// The product's name then.
    pub product_name: String,
    /// Percent a year.
    pub interest_rate: Decimal,
    /// What comes with it.
    pub features: Vec<String>,
    /// What it was opened with; 0 when nothing.
    pub initial_deposit: i64,
    /// The plan of a target savings account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<SavingsPlan>,
    /// Owner, currency and limits: what the ledger enforces.
    pub terms: Terms,
    /// What another bank knew of it, when it was taken over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

/// What a target savings account saves toward.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavingsPlan {
    /// The goal, minor units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<i64>,
    /// How often a contribution is due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency: Option<SavingsFrequency>,
    /// Each contribution, minor units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<i64>,
    /// When it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maturity_date: Option<Timestamp>,
}

crate::spelled! {
    /// How often a savings plan saves.
    pub enum SavingsFrequency {
        /// Every week.
        Weekly = "WEEKLY",
        /// Every month.
        Monthly = "MONTHLY",
    }
}

impl AggregateEvent for AccountEvent {
    names! {
        Opened = "account.opened",
        Frozen = "account.frozen",
        Unfrozen = "account.unfrozen",
        Configured = "account.configured",
        WentDormant = "account.went_dormant",
        Reactivated = "account.reactivated",
        StatementSent = "account.statement_sent",
        Closed = "account.closed",
    }

    fn subject(&self, _stream: &str) -> Option<UserId> {
        match self {
            Self::Opened(opened) => Some(opened.terms.owner),
            Self::Frozen { .. }
            | Self::Unfrozen { .. }
            | Self::Configured(_)
            | Self::WentDormant { .. }
            | Self::Reactivated { .. }
            | Self::StatementSent { .. }
            | Self::Closed { .. } => None,
        }
    }

    fn dues(&self) -> Vec<Due> {
        let watch = |when| Due { task: SILENCE, when };
        let state = |when| Due { task: STATEMENT, when };
        match self {
            // How long silence may last is the bank's setting: the task knows it, and looks again when it would be over.
            Self::Opened(_) | Self::Reactivated { .. } | Self::Unfrozen { .. } => vec![watch(When::Now)],
            Self::WentDormant { .. } => vec![watch(When::Never)],
            Self::Configured(configured) => {
                vec![state(configured.next_statement.map_or(When::Never, |next| When::At(next.at)))]
            }
            Self::StatementSent { next, .. } => vec![state(When::At(*next))],
            Self::Closed { .. } => vec![watch(When::Never), state(When::Never)],
            Self::Frozen { .. } => Vec::new(),
        }
    }

    fn effect(&mut self, stream: &str) -> Option<Effect<'_>> {
        let number = AccountNumber::from(stream);
        Some(match self {
            Self::Opened(opened) => Effect::Open { number, terms: opened.terms.clone() },
            Self::Frozen { .. } => Effect::SetStatus { number, status: AccountStatus::Frozen },
            Self::Unfrozen { .. } | Self::Reactivated { .. } => {
                Effect::SetStatus { number, status: AccountStatus::Active }
            }
            Self::WentDormant { .. } => Effect::SetStatus { number, status: AccountStatus::Dormant },
            Self::Closed { .. } => Effect::SetStatus { number, status: AccountStatus::Closed },
            Self::Configured(_) | Self::StatementSent { .. } => return None,
        })
    }
}
