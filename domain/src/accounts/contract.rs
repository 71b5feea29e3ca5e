//! What was agreed about an account, and how its holder has set it up.

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::command::Configure;
use super::error::AccountError;
use super::event::{
    AccountEvent, Configured, NextStatement, Notifications, Opened, SavingsPlan, Settings, StatementDelivery,
};
use crate::kernel::{UserId, midnight};
use crate::products::AccountType;

/// What later decisions need to know of an open account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contract {
    /// Who holds it.
    pub owner: UserId,
    /// The product it was opened on.
    pub product_id: String,
    /// Its kind.
    pub account_type: AccountType,
    /// How it is set up.
    pub settings: Settings,
    /// The statement that is due next; none when none are sent.
    pub next_statement: Option<NextStatement>,
}

impl Contract {
    pub(super) fn of(opened: &Opened) -> Self {
        Self {
            owner: opened.terms.owner,
            product_id: opened.product_id.clone(),
            account_type: opened.account_type,
            settings: Settings { plan: opened.plan.clone(), ..Settings::default() },
            next_statement: None,
        }
    }

    /// The settings as they are then. Statements begin with the period that `today` is in, and go on where they were when only
    /// something else changes.
    pub(super) fn configure(&self, change: Configure) -> Result<Configured, AccountError> {
        let Configure { plan, early_closure_allowed, today, .. } = change;
        let is_target = self.account_type == AccountType::TargetSavings;
        if !is_target && (plan != SavingsPlan::default() || early_closure_allowed.is_some()) {
            return Err(AccountError::PlanNotAllowed);
        }
        let before = &self.settings;
        let known = before.plan.clone().unwrap_or_default();
        let plan = SavingsPlan {
            goal: plan.goal.or(known.goal),
            frequency: plan.frequency.or(known.frequency),
            amount: plan.amount.or(known.amount),
            maturity_date: plan.maturity_date.or(known.maturity_date),
        };
        let settings = Settings {
            plan: (plan != SavingsPlan::default()).then_some(plan),
            notifications: Notifications {
                email: change.email.unwrap_or(before.notifications.email),
                sms: change.sms.unwrap_or(before.notifications.sms),
                push: change.push.unwrap_or(before.notifications.push),
            },
            statement_delivery: change.statement_delivery.unwrap_or(before.statement_delivery),
            statement_frequency: change.statement_frequency.unwrap_or(before.statement_frequency),
            early_closure_allowed: early_closure_allowed.unwrap_or(before.early_closure_allowed),
        };
        let next_statement = match settings.statement_delivery {
            StatementDelivery::None => None,
            StatementDelivery::Email | StatementDelivery::Push => {
                let from = self.next_statement.map_or(today, |next| next.from);
                let at = midnight(settings.statement_frequency.ends_after(from.max(today)));
                Some(NextStatement { from, at })
            }
        };
        Ok(Configured { settings, next_statement })
    }

    /// Whether its holder has not bound themselves to wait.
    pub(super) fn leave(&self, now: Timestamp) -> Result<(), AccountError> {
        let maturity = self.settings.plan.as_ref().and_then(|plan| plan.maturity_date);
        match maturity {
            Some(maturity) if !self.settings.early_closure_allowed && now < maturity => {
                Err(AccountError::EarlyClosure { maturity })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// The event, when these are the days of the statement that is due.
    pub(super) fn send_statement(
        &self,
        from: Date,
        to: Date,
        today: Date,
    ) -> Result<AccountEvent, AccountError> {
        let next = self.next_statement.filter(|next| next.from == from && to < today && from <= to);
        if next.is_none() {
            return Err(AccountError::NoStatementDue);
        }
        let begins = to.tomorrow().unwrap_or(to);
        let next = midnight(self.settings.statement_frequency.ends_after(begins));
        Ok(AccountEvent::StatementSent { from, to, next })
    }

    pub(super) fn grow(&mut self, event: &AccountEvent) {
        match event {
            AccountEvent::Configured(configured) => {
                self.settings = configured.settings.clone();
                self.next_statement = configured.next_statement;
            }
            AccountEvent::StatementSent { to, next, .. } => {
                let from = to.tomorrow().unwrap_or(*to);
                self.next_statement = Some(NextStatement { from, at: *next });
            }
            AccountEvent::Opened(_)
            | AccountEvent::Frozen { .. }
            | AccountEvent::Unfrozen { .. }
            | AccountEvent::WentDormant { .. }
            | AccountEvent::Reactivated { .. }
            | AccountEvent::Closed { .. } => {}
        }
    }
}
