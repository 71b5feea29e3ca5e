//! Who may undo or dispute a payment, and until when.

use jiff::SignedDuration;

use super::{Made, Party, Payment, PaymentError, PaymentKind};
use crate::kernel::{Amount, DisputeId};

/// How long a payer may take an internal transfer back, in minutes.
pub const REVERSAL_MINUTES: i64 = 30;
/// How long a payer may dispute a payment, in days of 24 hours.
pub const DISPUTE_DAYS: i64 = 120;

impl Payment {
    /// Whether `party` may undo a payment made `age` ago: all of it, once, and not what was partly given back already.
    pub(super) fn check_reversal(&self, party: Party, age: SignedDuration) -> Result<(), PaymentError> {
        let (Self::Made(made) | Self::Clearing(made) | Self::Settled(made)) = self else {
            return Err(self.refuse());
        };
        made.check_untouched()?;
        let kind = made.completed.kind;
        match (kind, party) {
            (PaymentKind::Own, _) | (PaymentKind::Internal, Party::Payee | Party::Staff) => Ok(()),
            (PaymentKind::Internal, Party::Payer) if age <= SignedDuration::from_mins(REVERSAL_MINUTES) => {
                Ok(())
            }
            (PaymentKind::Internal, Party::Payer) => {
                Err(PaymentError::TooLateToReverse { minutes: REVERSAL_MINUTES })
            }
            (
                PaymentKind::External | PaymentKind::Mwallet | PaymentKind::Bills,
                Party::Payer | Party::Staff,
            ) => match self {
                Self::Clearing(_) => Ok(()),
                _ => Err(self.refuse()),
            },
            (
                PaymentKind::External
                | PaymentKind::Mwallet
                | PaymentKind::Bills
                | PaymentKind::Deposit
                | PaymentKind::Withdrawal
                | PaymentKind::CardFunding
                | PaymentKind::MwalletFunding
                | PaymentKind::Reversal
                | PaymentKind::Refund
                | PaymentKind::LoanDisbursement
                | PaymentKind::LoanRepayment
                | PaymentKind::LoanInterest
                | PaymentKind::LoanWriteOff
                | PaymentKind::SavingsInterest
                | PaymentKind::Closure
                | PaymentKind::TakenOver,
                _,
            ) => Err(PaymentError::NotReversible { kind }),
        }
    }

    /// Whether the payer may dispute `amount` of a payment made `age` ago.
    pub(super) fn check_dispute(&self, amount: Amount, age: SignedDuration) -> Result<(), PaymentError> {
        let (Self::Made(made) | Self::Clearing(made) | Self::Settled(made)) = self else {
            return Err(self.refuse());
        };
        let kind = made.completed.kind;
        let outgoing = matches!(
            kind,
            PaymentKind::Internal | PaymentKind::External | PaymentKind::Mwallet | PaymentKind::Bills
        );
        if !outgoing {
            return Err(PaymentError::NotDisputable { kind });
        }
        if made.dispute.is_some() {
            return Err(PaymentError::InvalidState { state: "DISPUTED" });
        }
        if age > SignedDuration::from_hours(24 * DISPUTE_DAYS) {
            return Err(PaymentError::TooLateToDispute { days: DISPUTE_DAYS });
        }
        let most = made.completed.amount.minor() - made.refunded;
        if amount.minor() > most { Err(PaymentError::DisputeTooLarge { most }) } else { Ok(()) }
    }

    /// What the open dispute is about.
    pub(super) fn disputed(&self, dispute: DisputeId) -> Result<Amount, PaymentError> {
        match self.made().and_then(|made| made.dispute) {
            Some((open, amount)) if open == dispute => Ok(amount),
            Some(_) | None => Err(self.refuse()),
        }
    }
}

impl Made {
    fn check_untouched(&self) -> Result<(), PaymentError> {
        if self.dispute.is_some() {
            return Err(PaymentError::InvalidState { state: "DISPUTED" });
        }
        if self.refunded > 0 {
            return Err(PaymentError::InvalidState { state: "REFUNDED" });
        }
        Ok(())
    }
}
