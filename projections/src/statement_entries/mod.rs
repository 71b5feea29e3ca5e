//! Statements: one row a posting, with the balance the ledger stamped on it.

mod query;
#[cfg(test)]
mod tests;
mod whole;

use std::collections::{HashMap, HashSet};

use bursar_domain::ledger::Posting;
use bursar_domain::payments::{Cause, Movement, PaymentKind};
use bursar_domain::{AccountNumber, Event, Kind, Position, Recorded};
use jiff::Timestamp;
use sqlx::PgConnection;

pub use query::{
    AsOf, EntryFilter, EntrySort, EntryType, PastBalance, Statement, StatementEntry, StatementRange, balance,
    statement,
};
pub(crate) use query::{NEVER, fence};
pub use whole::{Place, Total, WholeStatement};

use crate::copy::CopyRows;
use crate::read_model::{FoldError, Mask, ReadModel, Table};

/// A row, borrowed from its event. The fields are the table's columns, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row<'a> {
    position: Position,
    recorded_at: Timestamp,
    amount: i64,
    balance: i64,
    line: i16,
    account_number: &'a str,
    transaction_id: &'a str,
    kind: EntryType,
    currency: &'a str,
    description: &'static str,
    reference: &'a str,
    narration: Option<&'a str>,
    counterparty: &'a str,
    /// Which entry of the account it is; known once it is folded.
    number: i64,
}

/// Accounts whose last number is held between batches; beyond it all are asked for anew. About 50 MB.
const HELD: usize = 500_000;

const COPY: &str = "COPY statement_entries (position, recorded_at, amount, balance, line, account_number,
    transaction_id, type, currency, description, reference, narration, counterparty, number)
    FROM STDIN (FORMAT binary)";

impl Row<'_> {
    fn write(&self, rows: &mut CopyRows) {
        rows.row(14)
            .int8(self.position)
            .timestamp(self.recorded_at)
            .int8(self.amount)
            .int8(self.balance)
            .int2(self.line)
            .text(self.account_number)
            .text(self.transaction_id)
            .text(self.kind.as_str())
            .text(self.currency)
            .text(self.description)
            .text(self.reference)
            .optional_text(self.narration)
            .text(self.counterparty)
            .int8(self.number);
    }
}

/// The rows of one movement.
fn rows<'a>(event: &'a Recorded, moved: Movement<'a>) -> impl Iterator<Item = Row<'a>> {
    moved.postings.iter().zip(0_i16..).map(move |(posting, line)| Row {
        position: event.position,
        recorded_at: moved.at(&posting.account, event.recorded_at),
        amount: posting.amount,
        balance: posting.balance,
        line,
        account_number: posting.account.as_str(),
        transaction_id: event.stream.id.as_str(),
        kind: EntryType::of(posting.amount),
        currency: posting.currency.as_str(),
        description: description(moved.cause, line, posting),
        reference: moved.reference,
        narration: moved.narration,
        counterparty: moved.counterparty(usize::from(line.unsigned_abs())).map_or("", AccountNumber::as_str),
        number: 0,
    })
}

const fn description(cause: Cause, line: i16, posting: &Posting) -> &'static str {
    let kind = match cause {
        Cause::Payment(kind) => kind,
        Cause::Settlement => return "Settlement",
        Cause::Return => return "Payment returned",
    };
    // The first pair of lines is the payment, the others are its fee or its interest.
    if line >= 2 {
        return match kind {
            PaymentKind::Reversal => "Fee given back",
            PaymentKind::LoanRepayment | PaymentKind::LoanWriteOff => "Interest on a loan",
            _ => "Fee",
        };
    }
    match (kind, posting.amount > 0) {
        (PaymentKind::Internal, true) => "Transfer received",
        (PaymentKind::Internal, false) => "Transfer sent",
        (PaymentKind::Own, _) => "Transfer between own accounts",
        (PaymentKind::Deposit, _) => "Cash deposit",
        (PaymentKind::Withdrawal, _) => "Cash withdrawal",
        (PaymentKind::External, _) => "Transfer to another bank",
        (PaymentKind::Mwallet, _) => "Transfer to a mobile wallet",
        (PaymentKind::Bills, _) => "Bill payment",
        (PaymentKind::CardFunding, _) => "Funding by card",
        (PaymentKind::MwalletFunding, _) => "Funding by mobile wallet",
        (PaymentKind::Reversal, _) => "Reversal",
        (PaymentKind::Refund, _) => "Refund after a dispute",
        (PaymentKind::LoanDisbursement, _) => "Loan paid out",
        (PaymentKind::LoanRepayment, _) => "Loan repayment",
        (PaymentKind::LoanInterest, _) => "Interest on a loan",
        (PaymentKind::LoanWriteOff, _) => "Loan written off",
        (PaymentKind::SavingsInterest, _) => "Interest",
        (PaymentKind::TakenOver, _) => "From the bank before",
        (PaymentKind::Closure, _) => "Balance of an account that was closed",
    }
}

/// The read model behind [`statement`].
#[derive(Debug, Default)]
pub struct StatementEntries {
    pending: CopyRows,
    /// How many entries accounts have, those that wait among them.
    numbers: HashMap<AccountNumber, i64>,
    /// The accounts that are left as they are.
    mask: Mask,
}

impl ReadModel for StatementEntries {
    const NAME: &'static str = "statement_entries";
    const READS: &'static [Kind] = &[Kind::Payment];

    fn row_sets(event: &Recorded) -> Vec<String> {
        crate::row::accounts(event).map(|account| account.to_string()).collect()
    }

    fn mask(&mut self, mask: &Mask) {
        self.mask = mask.clone();
    }
    const TABLES: &'static [Table] = &[Table {
        name: "statement_entries",
        key: &["account_number", "recorded_at", "position", "line"],
        position: "position",
        // Only ever appended, but the last entry of an account is looked for while a rebuild fills it.
        append_only: false,
    }];

    async fn load(&mut self, db: &mut PgConnection, events: &[Recorded]) -> sqlx::Result<()> {
        let movements = events.iter().filter_map(|event| match &event.event {
            Event::Payment(payment) => payment.movement(),
            _ => None,
        });
        let missing: HashSet<&AccountNumber> = movements
            .flat_map(|moved| moved.postings.iter())
            .map(|posting| &posting.account)
            .filter(|account| !self.numbers.contains_key(*account))
            .collect();
        let missing: Vec<String> = missing.into_iter().map(ToString::to_string).collect();
        if missing.is_empty() { Ok(()) } else { self.load_numbers(db, &missing).await }
    }

    fn fold(&mut self, event: &Recorded) -> Result<(), FoldError> {
        let Event::Payment(payment) = &event.event else { return Ok(()) };
        if let Some(moved) = payment.movement() {
            let shown = rows(event, moved).filter(|row| !self.mask.hides(row.account_number));
            for row in shown {
                let number = match self.numbers.get_mut(row.account_number) {
                    Some(number) => number,
                    // Its first.
                    None => self.numbers.entry(row.account_number.into()).or_default(),
                };
                *number += 1;
                Row { number: *number, ..row }.write(&mut self.pending);
            }
        }
        Ok(())
    }

    fn pending(&self) -> usize {
        self.pending.len()
    }

    async fn save(&mut self, db: &mut PgConnection) -> sqlx::Result<()> {
        self.pending.send(db, COPY).await?;
        if self.numbers.len() > HELD {
            self.numbers.clear();
        }
        Ok(())
    }
}

impl StatementEntries {
    async fn load_numbers(&mut self, db: &mut PgConnection, accounts: &[String]) -> sqlx::Result<()> {
        let rows = sqlx::query!(
            r#"SELECT wanted.account_number AS "account_number!", last.number
               FROM UNNEST($1::text[]) AS wanted (account_number)
               CROSS JOIN LATERAL (SELECT e.number FROM statement_entries e
                                   WHERE e.account_number = wanted.account_number COLLATE "C"
                                   ORDER BY e.recorded_at DESC, e.position DESC, e.line DESC LIMIT 1) last"#,
            accounts
        );
        for row in rows.fetch_all(db).await? {
            self.numbers.insert(row.account_number.as_str().into(), row.number);
        }
        Ok(())
    }
}
