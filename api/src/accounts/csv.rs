//! A statement as CSV (RFC 4180): a header, then a row an entry, lines ending in CR LF.

use std::borrow::Cow;
use std::io;

use bursar_projections::statement_entries::StatementEntry;
use csv::{Terminator, Writer, WriterBuilder};

use crate::iso20022::camt053::customer;

/// Sums are whole minor units of `currency`, signed.
const COLUMNS: [&str; 10] = [
    "transaction_id",
    "booked_at",
    "type",
    "amount_minor",
    "balance_minor",
    "currency",
    "description",
    "reference",
    "narration",
    "counterparty_account",
];

/// The header row.
///
/// # Errors
/// None in practice: it writes to memory.
pub(super) fn head() -> io::Result<Vec<u8>> {
    rows(|csv| csv.write_record(COLUMNS))
}

/// A row for each entry.
///
/// # Errors
/// None in practice: it writes to memory.
pub(super) fn entries(entries: &[StatementEntry]) -> io::Result<Vec<u8>> {
    rows(|csv| {
        entries.iter().try_for_each(|entry| {
            csv.write_record([
                entry.transaction_id.as_str(),
                &entry.recorded_at.to_string(),
                entry.entry_type.as_str(),
                &entry.amount.to_string(),
                &entry.balance.to_string(),
                &entry.currency,
                &entry.description,
                &harmless(&entry.reference),
                &harmless(entry.narration.as_deref().unwrap_or_default()),
                customer(entry).unwrap_or_default(),
            ])
        })
    })
}

fn rows(write: impl FnOnce(&mut Writer<Vec<u8>>) -> csv::Result<()>) -> io::Result<Vec<u8>> {
    let mut csv = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(Vec::new());
    write(&mut csv)?;
    csv.into_inner().map_err(csv::IntoInnerError::into_error)
}

/// Somebody's text, with an apostrophe in front where a spreadsheet would take it for a formula: whoever pays a kobo could
/// otherwise have the payee's spreadsheet compute what they please.
fn harmless(text: &str) -> Cow<'_, str> {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']) {
        Cow::Owned(format!("'{text}"))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use bursar_projections::statement_entries::EntryType;

    use super::*;

    fn row(narration: Option<&str>, counterparty: &str) -> String {
        let entry = StatementEntry {
            position: 7,
            recorded_at: "2026-01-31T12:00:00Z".parse().unwrap(),
            transaction_id: "txn_1".to_owned(),
            description: "Transfer sent".to_owned(),
            entry_type: EntryType::Debit,
            amount: -1250,
            balance: -50,
            currency: "NGN".to_owned(),
            reference: "R, 1".to_owned(),
            narration: narration.map(str::to_owned),
            counterparty: Some(counterparty.to_owned()),
        };
        String::from_utf8(entries(&[entry]).unwrap()).unwrap()
    }

    const BEFORE: &str = "txn_1,2026-01-31T12:00:00Z,DEBIT,-1250,-50,NGN,Transfer sent,\"R, 1\",";

    #[test]
    fn a_row_is_quoted_where_it_must_be() {
        let other = "1234567897";
        assert_eq!(
            String::from_utf8(head().unwrap()).unwrap(),
            "transaction_id,booked_at,type,amount_minor,balance_minor,currency,description,reference,narration,\
             counterparty_account\r\n"
        );
        assert_eq!(row(Some("Lunch"), other), format!("{BEFORE}Lunch,{other}\r\n"));
        assert_eq!(row(Some("say \"hi\""), other), format!("{BEFORE}\"say \"\"hi\"\"\",{other}\r\n"));
        assert_eq!(row(Some("a\r\nb"), other), format!("{BEFORE}\"a\r\nb\",{other}\r\n"));
        assert_eq!(row(Some("🍲 łódź"), other), format!("{BEFORE}🍲 łódź,{other}\r\n"));
        // Nothing said, and the bank's own account on the other side.
        assert_eq!(row(None, "bank:cash:NGN"), format!("{BEFORE},\r\n"));
        assert_eq!(entries(&[]).unwrap(), b"");
    }

    #[test]
    fn a_formula_stays_a_text_and_a_number_a_number() {
        for formula in ["=HYPERLINK(1)", "+1", "-1", "@SUM(1)", "\t=1", "＝1"] {
            let written = row(Some(formula), "1234567897");
            assert!(written.contains(&format!(",'{formula},")), "{written}");
        }
        assert_eq!(row(Some("1=1"), "1234567897"), format!("{BEFORE}1=1,1234567897\r\n"));
    }
}
