//! How accounts ended their days, folded from the log of the simulation: what the read models say in a bank with a database.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use bursar_domain::accounts::{AccountEvent, Earner, Stretch};
use bursar_domain::codec::Codec;
use bursar_domain::kernel::utc_date;
use bursar_domain::payments::PaymentEvent;
use bursar_domain::{AccountNumber, Event, Position, Recorded};
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use jiff::civil::Date;

use crate::interest::DayEnds;
use crate::journal::in_memory::InMemory;
use crate::owned::CommandError;

/// Reads them.
pub(super) struct Folded {
    tables: Arc<InMemory>,
    earners: Mutex<(usize, BTreeMap<AccountNumber, Earner>)>,
}

impl Folded {
    pub(super) fn new(tables: Arc<InMemory>) -> Self {
        Self { tables, earners: Mutex::default() }
    }

    fn ask<T>(&self, asked: impl FnOnce(&BTreeMap<AccountNumber, Earner>) -> T) -> Result<T, CommandError> {
        let mut folded = self.earners.lock().unwrap_or_else(PoisonError::into_inner);
        // Without keys: what is personal earns nothing.
        let events = self.tables.read(folded.0, &Codec::default())?;
        folded.0 += events.len();
        events.iter().for_each(|recorded| take(&mut folded.1, recorded));
        Ok(asked(&folded.1))
    }
}

fn take(earners: &mut BTreeMap<AccountNumber, Earner>, recorded: &Recorded) {
    let day = utc_date(recorded.recorded_at);
    match &recorded.event {
        Event::Account(AccountEvent::Opened(opened)) => {
            let number = AccountNumber::from(recorded.stream.id.as_str());
            earners.extend(Earner::opened(number.clone(), opened, day).map(|earner| (number, earner)));
        }
        Event::Payment(payment) => {
            if let PaymentEvent::Completed(made) = payment
                && let (Some(stretch), Some(earner)) = (made.earned, earners.get_mut(&made.destination))
            {
                earner.posted.push(stretch.through);
            }
            for posting in payment.movement().into_iter().flat_map(|moved| moved.postings) {
                if let Some(earner) = earners.get_mut(&posting.account) {
                    earner.holds(day, posting.balance);
                }
            }
        }
        _ => {}
    }
}

impl DayEnds for Folded {
    fn unposted<'a>(
        &'a self,
        _at: Position,
        month: Stretch,
        after: Option<&'a AccountNumber>,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<Earner>, CommandError>> {
        let open = |earner: &&Earner| {
            after.is_none_or(|after| earner.account > *after) && !earner.posted.contains(&month.through)
        };
        ready(self.ask(|earners| earners.values().filter(open).take(most).cloned().collect())).boxed()
    }

    fn of<'a>(
        &'a self,
        _at: Position,
        account: &'a AccountNumber,
        _through: Date,
    ) -> BoxFuture<'a, Result<Option<Earner>, CommandError>> {
        ready(self.ask(|earners| earners.get(account).cloned())).boxed()
    }
}
