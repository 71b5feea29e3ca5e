//! Moving money: inside the bank, out of it and into it, and cash over the counter.

mod sent;

use bursar_domain::beneficiaries::{BeneficiariesCommand, Payee};
use bursar_domain::cards::CardCommand;
use bursar_domain::kernel::TransactionId;
use bursar_domain::ledger::Internal;
use bursar_domain::payments::{Outside, Pay, PaymentCommand, PaymentError, PaymentKind};
use bursar_domain::reference::Reference;
use bursar_domain::{AccountNumber, Amount, Currency, Personal};

use crate::beneficiaries::NewBeneficiary;
use crate::cards::HeldCard;
pub use sent::{LogSoFar, SentPayment, Stretch};

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

/// How the payer knows the payee.
#[derive(Debug, Clone, Default)]
pub struct Known {
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
    destination: AccountNumber,
    known: Known,
    transfer: Transfer,
) -> Result<Committed, CommandError> {
    let payee = Payee::Internal { account_number: destination.clone() };
    let unit = keeping(journal, Unit::new(context), source, &known, payee, None);
    let pay = Pay {
        payer: Some(source.owner()),
        destination_name: known.name,
        save_as_beneficiary: known.save,
        ..moving(PaymentKind::Internal, source.number.clone(), destination, &transfer)
    };
    make(journal, unit, pay, transfer).await
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
    let (from, to) = (source.number.clone(), destination.number.clone());
    let pay = Pay { payer: Some(source.owner()), ..moving(PaymentKind::Own, from, to, &transfer) };
    make(journal, Unit::new(context), pay, transfer).await
}

/// Pays somebody outside the bank: an account of another bank, a mobile wallet, a biller. The customer is debited at
/// once, with the `fee`; the rail has the money for a while, and it may come back.
///
/// # Errors
/// `CURRENCY_MISMATCH`, `INSUFFICIENT_FUNDS`, `LIMIT_EXCEEDED`, `INVALID_STATE`, `WRONG_ACCOUNTS` for a code that can
/// have no settlement account.
pub async fn pay_out(
    journal: &Journal,
    context: Context,
    source: &Owned<Holding>,
    outside: Outside,
    known: Known,
    fee: Option<Amount>,
    transfer: Transfer,
) -> Result<Committed, CommandError> {
    let (kind, institution) = match &outside {
        Outside::Bank { bank_name, .. } => (PaymentKind::External, Some(bank_name.clone())),
        Outside::Wallet { .. } => (PaymentKind::Mwallet, None),
        Outside::Biller { biller_name, .. } => (PaymentKind::Bills, Some(biller_name.clone())),
        Outside::Card { .. } => return Err(CommandError::refused(PaymentError::WrongAccounts)),
    };
    let mut unit = Unit::new(context);
    if let Some(payee) = outside.payee() {
        unit = keeping(journal, unit, source, &known, payee, institution);
    }
    let settlement = Internal::Settlement(outside.channel()).account(transfer.currency);
    let pay = Pay {
        payer: Some(source.owner()),
        destination_name: known.name,
        save_as_beneficiary: known.save,
        outside: Some(outside),
        fee,
        ..moving(kind, source.number.clone(), settlement, &transfer)
    };
    make(journal, unit, pay, transfer).await
}

/// A bill to be paid.
#[derive(Debug, Clone)]
pub struct BillOrder {
    /// The biller's code.
    pub biller_id: String,
    /// The code of what is bought; whatever costs the amount when absent.
    pub item_id: Option<String>,
    /// The customer's number at the biller.
    pub account_number: String,
    /// `POSTPAID`, `PREPAID` ..., as the payer said.
    pub payment_type: Option<String>,
}

/// Pays a bill. The item's fee is the bank's, in a posting of its own.
///
/// # Errors
/// As [`pay_out`] and [`Reference::bill`].
pub async fn pay_bill(
    journal: &Journal,
    reference: &Reference,
    context: Context,
    source: &Owned<Holding>,
    order: BillOrder,
    known: Known,
    transfer: Transfer,
) -> Result<Committed, CommandError> {
    let BillOrder { biller_id, item_id, account_number, payment_type } = order;
    let (amount, currency) = (transfer.amount, transfer.currency);
    let bill = reference.bill(&biller_id, item_id.as_deref(), &account_number, amount, currency);
    let bill = bill.map_err(CommandError::refused)?;
    let outside = Outside::Biller {
        biller_id,
        biller_name: bill.biller.biller_name.clone(),
        account_number: Personal::new(account_number),
        payment_type,
    };
    // None for an item without a fee: nothing is posted for it.
    let fee = Amount::try_from(bill.fee).ok();
    pay_out(journal, context, source, outside, known, fee, transfer).await
}

/// Brings money from a mobile wallet into an account, where it is reserved until the rail has it.
///
/// # Errors
/// `CURRENCY_MISMATCH`, `LIMIT_EXCEEDED`, `INVALID_STATE`, `WRONG_ACCOUNTS`.
pub async fn fund(
    journal: &Journal,
    context: Context,
    destination: &Owned<Holding>,
    outside: Outside,
    transfer: Transfer,
) -> Result<Committed, CommandError> {
    let kind = match &outside {
        Outside::Wallet { .. } => PaymentKind::MwalletFunding,
        Outside::Card { .. } | Outside::Bank { .. } | Outside::Biller { .. } => {
            return Err(CommandError::refused(PaymentError::WrongAccounts));
        }
    };
    let pay = funding(kind, destination, outside, &transfer);
    make(journal, Unit::new(context), pay, transfer).await
}

/// Brings money from a card of the caller's into an account of theirs, where it is reserved until the rail has it. The
/// card's limits count it in the same unit.
///
/// # Errors
/// `NOT_FOUND` for the card, `CARD_EXPIRED`, `CURRENCY_MISMATCH`, `LIMIT_EXCEEDED`, `INVALID_STATE`.
pub async fn fund_by_card(
    journal: &Journal,
    context: Context,
    destination: &Owned<Holding>,
    card: &Owned<HeldCard>,
    transfer: Transfer,
) -> Result<Committed, CommandError> {
    let outside = Outside::Card { card_id: card.id.to_string(), masked_number: card.masked_number.clone() };
    let pay = funding(PaymentKind::CardFunding, destination, outside, &transfer);
    let id = mint(journal);
    let Transfer { amount, currency, .. } = transfer;
    let charge = CardCommand::Charge { transaction_id: id, amount, currency };
    let unit = Unit::new(context).step_of(card.owner(), card.id, charge);
    make_as(journal, id, unit, pay, transfer).await
}

/// A payment from outside.
fn funding(kind: PaymentKind, destination: &Owned<Holding>, outside: Outside, transfer: &Transfer) -> Pay {
    let settlement = Internal::Settlement(outside.channel()).account(transfer.currency);
    Pay {
        payer: Some(destination.owner()),
        outside: Some(outside),
        ..moving(kind, settlement, destination.number.clone(), transfer)
    }
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
    let pay = moving(PaymentKind::Deposit, cash, account, &transfer);
    make(journal, Unit::new(context), pay, transfer).await
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
    let pay = moving(PaymentKind::Withdrawal, account, cash, &transfer);
    make(journal, Unit::new(context), pay, transfer).await
}

/// A payment that is not referred to yet.
fn moving(kind: PaymentKind, source: AccountNumber, destination: AccountNumber, transfer: &Transfer) -> Pay {
    Pay::between(kind, source, destination, transfer.amount, transfer.currency, String::new())
}

/// Adds the payee to the payer's list, when the payer asked for it.
fn keeping(
    journal: &Journal,
    unit: Unit,
    source: &Owned<Holding>,
    known: &Known,
    payee: Payee,
    institution: Option<String>,
) -> Unit {
    if !known.save {
        return unit;
    }
    let name = known.name.clone();
    let kept = NewBeneficiary { payee, name, institution, nickname: None, is_favorite: false };
    unit.step(source.owner(), BeneficiariesCommand::Keep(kept.entry(journal)))
}

async fn make(
    journal: &Journal,
    unit: Unit,
    pay: Pay,
    transfer: Transfer,
) -> Result<Committed, CommandError> {
    make_as(journal, mint(journal), unit, pay, transfer).await
}

/// Makes a payment that others in the unit name.
async fn make_as(
    journal: &Journal,
    id: TransactionId,
    unit: Unit,
    pay: Pay,
    transfer: Transfer,
) -> Result<Committed, CommandError> {
    let reference = transfer.reference.unwrap_or_else(|| reference_of(id));
    let pay = Pay { narration: transfer.narration, reference, ..pay };
    Ok(journal.submit(unit.create(id, PaymentCommand::Pay(Box::new(pay)))).await?)
}

/// The id of a payment about to be made.
pub(crate) fn mint(journal: &Journal) -> TransactionId {
    TransactionId::mint(journal.sources())
}

/// A reference where nobody gave one: the random end of an id, easy to read out.
pub(crate) fn reference_of(id: impl std::fmt::Display) -> String {
    let id = id.to_string();
    let end = id.get(id.len().saturating_sub(12)..).unwrap_or(&id);
    end.to_ascii_uppercase()
}
