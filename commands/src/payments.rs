//! Moving money inside the bank, and cash in and out of it.

use bursar_domain::beneficiaries::BeneficiariesCommand;
use bursar_domain::kernel::{TransactionId, UserId};
use bursar_domain::ledger::Internal;
use bursar_domain::payments::{Pay, PaymentCommand, PaymentError, PaymentKind};
use bursar_domain::{AccountNumber, Amount, Currency};

use crate::beneficiaries::NewBeneficiary;
use crate::journal::Holding;
use crate::owned::{CommandError, Owned};
use crate::{Committed, Context, Journal, Unit};

/// How much moves, and what the payer says about it.
#[derive(Debug, Clone)]
pub struct Transfer {
    /// Minor units.
    pub amount: Amount,
    /// Must be the currency of both accounts.
    pub currency: Currency,
    /// What it is for.
    pub narration: Option<String>,
    /// The payer's reference; made from the transaction id when absent.
    pub reference: Option<String>,
}

/// Who is paid.
#[derive(Debug, Clone)]
pub struct Payee {
    /// Any account of this bank.
    pub account: AccountNumber,
    /// The name the payer gave.
    pub name: Option<String>,
    /// Whether to keep them as a beneficiary.
    pub save: bool,
}

/// Pays another customer of this bank.
///
/// Whether the destination exists and has the currency is decided by the ledger, in the same transaction.
///
/// # Errors
/// `NOT_FOUND` for the destination, `CURRENCY_MISMATCH`, `INSUFFICIENT_FUNDS`, `LIMIT_EXCEEDED`, `INVALID_STATE`,
/// `SAME_ACCOUNT`.
pub async fn transfer_internal(
    journal: &Journal,
    context: Context,
    source: &Owned<Holding>,
    payee: Payee,
    transfer: Transfer,
) -> Result<Committed, CommandError> {
    let mut unit = Unit::new(context);
    if payee.save {
        let kept = NewBeneficiary {
            payee: bursar_domain::beneficiaries::Payee::Internal { account_number: payee.account.clone() },
            name: payee.name.clone(),
            institution: None,
            nickname: None,
            is_favorite: false,
        };
        unit = unit.step(source.owner(), BeneficiariesCommand::Keep(kept.entry(journal)));
    }
    let between = Between {
        payer: Some(source.owner()),
        destination_name: payee.name,
        save_as_beneficiary: payee.save,
        ..Between::new(PaymentKind::Internal, source.number.clone(), payee.account)
    };
    pay(journal, unit, between, transfer).await
}

/// Moves money between two accounts of one customer; limits do not count it.
///
/// # Errors
/// As [`transfer_internal`].
pub async fn transfer_self(
    journal: &Journal,
    context: Context,
    source: &Owned<Holding>,
    destination: &Owned<Holding>,
    transfer: Transfer,
) -> Result<Committed, CommandError> {
    if source.owner() != destination.owner() {
        return Err(CommandError::refused(PaymentError::WrongAccounts));
    }
    let between = Between {
        payer: Some(source.owner()),
        ..Between::new(PaymentKind::Own, source.number.clone(), destination.number.clone())
    };
    pay(journal, Unit::new(context), between, transfer).await
}

/// Staff: cash handed in at a till.
///
/// # Errors
/// `NOT_FOUND`, `CURRENCY_MISMATCH`, `LIMIT_EXCEEDED`, `INVALID_STATE`.
pub async fn deposit(
    journal: &Journal,
    context: Context,
    account: AccountNumber,
    transfer: Transfer,
) -> Result<Committed, CommandError> {
    let cash = Internal::Cash.account(transfer.currency);
    let between = Between::new(PaymentKind::Deposit, cash, account);
    pay(journal, Unit::new(context), between, transfer).await
}

/// Staff: cash handed out at a till.
///
/// # Errors
/// As [`transfer_internal`].
pub async fn withdraw(
    journal: &Journal,
    context: Context,
    account: AccountNumber,
    transfer: Transfer,
) -> Result<Committed, CommandError> {
    let cash = Internal::Cash.account(transfer.currency);
    let between = Between::new(PaymentKind::Withdrawal, account, cash);
    pay(journal, Unit::new(context), between, transfer).await
}

struct Between {
    kind: PaymentKind,
    payer: Option<UserId>,
    source: AccountNumber,
    destination: AccountNumber,
    destination_name: Option<String>,
    save_as_beneficiary: bool,
}

impl Between {
    const fn new(kind: PaymentKind, source: AccountNumber, destination: AccountNumber) -> Self {
        Self { kind, payer: None, source, destination, destination_name: None, save_as_beneficiary: false }
    }
}

async fn pay(
    journal: &Journal,
    unit: Unit,
    between: Between,
    transfer: Transfer,
) -> Result<Committed, CommandError> {
    let id = mint(journal);
    let pay = PaymentCommand::Pay(Box::new(Pay {
        kind: between.kind,
        payer: between.payer,
        source: between.source,
        destination: between.destination,
        destination_name: between.destination_name,
        amount: transfer.amount,
        currency: transfer.currency,
        narration: transfer.narration,
        reference: transfer.reference.unwrap_or_else(|| reference_of(id)),
        save_as_beneficiary: between.save_as_beneficiary,
    }));
    Ok(journal.submit(unit.create(id, pay)).await?)
}

/// The id of a payment about to be made.
pub(crate) fn mint(journal: &Journal) -> TransactionId {
    TransactionId::mint(journal.sources())
}

/// A reference for a payer who gave none: the random end of the transaction id, easy to read out.
pub(crate) fn reference_of(id: TransactionId) -> String {
    let id = id.to_string();
    let end = id.get(id.len().saturating_sub(12)..).unwrap_or(&id);
    end.to_ascii_uppercase()
}
