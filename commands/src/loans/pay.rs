//! The money of a loan: paid out, paid back, given up.

use bursar_domain::kernel::{LoanId, TransactionId, UserId, utc_date};
use bursar_domain::ledger::Internal;
use bursar_domain::loans::{Case, Loan, LoanCommand, LoanError, Repay, Repayment, loan_number};
use bursar_domain::payments::{OfLoan, Pay, PaymentCommand, PaymentKind};
use bursar_domain::{AccountNumber, Amount};
use jiff::civil::Date;

use super::{any, money, owned, telling};
use crate::journal::{Holding, SubmitError};
use crate::owned::{CommandError, Owned};
use crate::payments::{self, Transfer};
use crate::{Committed, Context, Journal, Unit};

/// How often bookings are made anew because something else was paid in the meantime.
const TRIES: usize = 5;

/// What a borrower says about a payment.
#[derive(Debug, Clone)]
pub struct Instruction {
    /// How much, in which currency, what for.
    pub transfer: Transfer,
    /// What kind of payment it is (`SCHEDULED`).
    pub payment_type: Option<String>,
}

/// Staff: pays an approved loan out, less its fees, and tells the borrower. Its schedule is fixed by it.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` unless it is approved, or when its account cannot be used; `SAME_PERSON` for who approved it;
/// `LIMIT_EXCEEDED` when the account may not hold so much.
pub async fn disburse(
    journal: &Journal,
    context: Context,
    by: UserId,
    id: LoanId,
    note: Option<String>,
) -> Result<Committed, CommandError> {
    let (_, case) = any(journal, id).await?;
    let (now, transaction_id) = (journal.sources().clock.now(), payments::mint(journal));
    let (applied, currency) = (&case.applied, case.applied.terms.currency);
    let insurance = Amount::try_from(applied.cost.insurance_fee).ok();
    let source = Internal::LoanPrincipal.account(currency);
    let pay = Pay {
        fee: Amount::try_from(applied.cost.processing_fee + applied.cost.insurance_fee).ok(),
        narration: Some(format!("Loan {}", loan_number(id))),
        loan: Some(OfLoan { loan_id: id, interest: None, insurance }),
        ..between(
            PaymentKind::LoanDisbursement,
            &source,
            &applied.account,
            applied.amount,
            &case,
            transaction_id,
        )
    };
    let words = format!("Your loan {} of {} was paid into your account.", loan_number(id), money(&case));
    let unit = Unit::new(context)
        .step(id, LoanCommand::Disburse { by, note, transaction_id, now })
        .create(transaction_id, PaymentCommand::Pay(Box::new(pay)));
    let unit = telling(journal, unit, &case, id, "Your loan was paid out", words);
    Ok(journal.submit(unit).await?)
}

/// Pays towards a loan of the caller's out of an account of theirs.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` unless it is paid out and owed; `OVERPAYMENT`; `CURRENCY_MISMATCH`; `INSUFFICIENT_FUNDS`.
pub async fn repay(
    journal: &Journal,
    context: Context,
    source: &Owned<Holding>,
    id: LoanId,
    instruction: Instruction,
) -> Result<Committed, CommandError> {
    let Instruction { transfer, payment_type } = instruction;
    let owner = source.owner();
    let mut lost = None;
    for _ in 0..TRIES {
        let (loan, case) = owned(journal, owner, id).await?;
        let expected = case.applied.terms.currency;
        if transfer.currency != expected {
            return Err(CommandError::refused(LoanError::CurrencyMismatch { expected }));
        }
        let order = Order {
            id,
            case: &case,
            amount: transfer.amount,
            source: &source.number,
            today: utc_date(journal.sources().clock.now()),
            payment_type: payment_type.clone(),
            collected: false,
            narration: transfer.narration.clone(),
            reference: transfer.reference.clone(),
        };
        let unit = order.unit(journal, Unit::new(context.clone()), &loan);
        match journal.submit(unit).await {
            Err(SubmitError::Refused(reason)) if reason.code() == "LOAN_CHANGED" => {
                lost = Some(SubmitError::Refused(reason));
            }
            outcome => return Ok(outcome?),
        }
    }
    Err(lost.map_or_else(CommandError::unavailable, CommandError::from))
}

/// Staff: gives a loan up. What is owed is the bank's loss; the collateral stays its security.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` unless it is paid out and owed; `SAME_PERSON` for the borrower.
pub async fn write_off(
    journal: &Journal,
    context: Context,
    by: UserId,
    id: LoanId,
    reason: String,
) -> Result<Committed, CommandError> {
    let mut lost = None;
    for _ in 0..TRIES {
        let (_, case) = any(journal, id).await?;
        let (principal, interest) = (case.book.principal(), case.book.interest());
        let transaction_id = payments::mint(journal);
        let command =
            LoanCommand::WriteOff { by, reason: reason.clone(), transaction_id, principal, interest };
        let mut unit = Unit::new(context.clone()).step(id, command);
        // Nothing is owed unless it runs, and then the loan itself refuses.
        if let Ok(amount) = Amount::try_from(principal + interest) {
            let currency = case.applied.terms.currency;
            let losses = Internal::LoanLosses.account(currency);
            let owed = Internal::LoanPrincipal.account(currency);
            let pay = Pay {
                narration: Some(format!("Loan {}", loan_number(id))),
                loan: Some(OfLoan {
                    loan_id: id,
                    interest: Amount::try_from(interest).ok(),
                    insurance: None,
                }),
                ..between(PaymentKind::LoanWriteOff, &losses, &owed, amount, &case, transaction_id)
            };
            unit = unit.create(transaction_id, PaymentCommand::Pay(Box::new(pay)));
        }
        match journal.submit(unit).await {
            Err(SubmitError::Refused(reason)) if reason.code() == "LOAN_CHANGED" => {
                lost = Some(SubmitError::Refused(reason));
            }
            outcome => return Ok(outcome?),
        }
    }
    Err(lost.map_or_else(CommandError::unavailable, CommandError::from))
}

/// A payment towards a loan, about to be made.
pub(super) struct Order<'a> {
    pub(super) id: LoanId,
    pub(super) case: &'a Case,
    pub(super) amount: Amount,
    pub(super) source: &'a AccountNumber,
    pub(super) today: Date,
    pub(super) payment_type: Option<String>,
    pub(super) collected: bool,
    pub(super) narration: Option<String>,
    pub(super) reference: Option<String>,
}

impl Order<'_> {
    /// The unit that makes it. When it cannot be made, the unit holds the loan's command only, which refuses it; a repeat of a
    /// payment that was made is answered all the same.
    pub(super) fn unit(self, journal: &Journal, unit: Unit, loan: &Loan) -> Unit {
        let (right, is_possible) = match loan.repayment(self.amount.minor(), self.today) {
            Ok(right) => (right, true),
            Err(_) => (Repayment { shares: Vec::new(), ahead: 0 }, false),
        };
        let transaction_id = payments::mint(journal);
        let ahead = Amount::try_from(right.ahead).ok().map(|ahead| (ahead, payments::mint(journal)));
        let interest = Amount::try_from(bursar_domain::loans::interest_of(&right.shares)).ok();
        let repay = Repay {
            amount: self.amount,
            transaction_id,
            shares: right.shares,
            ahead,
            today: self.today,
            collected: self.collected,
            payment_type: self.payment_type,
        };
        let owner = self.case.applied.owner;
        let unit = unit.step_of(owner, self.id, LoanCommand::Repay(Box::new(repay)));
        if !is_possible {
            return unit;
        }
        let owed = Internal::LoanPrincipal.account(self.case.applied.terms.currency);
        let paid =
            between(PaymentKind::LoanRepayment, self.source, &owed, self.amount, self.case, transaction_id);
        let pay = Pay {
            payer: Some(owner),
            narration: Some(self.narration.unwrap_or_else(|| format!("Loan {}", loan_number(self.id)))),
            reference: self.reference.unwrap_or_else(|| payments::reference_of(transaction_id)),
            loan: Some(OfLoan { loan_id: self.id, interest, insurance: None }),
            ..paid
        };
        let unit = unit.create(transaction_id, PaymentCommand::Pay(Box::new(pay)));
        match ahead {
            Some((amount, by)) => accrual(unit, self.id, self.case, amount, by),
            None => unit,
        }
    }
}

/// Interest that accrues.
pub(super) fn accrual(unit: Unit, id: LoanId, case: &Case, amount: Amount, by: TransactionId) -> Unit {
    let currency = case.applied.terms.currency;
    let (accrued, income) =
        (Internal::LoanInterest.account(currency), Internal::InterestIncome.account(currency));
    let pay = Pay {
        narration: Some(format!("Loan {}", loan_number(id))),
        loan: Some(OfLoan { loan_id: id, interest: None, insurance: None }),
        ..between(PaymentKind::LoanInterest, &accrued, &income, amount, case, by)
    };
    unit.create(by, PaymentCommand::Pay(Box::new(pay)))
}

fn between(
    kind: PaymentKind,
    source: &AccountNumber,
    destination: &AccountNumber,
    amount: Amount,
    case: &Case,
    id: TransactionId,
) -> Pay {
    let currency = case.applied.terms.currency;
    Pay::between(kind, source.clone(), destination.clone(), amount, currency, payments::reference_of(id))
}
