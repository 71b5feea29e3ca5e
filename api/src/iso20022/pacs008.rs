//! `pacs.008.001.08`, customer credit transfer from bank to bank.

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

/// What the transfers of one document have in common.
#[derive(Debug, Clone)]
pub struct Message {
    /// Names the document for the receiver, 1 to 35 characters: never the same twice.
    pub message_id: String,
    /// When it is written.
    pub created_at: Timestamp,
    /// The day on which the banks settle.
    pub settles_on: Date,
    /// The clearing system they settle through, 1 to 35 characters: a name they have agreed on.
    pub clearing_system: String,
}

/// One payer, one payee, one amount.
#[derive(Debug, Clone)]
pub struct CreditTransfer {
    /// The payer's reference, 1 to 35 characters; comes out at the payee unchanged.
    pub end_to_end_id: String,
    /// Our transaction; written without its prefix `txn_`, as in a statement.
    pub transaction_id: String,
    /// Minor units of `currency`.
    pub amount: Amount,
    /// ISO 4217.
    pub currency: Currency,
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
    /// The bank's code in the clearing system, 1 to 35 characters.
    pub bank_code: String,
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

/// The document for these transfers: settled through a clearing system, charges as its rules say.
///
/// # Errors
/// [`Unwritable`].
pub fn render(message: &Message, transfers: &[CreditTransfer]) -> Result<Vec<u8>, Unwritable> {
    if transfers.is_empty() {
        return Err(Unwritable::Empty);
    }
    let sum = control_sum(transfers)?;
    identifier("MsgId", &message.message_id, 35)?;
    identifier("ClrSys", &message.clearing_system, 35)?;
    transfers.iter().try_for_each(identifiers)?;

    let mut xml = Xml::document(MESSAGE)?;
    xml.within(&["FIToFICstmrCdtTrf"], |xml| {
        xml.within(&["GrpHdr"], |xml| {
            xml.leaf("MsgId", &message.message_id)?;
            xml.leaf("CreDtTm", &message.created_at.to_string())?;
            xml.leaf("NbOfTxs", &transfers.len().to_string())?;
            xml.leaf("CtrlSum", &sum.to_string())?;
            xml.leaf("IntrBkSttlmDt", &message.settles_on.to_string())?;
            xml.within(&["SttlmInf"], |xml| {
                xml.leaf("SttlmMtd", "CLRG")?;
                xml.within(&["ClrSys"], |xml| xml.leaf("Prtry", &message.clearing_system))
            })
        })?;
        transfers.iter().try_for_each(|transfer| write(xml, transfer))
    })?;
    xml.close("Document")?;
    Ok(xml.bytes())
}

/// The sum of all amounts in major units, whatever their currencies: a check on what arrives, not money.
fn control_sum(transfers: &[CreditTransfer]) -> Result<Decimal, Unwritable> {
    let sum = transfers.iter().try_fold(Decimal::ZERO, |sum, transfer| {
        sum.checked_add(Decimal::new(transfer.amount.minor(), transfer.currency.minor_unit().into()))
    });
    sum.filter(|sum| sum.mantissa() < DIGITS_18).ok_or(Unwritable::ControlSum)
}

fn identifiers(transfer: &CreditTransfer) -> Result<(), Unwritable> {
    identifier("EndToEndId", &transfer.end_to_end_id, 35)?;
    identifier("TxId", transaction_reference(&transfer.transaction_id), 35)?;
    [&transfer.debtor, &transfer.creditor].into_iter().try_for_each(|party| {
        identifier("Id", &party.account, 34)?;
        identifier("MmbId", &party.bank_code, 35)
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
        xml.within(&["ClrSysMmbId"], |xml| xml.leaf("MmbId", &party.bank_code))?;
        xml.text("Nm", party.bank_name.as_deref().unwrap_or_default(), NAME)
    })
}
