//! A rail that goes nowhere: it settles everything after a while, but for numbers that stand for trouble.

use bursar_domain::payments::Outside;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use jiff::SignedDuration;

use super::{Instruction, Rail, RailDown, Standing};

/// The ends of account, customer, phone and card numbers that stand for trouble, and what happens to them.
///
/// Cards with a good check digit and such an end: 4000 0000 0001 0001, 4000 0000 0000 0002, 4000 0000 0009 0003,
/// 4000 0000 0008 0004, 4000 0000 0007 0005.
pub const MAGIC: &[(&str, &str)] = &[
    ("0001", "refused at once: the account is closed"),
    ("0002", "accepted, and returned after the usual delay"),
    ("0003", "the rail does not answer three times, then settles"),
    ("0004", "settled only after a day"),
    ("0005", "settled at once"),
];

/// How long the slow number takes.
const SLOW: SignedDuration = SignedDuration::from_hours(24);

/// The rail of test banks. It keeps nothing: how a payment stands follows from its number and its age.
#[derive(Debug, Clone, Copy)]
pub struct SandboxRail {
    delay: SignedDuration,
}

impl SandboxRail {
    /// A rail that settles payments `delay` after they were made.
    #[must_use]
    pub const fn new(delay: SignedDuration) -> Self {
        Self { delay }
    }

    fn standing(&self, instruction: &Instruction) -> Result<Standing, RailDown> {
        let after = |delay: SignedDuration, then: Standing| {
            let left = delay - instruction.age();
            if left.is_positive() {
                // At least a second: a payment is minted a moment before its clock is read again.
                Standing::Pending(instruction.now + left.max(SignedDuration::from_secs(1)))
            } else {
                then
            }
        };
        Ok(match trouble(&instruction.outside) {
            "0001" => Standing::Refused("AC04: the account is closed".to_owned()),
            "0002" => after(self.delay, Standing::Refused("AC01: no such account".to_owned())),
            "0003" if instruction.attempt <= 3 => return Err(RailDown),
            "0004" => after(SLOW, Standing::Settled),
            "0005" => Standing::Settled,
            _ => after(self.delay, Standing::Settled),
        })
    }
}

impl Rail for SandboxRail {
    fn submit<'a>(&'a self, instruction: &'a Instruction) -> BoxFuture<'a, Result<Standing, RailDown>> {
        ready(self.standing(instruction)).boxed()
    }

    fn recall<'a>(&'a self, instruction: &'a Instruction) -> BoxFuture<'a, Result<bool, RailDown>> {
        ready(self.standing(instruction).map(|standing| standing != Standing::Settled)).boxed()
    }

    fn delivery_time(&self) -> &str {
        "Within minutes"
    }
}

/// The last four digits of the number at the other end.
fn trouble(outside: &Outside) -> &str {
    let number = outside.number();
    number.get(number.len().saturating_sub(4)..).unwrap_or_default()
}
