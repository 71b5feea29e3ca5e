//! Rails: the ways money leaves the bank and comes into it. A rail is a port; what stands behind it is an adapter.

mod clearing;
mod sandbox;

use std::sync::Arc;

use bursar_domain::kernel::TransactionId;
use bursar_domain::payments::{Completed, Made, Outside};
use futures_util::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};

pub use clearing::ClearPayments;
pub use sandbox::{MAGIC, SandboxRail};

/// A payment as it is handed to a rail.
#[derive(Debug, Clone)]
pub struct Instruction {
    /// Names the payment from end to end (ISO 20022 `EndToEndId`): the same at every try.
    pub end_to_end_id: TransactionId,
    /// How it was made.
    pub payment: Completed,
    /// Whoever is at the other end.
    pub outside: Outside,
    /// Now, by the bank's clock.
    pub now: Timestamp,
    /// 1 at the first try since the rail last answered.
    pub attempt: u32,
}

impl Instruction {
    /// The instruction for a payment that was made; none when nobody outside is at its other end.
    #[must_use]
    pub fn of(end_to_end_id: TransactionId, made: &Made, now: Timestamp, attempt: u32) -> Option<Self> {
        let payment = made.completed.clone();
        let outside = payment.outside.clone()?;
        Some(Self { end_to_end_id, payment, outside, now, attempt })
    }

    /// How long ago the payment was made.
    #[must_use]
    pub fn age(&self) -> SignedDuration {
        self.now.duration_since(self.end_to_end_id.minted_at())
    }
}

/// How a payment stands at its rail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Accepted; ask again at this time.
    Pending(Timestamp),
    /// It has arrived.
    Settled,
    /// It will not arrive.
    Refused(String),
}

/// The rail did not answer: whether it has the payment is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the rail does not answer")]
pub struct RailDown;

/// A way out of the bank, or into it.
pub trait Rail: Send + Sync {
    /// Hands over a payment, or asks how it stands: a rail knows a payment by its end-to-end id and never makes it twice.
    fn submit<'a>(&'a self, instruction: &'a Instruction) -> BoxFuture<'a, Result<Standing, RailDown>>;

    /// Calls a payment back. True when it will not arrive; false when it is too late for that.
    fn recall<'a>(&'a self, instruction: &'a Instruction) -> BoxFuture<'a, Result<bool, RailDown>>;

    /// How long a payment usually takes, in words.
    fn delivery_time(&self) -> &str;
}

/// The rail of this bank; none when it has no way out.
pub type Rails = Option<Arc<dyn Rail>>;
