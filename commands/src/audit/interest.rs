//! Interest worked out a second time, from the postings of the log alone: what was paid must be what the days earned.

use std::collections::HashMap;

use bursar_domain::accounts::{AccountEvent, Earner, Owed, Stretch};
use bursar_domain::kernel::{month_start, utc_date};
use bursar_domain::payments::{Completed, PaymentEvent};
use bursar_domain::{AccountNumber, Event, Recorded};
use jiff::civil::Date;

use super::Difference;
use super::replay::difference;

/// The accounts that earn interest, as far as the log was read.
#[derive(Default)]
pub(super) struct Interest(HashMap<AccountNumber, Earner>);

impl Interest {
    pub(super) fn take(&mut self, recorded: &Recorded) -> Result<(), Difference> {
        let day = utc_date(recorded.recorded_at);
        match &recorded.event {
            Event::Account(AccountEvent::Opened(opened)) => {
                let number = AccountNumber::from(recorded.stream.id.as_str());
                self.0.extend(Earner::opened(number.clone(), opened, day).map(|earner| (number, earner)));
            }
            Event::Payment(payment) => {
                if let PaymentEvent::Completed(made) = payment
                    && let Some(stretch) = made.earned
                {
                    self.check(recorded, made, stretch, day)?;
                }
                if let Some(moved) = payment.movement() {
                    for posting in moved.postings {
                        if let Some(earner) = self.0.get_mut(&posting.account) {
                            // Another bank's days were that bank's to pay for: here it begins on the day it was taken over.
                            let at = utc_date(moved.at(&posting.account, recorded.recorded_at));
                            let begins = earner.ends.last().map_or(at, |end| end.day);
                            earner.holds(at.max(begins), posting.balance);
                        }
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn check(
        &mut self,
        recorded: &Recorded,
        made: &Completed,
        stretch: Stretch,
        day: Date,
    ) -> Result<(), Difference> {
        let found = Owed { stretch, amount: made.amount.minor() };
        let subject = format!("interest of account {}", made.destination);
        let wrong = |expected: String| difference(recorded.position, &subject, expected, said(&found));
        let Some(earner) = self.0.get_mut(&made.destination) else { return Err(wrong("none".to_owned())) };
        if stretch.through >= day {
            return Err(wrong("days that are over".to_owned()));
        }
        let days = Stretch { from: month_start(stretch.from), through: stretch.through };
        let owed = earner.owed(days);
        if owed != [found] {
            let owed: Vec<String> = owed.iter().map(said).collect();
            return Err(wrong(if owed.is_empty() { "nothing".to_owned() } else { owed.join(", ") }));
        }
        earner.posted.push(stretch.through);
        // Only the days that are still to be paid are needed from here on, and how they began.
        let begins = earner.ends.partition_point(|end| end.day <= stretch.through).saturating_sub(1);
        earner.ends.drain(..begins);
        Ok(())
    }
}

fn said(owed: &Owed) -> String {
    let Owed { stretch: Stretch { from, through }, amount } = owed;
    format!("{amount} for {from} to {through}")
}
