//! beancount, version 2 and newer: <https://beancount.github.io/docs/beancount_language_syntax.html>.

use std::fmt::{Result, Write as _};

use bursar_domain::Currency;
use bursar_domain::kernel::utc_date;
use jiff::ToSpan as _;
use jiff::civil::Date;

use super::text::{Dialect, Sum};
use super::{Moved, Since};

pub(super) struct Beancount;

impl Dialect for Beancount {
    const FILE: &'static str = "ledger.beancount";

    fn head(out: &mut String) -> Result {
        out.write_str(
            ";; The whole ledger, as bursar exported it. `position` is the place of the event in the log.\n\
             option \"title\" \"bursar\"\n\n",
        )
    }

    fn commodity(out: &mut String, currency: Currency, since: Since) -> Result {
        writeln!(out, "{} commodity {currency}\n", since.day())
    }

    fn open(out: &mut String, account: &str, currency: Currency, since: Since) -> Result {
        writeln!(out, "{} open {account} {currency}", since.day())?;
        writeln!(out, "  position: {}\n  time: \"{}\"\n", since.position, since.at)
    }

    fn close(out: &mut String, account: &str, last: Date, since: Since) -> Result {
        writeln!(out, "{last} close {account}")?;
        writeln!(out, "  position: {}\n  time: \"{}\"\n", since.position, since.at)
    }

    fn entry(out: &mut String, moved: Moved<'_>, lines: &[Sum]) -> Result {
        let recorded = moved.recorded;
        let (day, at, position) = (utc_date(recorded.recorded_at), recorded.recorded_at, recorded.position);
        // What became of a payment has its link.
        writeln!(out, "{day} * \"{}\" ^{}", moved.cause(), recorded.stream.id)?;
        writeln!(out, "  position: {position}\n  time: \"{at}\"\n  event: \"{}\"", recorded.event.name())?;
        for Sum { account, currency, amount } in lines {
            writeln!(out, "  {account}  {amount} {currency}")?;
        }
        writeln!(out)
    }

    fn balances(out: &mut String, last: Date, sums: &[Sum]) -> Result {
        // A balance is that of the morning, and exact only when it says so.
        let morning = last.saturating_add(1.day());
        for Sum { account, currency, amount } in sums {
            writeln!(out, "{morning} balance {account}  {amount} ~ 0 {currency}")?;
        }
        writeln!(out)
    }
}
