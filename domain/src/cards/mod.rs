//! Cards: those of other banks that customers link to bring money from, and those that the bank gives them.
//!
//! ```text
//!   Absent --request--> Pending --activate (staff)--> Active
//!   Absent --link--> Active --block--> Blocked --unblock, or its time is over--> Active
//!   Pending, Active, Blocked --remove--> Removed --link--> Active
//! ```
//!
//! A card that was reported lost or stolen stays blocked, and does not come back once it is removed.
//!
//! A card that comes back is the same card, with what was spent on it: removing and linking does not renew its limits.

mod command;
mod error;
mod event;
mod number;
#[cfg(test)]
mod tests;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use command::CardCommand;
pub use error::CardError;
pub use event::{
    Activated, Block, CardEvent, CardForm, CardLimits, CardStatus, CardType, Charge, DeliveryAddress,
    END_BLOCK, Linked, Requested,
};
pub use number::{CardExpiry, CardNumber, MalformedCardNumber, MalformedExpiry, masked};

use crate::AccountNumber;
use crate::aggregate::Aggregate;
use crate::kernel::{Amount, Currency, TransactionId, UserId, utc_date};
use crate::ledger::{Spent, Uncounted};

/// A card, by its id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Card {
    /// Not there yet.
    #[default]
    Absent,
    /// On its way to its holder.
    Pending {
        /// The card.
        held: Held,
        /// Whether it takes the place of the holder's default once it is active.
        is_default: bool,
    },
    /// Money can be taken from it.
    Active(Held),
    /// No money can be taken from it.
    Blocked {
        /// The card.
        held: Held,
        /// Until when; until somebody unblocks it when absent.
        until: Option<Timestamp>,
    },
    /// Its holder keeps it no longer.
    Removed(Held),
}

/// What later decisions need to know of a card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// Whose it is.
    pub owner: UserId,
    /// The number's last four digits.
    pub last_four: String,
    /// Until when it is good.
    pub expiry: CardExpiry,
    /// What may be taken from it.
    pub limits: CardLimits,
    /// What was taken from it.
    pub spent: Spent,
    /// Whether it was reported lost or stolen.
    pub is_reported: bool,
    /// The account whose money it spends; none for a card of another bank.
    pub linked_account: Option<AccountNumber>,
}

/// Reasons to block a card for good.
const REPORTS: [&str; 2] = ["LOST", "STOLEN"];

/// Whether the reason says that the card is in other hands.
#[must_use]
pub fn is_report(reason: &str) -> bool {
    REPORTS.iter().any(|report| reason.trim().eq_ignore_ascii_case(report))
}

impl Card {
    /// The card, unless it was never there.
    const fn held(&self) -> Option<&Held> {
        match self {
            Self::Absent => None,
            Self::Pending { held, .. }
            | Self::Active(held)
            | Self::Blocked { held, .. }
            | Self::Removed(held) => Some(held),
        }
    }

    /// The card as its holder has it.
    #[must_use]
    pub const fn kept(&self) -> Option<&Held> {
        match self {
            Self::Absent | Self::Removed(_) => None,
            Self::Pending { held, .. } | Self::Active(held) | Self::Blocked { held, .. } => Some(held),
        }
    }

    const fn refuse(&self) -> CardError {
        match self {
            Self::Absent | Self::Removed(_) => CardError::Unknown,
            Self::Pending { .. } => CardError::InvalidState { status: CardStatus::Pending },
            Self::Active(_) => CardError::InvalidState { status: CardStatus::Active },
            Self::Blocked { .. } => CardError::InvalidState { status: CardStatus::Blocked },
        }
    }

    fn into_held(self) -> Option<Held> {
        match self {
            Self::Absent => None,
            Self::Pending { held, .. }
            | Self::Active(held)
            | Self::Blocked { held, .. }
            | Self::Removed(held) => Some(held),
        }
    }

    fn with(mut self, change: impl FnOnce(&mut Held)) -> Self {
        match &mut self {
            Self::Absent => {}
            Self::Pending { held, .. }
            | Self::Active(held)
            | Self::Blocked { held, .. }
            | Self::Removed(held) => change(held),
        }
        self
    }
}

impl Held {
    /// Takes `amount`, if the limits leave it.
    fn charge(
        &self,
        transaction_id: TransactionId,
        amount: Amount,
        currency: Currency,
    ) -> Result<CardEvent, CardError> {
        let at = transaction_id.minted_at();
        if self.linked_account.is_some() {
            return Err(CardError::Own);
        }
        check_expiry(self.expiry, at)?;
        let limits = self.limits;
        if currency != limits.currency {
            return Err(CardError::CurrencyMismatch { expected: limits.currency, actual: currency });
        }
        // Of two payments around midnight the later one may come first: a day that is over does not come back.
        let day = self.spent.on.map_or(utc_date(at), |on| on.max(utc_date(at)));
        let spent = self.spent.and(amount.minor(), day, Some(limits.daily), Some(limits.monthly));
        let spent = spent.map_err(|uncounted| match uncounted {
            Uncounted::Over { limit, allowed, remaining } => {
                CardError::LimitExceeded { limit, allowed, remaining }
            }
            Uncounted::Overflow => CardError::Overflow,
        })?;
        Ok(CardEvent::Charged(self.counted(transaction_id, amount, day, spent)))
    }

    /// Whoever reports a card lost or stolen reports it for good.
    fn block(&self, reason: Option<String>, until: Option<Timestamp>) -> CardEvent {
        let is_final = reason.as_deref().is_some_and(is_report);
        let until = until.filter(|_| !is_final);
        CardEvent::Blocked(Block { owner: self.owner, reason, until, is_final })
    }

    /// What did not arrive was never taken: a scheme releases the authorisation, and what it counted with it.
    fn give_back(&self, transaction_id: TransactionId, amount: Amount) -> CardEvent {
        let day = utc_date(transaction_id.minted_at());
        let spent = self.spent.without(amount.minor(), day);
        CardEvent::ChargeReturned(self.counted(transaction_id, amount, day, spent))
    }

    const fn counted(
        &self,
        transaction_id: TransactionId,
        amount: Amount,
        day: jiff::civil::Date,
        spent: Spent,
    ) -> Charge {
        Charge {
            owner: self.owner,
            transaction_id,
            amount,
            day,
            spent_today: spent.today,
            spent_this_month: spent.this_month,
        }
    }
}

fn check_expiry(expiry: CardExpiry, at: Timestamp) -> Result<(), CardError> {
    if at < expiry.ends_at() { Ok(()) } else { Err(CardError::Expired { expiry }) }
}

impl Aggregate for Card {
    const TYPE: &'static str = "card";
    type Command = CardCommand;
    type Event = CardEvent;
    type Error = CardError;

    fn decide(&self, command: CardCommand) -> Result<Vec<CardEvent>, CardError> {
        match (self, command) {
            (Self::Removed(held), CardCommand::Link { .. }) if held.is_reported => Err(CardError::Reported),
            (Self::Absent | Self::Removed(_), CardCommand::Link { card, at }) => {
                check_expiry(card.expiry, at)?;
                Ok(vec![CardEvent::Linked(card)])
            }
            (Self::Pending { .. } | Self::Active(_) | Self::Blocked { .. }, CardCommand::Link { .. })
            | (
                Self::Pending { .. } | Self::Active(_) | Self::Blocked { .. } | Self::Removed(_),
                CardCommand::Request(_),
            ) => Err(CardError::Exists),
            (Self::Absent, CardCommand::Request(card)) => Ok(vec![CardEvent::Requested(card)]),
            (Self::Pending { held, is_default }, CardCommand::Activate { note, at }) => {
                check_expiry(held.expiry, at)?;
                Ok(vec![CardEvent::Activated(Activated { owner: held.owner, note, is_default: *is_default })])
            }
            (Self::Active(held), CardCommand::Charge { transaction_id, amount, currency }) => {
                Ok(vec![held.charge(transaction_id, amount, currency)?])
            }
            (
                Self::Active(held) | Self::Blocked { held, .. } | Self::Removed(held),
                CardCommand::ReturnCharge { transaction_id, amount },
            ) => Ok(vec![held.give_back(transaction_id, amount)]),
            (Self::Active(held), CardCommand::Block { reason, until }) => Ok(vec![held.block(reason, until)]),
            // What was blocked for a while may turn out to be stolen.
            (Self::Blocked { held, .. }, CardCommand::Block { reason, until })
                if !held.is_reported && reason.as_deref().is_some_and(is_report) =>
            {
                Ok(vec![held.block(reason, until)])
            }
            (Self::Blocked { held, .. }, CardCommand::Unblock) if !held.is_reported => {
                Ok(vec![CardEvent::Unblocked { owner: held.owner }])
            }
            (Self::Blocked { held, until: Some(until) }, CardCommand::EndBlock { at }) if *until <= at => {
                Ok(vec![CardEvent::Unblocked { owner: held.owner }])
            }
            // Somebody was faster, or has blocked it anew.
            (_, CardCommand::EndBlock { .. }) => Ok(Vec::new()),
            (
                Self::Pending { held, .. } | Self::Active(held) | Self::Blocked { held, .. },
                CardCommand::Remove,
            ) => Ok(vec![CardEvent::Removed { owner: held.owner }]),
            (
                Self::Absent | Self::Pending { .. } | Self::Blocked { .. } | Self::Removed(_),
                CardCommand::Charge { .. } | CardCommand::Block { .. },
            )
            | (
                Self::Absent
                | Self::Pending { .. }
                | Self::Active(_)
                | Self::Blocked { .. }
                | Self::Removed(_),
                CardCommand::Unblock,
            )
            | (
                Self::Absent | Self::Active(_) | Self::Blocked { .. } | Self::Removed(_),
                CardCommand::Activate { .. },
            )
            | (Self::Absent | Self::Removed(_), CardCommand::Remove)
            | (Self::Absent | Self::Pending { .. }, CardCommand::ReturnCharge { .. }) => Err(self.refuse()),
        }
    }

    fn evolve(&mut self, event: &CardEvent) {
        let before = std::mem::take(self);
        *self = match event {
            CardEvent::Linked(card) => Self::Active(Held {
                owner: card.owner,
                last_four: card.last_four.clone(),
                expiry: card.expiry,
                limits: card.limits,
                spent: before.held().map(|held| held.spent).unwrap_or_default(),
                is_reported: false,
                linked_account: None,
            }),
            CardEvent::Requested(card) => Self::Pending {
                held: Held {
                    owner: card.owner,
                    last_four: card.last_four.clone(),
                    expiry: card.expiry,
                    limits: card.limits,
                    spent: Spent::default(),
                    is_reported: false,
                    linked_account: Some(card.linked_account.clone()),
                },
                is_default: card.is_default,
            },
            CardEvent::Activated(_) => before.into_held().map_or(Self::Absent, Self::Active),
            CardEvent::Charged(charge) => before.with(|held| {
                let (today, this_month) = (charge.spent_today, charge.spent_this_month);
                held.spent = Spent { on: Some(charge.day), today, this_month };
            }),
            CardEvent::ChargeReturned(charge) => before.with(|held| {
                (held.spent.today, held.spent.this_month) = (charge.spent_today, charge.spent_this_month);
            }),
            CardEvent::Blocked(block) => match before.into_held() {
                None => Self::Absent,
                Some(held) => Self::Blocked {
                    held: Held { is_reported: held.is_reported || block.is_final, ..held },
                    until: block.until,
                },
            },
            CardEvent::Unblocked { .. } => before.into_held().map_or(Self::Absent, Self::Active),
            CardEvent::Removed { .. } => before.into_held().map_or(Self::Absent, Self::Removed),
        };
    }

    fn owner(&self) -> Option<UserId> {
        self.held().map(|held| held.owner)
    }
}
