//! `pacs.008.001.08`, customer credit transfer from bank to bank.
//!
//! Written in parts, so that a long document is written while the log is read: [`head`], which needs the [`ControlTotal`] of all
//! transfers, [`transfer`] for each of them, [`tail`].

use std::io;

use bursar_domain::{Amount, Currency};
use jiff::Timestamp;
use jiff::civil::Date;
use rust_decimal::Decimal;

use super::transaction_reference;
use super::xml::{Xml, limited};

/// The name of the message.
const MESSAGE: &str = "pacs.008.001.08";
/// Most characters of a name.
const NAME: usize = 140;
/// The first number with more than the 18 digits of a control sum, wherever its point is.
const DIGITS_18: i128 = 1_000_000_000_000_000_000;
/// What ISO 20022 puts where an identification is wanted and there is none.
const NOT_PROVIDED: &str = "NOTPROVIDED";

/// What the transfers of one document have in common.
#[derive(Debug, Clone)]
pub struct Message {
    /// Names the document for the receiver, 1 to 35 characters: the same for the same transfers, and only for them.
    pub message_id: String,
    /// When it is written.
    pub created_at: Timestamp,
    /// The clearing system the banks settle through, 1 to 35 characters: a name they have agreed on, if they have.
    pub clearing_system: Option<String>,
    /// What the transfers come to.
    pub total: ControlTotal,
}

/// How many transfers there are, and the sum of all amounts in major units, whatever their currencies: a check on what
/// arrives, not money.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ControlTotal {
    transfers: u64,
    sum: Decimal,
}

/// One payer, one payee, one amount.
#[derive(Debug, Clone)]
pub struct CreditTransfer {
    /// Names the payment from end to end, 1 to 35 characters; comes out at the payee unchanged.
    pub end_to_end_id: String,
    /// Our transaction; written without its prefix `txn_`, as in a statement.
    pub transaction_id: String,
    /// Minor units of `currency`.
    pub amount: Amount,
    /// ISO 4217.
    pub currency: Currency,
    /// The day on which the banks settle.
    pub settles_on: Date,
    /// When the payer's bank accepted it.
    pub accepted_at: Timestamp,
    /// Who pays.
    pub debtor: Party,
    /// Who is paid.
    pub creditor: Party,
    /// What it is for, in the payer's words.
    pub remittance: Option<String>,
}

/// Somebody with an account at a bank.
#[derive(Debug, Clone)]
pub struct Party {
    /// Their name; the document has room for 140 characters.
    pub name: String,
    /// Their account number, 1 to 34 characters.
    pub account: String,
    /// The bank's code in the clearing system, 1 to 35 characters, when it has one.
    pub bank_code: Option<String>,
    /// The bank's name, when it is known.
    pub bank_name: Option<String>,
}

/// The transfers cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum Unwritable {
    /// A document is about one transfer at least.
    #[error("there is no transfer to write")]
    Empty,
    /// Identifiers are never cut: a cut one names something else.
    #[error("{element} has 1 to {most} characters")]
    Identifier {
        /// The element it belongs into.
        element: &'static str,
        /// Most characters.
        most: usize,
    },
    /// The amounts come to more than the document can say.
    #[error("the control sum has more than 18 digits")]
    ControlSum,
    /// Does not happen in memory.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl ControlTotal {
    /// Counts a transfer.
    ///
    /// # Errors
    /// [`Unwritable::ControlSum`].
    pub fn add(&mut self, transfer: &CreditTransfer) -> Result<(), Unwritable> {
        let amount = Decimal::new(transfer.amount.minor(), transfer.currency.minor_unit().into());
        let sum = self.sum.checked_add(amount).filter(|sum| sum.mantissa() < DIGITS_18);
        *self = Self { transfers: self.transfers.saturating_add(1), sum: sum.ok_or(Unwritable::ControlSum)? };
        Ok(())
    }

    /// How many transfers were counted.
    #[must_use]
    pub const fn transfers(&self) -> u64 {
        self.transfers
    }

    /// The control sum.
    #[must_use]
    pub const fn sum(&self) -> Decimal {
        self.sum
    }
}

/// Everything before the first transfer: settled through a clearing system.
///
/// # Errors
/// [`Unwritable::Empty`], [`Unwritable::Identifier`].
pub fn head(message: &Message) -> Result<Vec<u8>, Unwritable> {
    if message.total.transfers == 0 {
        return Err(Unwritable::Empty);
    }
    identifier("MsgId", &message.message_id, 35)?;
    let system = message.clearing_system.as_deref();
    system.map_or(Ok(()), |system| identifier("ClrSys", system, 35))?;
    let mut xml = Xml::document(MESSAGE)?;
    xml.open("FIToFICstmrCdtTrf")?;
    xml.within(&["GrpHdr"], |xml| {
        xml.leaf("MsgId", &message.message_id)?;
        xml.leaf("CreDtTm", &message.created_at.to_string())?;
        xml.leaf("NbOfTxs", &message.total.transfers.to_string())?;
        xml.leaf("CtrlSum", &message.total.sum.to_string())?;
        xml.within(&["SttlmInf"], |xml| {
            xml.leaf("SttlmMtd", "CLRG")?;
            system.map_or(Ok(()), |system| xml.within(&["ClrSys"], |xml| xml.leaf("Prtry", system)))
        })
    })?;
    Ok(xml.bytes())
}

/// One transfer, charges as the rules of the clearing system say.
///
/// # Errors
/// [`Unwritable::Identifier`].
pub fn transfer(transfer: &CreditTransfer) -> Result<Vec<u8>, Unwritable> {
    identifiers(transfer)?;
    let mut xml = Xml::part();
    write(&mut xml, transfer)?;
    Ok(xml.bytes())
}

/// Everything after the last transfer.
///
/// # Errors
/// None in practice: it writes to memory.
pub fn tail() -> io::Result<Vec<u8>> {
    let mut xml = Xml::part();
    ["FIToFICstmrCdtTrf", "Document"].iter().try_for_each(|name| xml.close(name))?;
    Ok(xml.bytes())
}

fn identifiers(transfer: &CreditTransfer) -> Result<(), Unwritable> {
    identifier("EndToEndId", &transfer.end_to_end_id, 35)?;
    identifier("TxId", transaction_reference(&transfer.transaction_id), 35)?;
    [&transfer.debtor, &transfer.creditor].into_iter().try_for_each(|party| {
        identifier("Id", &party.account, 34)?;
        party.bank_code.as_deref().map_or(Ok(()), |code| identifier("MmbId", code, 35))
    })
}

fn identifier(element: &'static str, text: &str, most: usize) -> Result<(), Unwritable> {
    let fits = !text.is_empty() && limited(text, most) == text;
    if fits { Ok(()) } else { Err(Unwritable::Identifier { element, most }) }
}

fn write(xml: &mut Xml, transfer: &CreditTransfer) -> io::Result<()> {
    xml.within(&["CdtTrfTxInf"], |xml| {
        xml.within(&["PmtId"], |xml| {
            xml.leaf("EndToEndId", &transfer.end_to_end_id)?;
            xml.leaf("TxId", transaction_reference(&transfer.transaction_id))
        })?;
        xml.amount("IntrBkSttlmAmt", transfer.currency, transfer.amount.minor())?;
        xml.leaf("IntrBkSttlmDt", &transfer.settles_on.to_string())?;
        xml.leaf("AccptncDtTm", &transfer.accepted_at.to_string())?;
        // Who bears the charges is agreed in the scheme, not payment by payment.
        xml.leaf("ChrgBr", "SLEV")?;
        let (debtor, creditor) = (&transfer.debtor, &transfer.creditor);
        person(xml, "Dbtr", debtor)?;
        xml.account("DbtrAcct", &debtor.account)?;
        bank(xml, "DbtrAgt", debtor)?;
        bank(xml, "CdtrAgt", creditor)?;
        person(xml, "Cdtr", creditor)?;
        xml.account("CdtrAcct", &creditor.account)?;
        xml.remittance(transfer.remittance.as_deref())
    })
}

fn person(xml: &mut Xml, element: &str, party: &Party) -> io::Result<()> {
    xml.within(&[element], |xml| xml.text("Nm", &party.name, NAME))
}

fn bank(xml: &mut Xml, element: &str, party: &Party) -> io::Result<()> {
    xml.within(&[element, "FinInstnId"], |xml| {
        if let Some(code) = &party.bank_code {
            xml.within(&["ClrSysMmbId"], |xml| xml.leaf("MmbId", code))?;
        }
        xml.text("Nm", party.bank_name.as_deref().unwrap_or_default(), NAME)?;
        if party.bank_code.is_none() {
            xml.within(&["Othr"], |xml| xml.leaf("Id", NOT_PROVIDED))?;
        }
        Ok(())
    })
}
