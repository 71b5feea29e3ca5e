//! Loans: what one costs and who can afford it.

mod eligibility;
mod schedule;
#[cfg(test)]
mod tests;

pub use eligibility::{Household, LOWEST_SCORE, Range, Verdict, assess};
pub use schedule::{Annuity, Instalment, LARGEST, LONGEST, NoSchedule, due_dates};
