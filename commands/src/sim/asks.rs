//! What customers and staff want: everything that a request says, so that a repeat says the same.

use bursar_domain::accounts::SavingsFrequency;
use bursar_domain::devices::DeviceAction;
use bursar_domain::kernel::{
    CardId, DisputeId, Frequency, LoanId, MandateId, RecurrenceId, TransactionId, UserId,
};
use bursar_domain::{AccountNumber, Currency};
use jiff::Timestamp;
use jiff::civil::Date;

use super::clubs::ClubAsk;
use super::leaving::LeaveAsk;

/// An account somebody holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) owner: UserId,
    pub(super) number: AccountNumber,
    pub(super) currency: Currency,
}

/// What is wanted. Amounts are minor units.
#[derive(Debug, Clone)]
pub(super) enum Ask {
    Register {
        nth: u32,
    },
    Activate {
        user: UserId,
    },
    Open {
        user: UserId,
        product: String,
        currency: Currency,
    },
    /// A target savings account that saves by itself.
    Save {
        from: Held,
        product: String,
        amount: i64,
        every: SavingsFrequency,
        until: Timestamp,
    },
    Deposit {
        account: Held,
        amount: i64,
    },
    Withdraw {
        account: Held,
        amount: i64,
    },
    Pay {
        from: Held,
        to: AccountNumber,
        amount: i64,
    },
    Own {
        from: Held,
        to: Held,
        amount: i64,
    },
    /// To another bank; how the number ends says what becomes of it.
    PayOut {
        from: Held,
        bank: String,
        number: String,
        amount: i64,
    },
    Reverse {
        user: UserId,
        payment: TransactionId,
    },
    Dispute {
        user: UserId,
        payment: TransactionId,
        amount: i64,
    },
    Resolve {
        dispute: DisputeId,
        won: bool,
    },
    Mandate {
        from: Held,
        to: AccountNumber,
        amount: i64,
        every: Frequency,
        from_day: Date,
        last: Option<Date>,
    },
    CancelMandate {
        user: UserId,
        mandate: MandateId,
    },
    Repeat {
        user: UserId,
        payment: TransactionId,
        every: Frequency,
        from_day: Date,
    },
    PauseRepeat {
        user: UserId,
        recurrence: RecurrenceId,
        active: bool,
    },
    Apply {
        account: Held,
        product: String,
        amount: i64,
        months: u32,
    },
    StartReview {
        loan: LoanId,
    },
    Approve {
        loan: LoanId,
    },
    Disburse {
        loan: LoanId,
    },
    Repay {
        account: Held,
        loan: LoanId,
        amount: i64,
    },
    Card {
        account: Held,
        expires: Date,
    },
    ActivateCard {
        card: CardId,
    },
    /// For a while.
    Block {
        user: UserId,
        card: CardId,
        until: Timestamp,
    },
    RemoveCard {
        user: UserId,
        card: CardId,
    },
    Freeze {
        account: AccountNumber,
    },
    Unfreeze {
        account: AccountNumber,
    },
    /// Logs in from a device; does something about it.
    Device {
        user: UserId,
        device: String,
        action: Option<DeviceAction>,
    },
    Club(ClubAsk),
    Leave(LeaveAsk),
}

/// One request, as often as it is delivered.
#[derive(Debug, Clone)]
pub(super) struct Request {
    /// Its name in the log, and its idempotency key.
    pub(super) id: String,
    pub(super) ask: Ask,
}
