//! hledger, 1.25 and newer: <https://hledger.org/hledger.html#journal>.

use std::fmt::{Result, Write as _};

use bursar_domain::Currency;
use bursar_domain::kernel::utc_date;
use jiff::civil::Date;

use super::text::{Dialect, Sum};
use super::{Moved, Since};

pub(super) struct Hledger;

impl Dialect for Hledger {
    const FILE: &'static str = "ledger.journal";

    fn head(out: &mut String) -> Result {
        out.write_str(
            "; The whole ledger, as bursar exported it. `position` is the place of the event in the log.\n\
             decimal-mark .\n\n",
        )
    }

    fn commodity(out: &mut String, currency: Currency, _since: Since) -> Result {
        let sample = currency.decimal(10_i128.pow(3 + u32::from(currency.minor_unit())));
        // A sample must have its decimal mark, whether anything follows it or not.
        let mark = if sample.contains('.') { "" } else { "." };
        writeln!(out, "commodity {sample}{mark} {currency}\n")
    }

    fn open(out: &mut String, account: &str, _currency: Currency, since: Since) -> Result {
        writeln!(out, "account {account}  ; opened:{}, position:{}\n", since.at, since.position)
    }

    fn close(out: &mut String, account: &str, _last: Date, since: Since) -> Result {
        // There is no directive for it.
        writeln!(out, "; {} is closed: {}, position:{}\n", account, since.at, since.position)
    }

    fn entry(out: &mut String, moved: Moved<'_>, lines: &[Sum]) -> Result {
        let recorded = moved.recorded;
        let (day, at, position) = (utc_date(recorded.recorded_at), recorded.recorded_at, recorded.position);
        writeln!(out, "{day} * ({}) {}", recorded.stream.id, moved.cause())?;
        writeln!(out, "    ; position:{position}, time:{at}, event:{}", recorded.event.name())?;
        for Sum { account, currency, amount } in lines {
            writeln!(out, "    {account}  {amount} {currency}")?;
        }
        writeln!(out)
    }

    fn balances(out: &mut String, last: Date, sums: &[Sum]) -> Result {
        writeln!(out, "{last} * Balances at the end of the day")?;
        for Sum { account, currency, amount } in sums {
            writeln!(out, "    {account}  0 {currency} = {amount} {currency}")?;
        }
        writeln!(out)
    }
}
