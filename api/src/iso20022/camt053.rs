//! `camt.053.001.08`, bank to customer statement.
//!
//! Written in parts, so that a long statement is sent while it is read: [`head`], [`entries`] any number of times,
//! [`tail`].

use std::io;

use bursar_domain::kernel::utc_date;
use bursar_domain::ledger::{Channel, Internal};
use bursar_domain::{AccountNumber, Currency};
use bursar_projections::statement_entries::{StatementEntry, Total};
use jiff::Timestamp;

use super::transaction_reference;
use super::xml::{Xml, limited};

/// The name of the message.
const MESSAGE: &str = "camt.053.001.08";
/// Most characters of an identifier.
const IDENTIFIER: usize = 35;
/// What ISO 20022 puts where a payer gave no reference.
const NOT_PROVIDED: &str = "NOTPROVIDED";

/// A statement, apart from its entries; sums in minor units of `currency`.
#[derive(Debug, Clone)]
pub struct Statement<'a> {
    /// Names the message and the statement, at most 35 characters: the same for the same content.
    pub id: &'a str,
    /// When it is written.
    pub created_at: Timestamp,
    /// The first moment it covers.
    pub from: Timestamp,
    /// The moment up to which it is complete.
    pub until: Timestamp,
    /// Whose statement it is.
    pub account: &'a AccountNumber,
    /// The name on the account; the document has room for 70 characters.
    pub name: &'a str,
    /// The account's currency.
    pub currency: Currency,
    /// Before the first entry.
    pub opening: i64,
    /// After the last entry: the opening balance plus all entries.
    pub closing: i64,
    /// Entries that brought money in.
    pub credits: Total,
    /// Entries that took money out.
    pub debits: Total,
}

/// Everything before the first entry.
///
/// # Errors
/// None in practice: it writes to memory.
pub fn head(statement: &Statement<'_>) -> io::Result<Vec<u8>> {
    let mut xml = Xml::document(MESSAGE)?;
    let created_at = statement.created_at.to_string();
    xml.open("BkToCstmrStmt")?;
    xml.within(&["GrpHdr"], |xml| {
        xml.leaf("MsgId", statement.id)?;
        xml.leaf("CreDtTm", &created_at)
    })?;
    xml.open("Stmt")?;
    xml.leaf("Id", statement.id)?;
    xml.leaf("CreDtTm", &created_at)?;
    xml.within(&["FrToDt"], |xml| {
        xml.leaf("FrDtTm", &statement.from.to_string())?;
        xml.leaf("ToDtTm", &statement.until.to_string())
    })?;
    xml.within(&["Acct"], |xml| {
        xml.within(&["Id", "Othr"], |xml| xml.leaf("Id", statement.account.as_str()))?;
        xml.leaf("Ccy", statement.currency.as_str())?;
        xml.text("Nm", statement.name, 70)
    })?;
    balance(&mut xml, "OPBD", statement.currency, statement.opening, statement.from)?;
    balance(&mut xml, "CLBD", statement.currency, statement.closing, statement.until)?;
    summary(&mut xml, statement)?;
    Ok(xml.bytes())
}

/// Some entries, in the order of the statement.
///
/// # Errors
/// None in practice: it writes to memory.
pub fn entries(currency: Currency, entries: &[StatementEntry]) -> io::Result<Vec<u8>> {
    let mut xml = Xml::part();
    entries.iter().try_for_each(|entry| write_entry(&mut xml, currency, entry))?;
    Ok(xml.bytes())
}

/// Everything after the last entry.
///
/// # Errors
/// None in practice: it writes to memory.
pub fn tail() -> io::Result<Vec<u8>> {
    let mut xml = Xml::part();
    ["Stmt", "BkToCstmrStmt", "Document"].iter().try_for_each(|name| xml.close(name))?;
    Ok(xml.bytes())
}

fn balance(xml: &mut Xml, kind: &str, currency: Currency, minor: i64, at: Timestamp) -> io::Result<()> {
    xml.within(&["Bal"], |xml| {
        xml.within(&["Tp", "CdOrPrtry"], |xml| xml.leaf("Cd", kind))?;
        signed(xml, currency, minor)?;
        xml.within(&["Dt"], |xml| xml.leaf("DtTm", &at.to_string()))
    })
}

/// An amount and which way it goes; nothing goes in.
fn signed(xml: &mut Xml, currency: Currency, minor: i64) -> io::Result<()> {
    xml.amount("Amt", currency, minor)?;
    xml.leaf("CdtDbtInd", if minor < 0 { "DBIT" } else { "CRDT" })
}

fn summary(xml: &mut Xml, statement: &Statement<'_>) -> io::Result<()> {
    let total = |xml: &mut Xml, name: &str, total: Total| {
        xml.within(&[name], |xml| {
            xml.leaf("NbOfNtries", &total.entries.to_string())?;
            // The schema has 18 digits; a sum beyond them is left out.
            let writable = total.amount < 1_000_000_000_000_000_000;
            if writable { xml.leaf("Sum", &statement.currency.decimal(total.amount)) } else { Ok(()) }
        })
    };
    let (credits, debits) = (statement.credits, statement.debits);
    xml.within(&["TxsSummry"], |xml| {
        let all = credits.entries.saturating_add(debits.entries);
        xml.within(&["TtlNtries"], |xml| xml.leaf("NbOfNtries", &all.to_string()))?;
        total(xml, "TtlCdtNtries", credits)?;
        total(xml, "TtlDbtNtries", debits)
    })
}

fn write_entry(xml: &mut Xml, currency: Currency, entry: &StatementEntry) -> io::Result<()> {
    let transaction = transaction_reference(&entry.transaction_id);
    xml.within(&["Ntry"], |xml| {
        signed(xml, currency, entry.amount)?;
        xml.within(&["Sts"], |xml| xml.leaf("Cd", "BOOK"))?;
        xml.within(&["BookgDt"], |xml| xml.leaf("DtTm", &entry.recorded_at.to_string()))?;
        xml.within(&["ValDt"], |xml| xml.leaf("Dt", &utc_date(entry.recorded_at).to_string()))?;
        xml.text("AcctSvcrRef", transaction, IDENTIFIER)?;
        let (family, subfamily) = code(entry);
        xml.within(&["BkTxCd", "Domn"], |xml| {
            xml.leaf("Cd", "PMNT")?;
            xml.within(&["Fmly"], |xml| {
                xml.leaf("Cd", family)?;
                xml.leaf("SubFmlyCd", subfamily)
            })
        })?;
        xml.within(&["NtryDtls", "TxDtls"], |xml| details(xml, currency, entry, transaction))?;
        xml.text("AddtlNtryInf", &entry.description, 500)
    })
}

fn details(xml: &mut Xml, currency: Currency, entry: &StatementEntry, transaction: &str) -> io::Result<()> {
    let reference = if entry.reference.is_empty() { NOT_PROVIDED } else { &entry.reference };
    let shown = limited(reference, IDENTIFIER);
    xml.within(&["Refs"], |xml| {
        xml.text("AcctSvcrRef", transaction, IDENTIFIER)?;
        xml.leaf("EndToEndId", shown)
    })?;
    signed(xml, currency, entry.amount)?;
    if let Some(other) = customer(entry) {
        let side = if entry.amount < 0 { "CdtrAcct" } else { "DbtrAcct" };
        xml.within(&["RltdPties"], |xml| xml.account(side, other))?;
    }
    xml.remittance(entry.narration.as_deref())?;
    // A reference may be longer than an identifier; nothing of it is lost.
    if shown == reference { Ok(()) } else { xml.text("AddtlTxInf", reference, 500) }
}

/// The account on the other side, unless it is one of the bank's own.
pub fn customer(entry: &StatementEntry) -> Option<&str> {
    let other = entry.counterparty.as_deref()?;
    (!AccountNumber::from(other).is_internal()).then_some(other)
}

/// Family and sub-family of the ISO bank transaction code, domain `PMNT`.
fn code(entry: &StatementEntry) -> (&'static str, &'static str) {
    let out = entry.amount < 0;
    let Some(other) = entry.counterparty.as_deref().map(AccountNumber::from) else {
        return miscellaneous(out);
    };
    if !other.is_internal() {
        return (if out { "ICDT" } else { "RCDT" }, "BOOK");
    }
    let currency = Currency::try_from(entry.currency.as_str()).ok();
    match currency.and_then(|currency| Internal::of(&other, currency)) {
        Some(Internal::Cash) => ("CNTR", if out { "CWDL" } else { "CDPT" }),
        // What comes from there had gone there.
        Some(Internal::Settlement(Channel::Banks)) => ("ICDT", if out { "OTHR" } else { "RRTN" }),
        Some(_) | None => miscellaneous(out),
    }
}

const fn miscellaneous(out: bool) -> (&'static str, &'static str) {
    (if out { "MDOP" } else { "MCOP" }, "OTHR")
}
