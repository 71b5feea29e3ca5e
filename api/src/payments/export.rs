//! Payments to other banks as one document, `pacs.008.001.08`.
//!
//! The head of a document says how many payments follow and what they come to, so that the log is read twice: once to
//! add up, once to write. Both readings see the same part of the log, a page at a time.

use std::io::{self, Write};

use aws_lc_rs::digest::{Context, SHA256};
use bursar_commands::journal::StoreError;
use bursar_commands::keys::hex;
use bursar_commands::payments::{LogSoFar, SentPayment, Stretch};
use bursar_domain::kernel::utc_date;
use bursar_domain::payments::Outside;

use crate::config::BankSection;
use crate::iso20022::pacs008::{self, ControlTotal, CreditTransfer, Message, Party, Unwritable};
use crate::iso20022::transaction_reference;

/// Why a document cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The log.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A payment that the document has no room for. None is left out: the sums would be wrong.
    #[error("{payment} cannot be written: {source}")]
    Payment {
        /// Its id.
        payment: String,
        /// Why not.
        source: Unwritable,
    },
    /// The document as a whole.
    #[error(transparent)]
    Document(#[from] Unwritable),
    /// Where it is written to.
    #[error(transparent)]
    Output(#[from] io::Error),
}

/// A document about to be written: what it comes to is known.
pub struct Document<'a> {
    log: &'a LogSoFar<'a>,
    stretch: Stretch,
    bank: &'a BankSection,
    message: Message,
}

impl<'a> Document<'a> {
    /// Adds up the payments accepted in a stretch of the log; none when there are none. `read` hears of every so many
    /// events, in all of as many as the stretch has.
    ///
    /// # Errors
    /// [`ExportError`].
    pub async fn begin(
        log: &'a LogSoFar<'a>,
        stretch: Stretch,
        bank: &'a BankSection,
        read: &mut (dyn FnMut(u64) + Send),
    ) -> Result<Option<Self>, ExportError> {
        let (mut total, mut hash) = (ControlTotal::default(), Context::new(&SHA256));
        for page in stretch.pages() {
            for payment in log.sent(page).await? {
                let (transfer, bytes) = written(&payment, bank)?;
                total.add(&transfer)?;
                hash.update(&bytes);
            }
            read(page.events());
        }
        if total.transfers() == 0 {
            return Ok(None);
        }
        let hash = hash.finish();
        let message = Message {
            // The same payments have the same name, however often they are exported.
            message_id: hex(hash.as_ref().get(..16).unwrap_or(hash.as_ref())),
            created_at: log.recorded_at(),
            clearing_system: bank.clearing_system.clone(),
            total,
        };
        Ok(Some(Self { log, stretch, bank, message }))
    }

    /// What its payments come to.
    #[must_use]
    pub const fn total(&self) -> ControlTotal {
        self.message.total
    }

    /// Writes it. `read` as in [`begin`](Self::begin).
    ///
    /// # Errors
    /// [`ExportError`]; half a document has no end, and is taken for a whole one by nobody.
    pub async fn write(
        &self,
        out: &mut (dyn Write + Send),
        read: &mut (dyn FnMut(u64) + Send),
    ) -> Result<(), ExportError> {
        out.write_all(&pacs008::head(&self.message)?)?;
        for page in self.stretch.pages() {
            for payment in self.log.sent(page).await? {
                out.write_all(&written(&payment, self.bank)?.1)?;
            }
            read(page.events());
        }
        out.write_all(&pacs008::tail()?)?;
        Ok(out.flush()?)
    }
}

fn written(payment: &SentPayment, bank: &BankSection) -> Result<(CreditTransfer, Vec<u8>), ExportError> {
    let transfer = transfer(payment, bank);
    match pacs008::transfer(&transfer) {
        Ok(bytes) => Ok((transfer, bytes)),
        Err(source) => Err(ExportError::Payment { payment: payment.id.to_string(), source }),
    }
}

/// The payment as other banks read of it.
fn transfer(sent: &SentPayment, bank: &BankSection) -> CreditTransfer {
    let SentPayment { id, accepted_at, settled_at, payer_name, payment } = sent;
    let (bank_code, bank_name) = match &payment.outside {
        Some(Outside::Bank { bank_code, bank_name, .. }) => {
            (Some(bank_code.clone()), Some(bank_name.clone()))
        }
        _ => (None, None),
    };
    let payee = payment.destination_name.as_ref().map(|name| name.or_erased().to_owned());
    CreditTransfer {
        end_to_end_id: transaction_reference(&id.to_string()).to_owned(),
        transaction_id: id.to_string(),
        amount: payment.amount,
        currency: payment.currency,
        // What is still on its way settles at once as far as anybody knows.
        settles_on: utc_date(settled_at.unwrap_or(*accepted_at)),
        accepted_at: *accepted_at,
        debtor: Party {
            name: payer_name.or_erased().to_owned(),
            account: payment.source.to_string(),
            bank_code: Some(bank.code.clone()),
            bank_name: Some(bank.name.clone()),
        },
        creditor: Party {
            name: payee.unwrap_or_default(),
            account: payment.outside.as_ref().map(Outside::number).unwrap_or_default().to_owned(),
            bank_code,
            bank_name,
        },
        remittance: Some(payment.narration.as_ref().unwrap_or(&payment.reference).clone()),
    }
}
