//! Writes the data of a bank that never was, always the same for the same size: for measuring, and for trying.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use bursar_domain::Currency;
use jiff::civil::{Date, date};
use jiff::{SignedDuration, ToSpan as _};

use crate::demo::name;

/// Transactions of an account.
const EACH: u64 = 100;
/// The first day of every history.
const BEGINS: Date = date(2024, 1, 1);

/// Writes customers, accounts and `rows` transactions into `dir`, which is made; files that are there stay.
///
/// # Errors
/// When a file is there or cannot be written.
pub fn generate(dir: &Path, rows: u64) -> std::io::Result<()> {
    std::fs::create_dir_all(dir)?;
    let count = (rows / EACH).max(1);
    let customers = File::create_new(dir.join("customers.csv"))?;
    let accounts = File::create_new(dir.join("accounts.csv"))?;
    let (mut customers, mut accounts) = (BufWriter::new(customers), BufWriter::new(accounts));
    writeln!(customers, "id,first_name,last_name,email,phone,date_of_birth,country,kyc_level")?;
    writeln!(accounts, "id,customer_id,product,currency,opened_on,opening_balance")?;
    for n in 0..count {
        let (first, last) = name(usize::try_from(n).unwrap_or(0));
        let email = format!("{}.{}{n}@old.example", first.to_lowercase(), last.to_lowercase());
        let phone = format!("+234803{:07}", 1_000_100 + n % 8_000_000);
        writeln!(customers, "C-{n},{first},{last},{email},{phone},{},NG,FULL", born(n))?;
        let product = if n.is_multiple_of(4) { "SAV-001" } else { "CUR-001" };
        writeln!(accounts, "A-{n},C-{n},{product},NGN,{BEGINS},{}.00", 100_000 + n % 1_000)?;
    }
    customers.flush()?;
    accounts.flush()?;
    transactions(dir, rows, count)
}

fn born(n: u64) -> Date {
    let days = i32::try_from(n.wrapping_mul(7_919) % 15_000).unwrap_or(0);
    date(1960, 1, 1).checked_add(days.days()).unwrap_or(BEGINS)
}

/// Spread over a year, in the order of time; each account in turn, so that neighbours in the file are strangers.
fn transactions(dir: &Path, rows: u64, accounts: u64) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create_new(dir.join("transactions.csv"))?);
    writeln!(file, "id,account_id,booked_at,amount,balance,description,reference")?;
    let mut balances: Vec<i64> =
        (0..accounts).map(|n| i64::try_from(100_000 + n % 1_000).unwrap_or(0) * 100).collect();
    let begins = bursar_domain::kernel::midnight(BEGINS);
    let step = 365 * 24 * 3600 * 1000 / i64::try_from(rows.max(1)).unwrap_or(i64::MAX);
    let mut chance = 0x0b_u64;
    for n in 0..rows {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let account = n.wrapping_mul(2_654_435_761) % accounts;
        let Some(balance) = usize::try_from(account).ok().and_then(|place| balances.get_mut(place)) else {
            continue;
        };
        let sum = i64::try_from(chance >> 33).unwrap_or(0) % 500_000 + 1;
        // Nobody runs out of money, and half of all rows are credits all the same.
        let amount = if chance >> 63 == 0 && *balance > sum { -sum } else { sum };
        *balance += amount;
        let at = begins + SignedDuration::from_millis(step * i64::try_from(n).unwrap_or(0));
        let (amount, balance) =
            (Currency::NGN.decimal(amount.into()), Currency::NGN.decimal((*balance).into()));
        writeln!(file, "T-{n},A-{account},{at},{amount},{balance},Payment {n},")?;
    }
    file.flush()
}
