//! Standing instructions: giving them, changing them, and paying when a day has come.

use bursar_domain::kernel::{MandateId, Run, TransactionId, UserId, utc_date};
use bursar_domain::ledger::{Internal, LedgerError};
use bursar_domain::mandates::{
    EXECUTE, Edits, Instruction, MandateCommand, MandateType, NewMandate, Plan, Target, try_again_at,
};
use bursar_domain::messages::{Category, MessagesCommand, Notice};
use bursar_domain::payments::{Outside, Pay, PaymentCommand, PaymentError, PaymentKind};
use bursar_domain::reference::Reference;
use bursar_domain::users::User;
use bursar_domain::{AccountNumber, Amount, Currency, Personal};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::civil::Date;

use crate::journal::Holding;
use crate::messages::notice;
use crate::owned::{CommandError, NotFound, Owned};
use crate::payments;
use crate::processes::{Done, Task, Work};
use crate::series::{self, Pays, Refusal};
use crate::{Committed, Context, Journal, Unit};

/// Who is to be paid, as the payer says it.
#[derive(Debug, Clone)]
pub enum Payee {
    /// An account of this bank.
    Account(AccountNumber),
    /// An account of another bank.
    Bank {
        /// The bank's code.
        bank_code: String,
        /// The account's number there.
        account_number: String,
    },
    /// A customer of a biller.
    Biller {
        /// The biller's code.
        biller_id: String,
        /// What is bought; whatever costs the amount when absent.
        item_id: Option<String>,
        /// The customer's number there.
        account_number: String,
    },
}

/// A mandate as a customer gives it.
#[derive(Debug, Clone)]
pub struct Order {
    /// What kind they call it.
    pub mandate_type: MandateType,
    /// Who is paid.
    pub payee: Payee,
    /// The payee's name.
    pub payee_name: Option<String>,
    /// In which currency; both accounts must have it.
    pub currency: Currency,
    /// How much, when, what for.
    pub plan: Plan,
    /// Whether it begins at once.
    pub is_active: bool,
}

/// Gives a mandate over an account of the caller's. What can be known to be wrong with the payee is refused now, and looked at
/// again on each day.
///
/// # Errors
/// `NOT_FOUND` for account, bank or biller; `CURRENCY_MISMATCH`, `SAME_ACCOUNT`, `NOTHING_TO_EXECUTE`; what
/// [`Reference::bill`] refuses.
pub async fn set_up(
    journal: &Journal,
    reference: &Reference,
    context: Context,
    source: &Owned<Holding>,
    order: Order,
) -> Result<Committed, CommandError> {
    if order.currency != source.currency {
        return Err(other_currency(source.number.clone(), source.currency, order.currency));
    }
    let target = target(journal, reference, &order, source).await?;
    let new = NewMandate {
        owner: source.owner(),
        mandate_type: order.mandate_type,
        source: source.number.clone(),
        target,
        payee_name: order.payee_name.map(Personal::new),
        currency: order.currency,
        plan: order.plan,
        is_active: order.is_active,
        today: utc_date(journal.sources().clock.now()),
        origin: None,
    };
    let id = MandateId::mint(journal.sources());
    let unit = Unit::new(context).create(id, MandateCommand::SetUp(Box::new(new)));
    Ok(journal.submit(unit).await?)
}

async fn target(
    journal: &Journal,
    reference: &Reference,
    order: &Order,
    source: &Owned<Holding>,
) -> Result<Target, CommandError> {
    let (target, item_id) = match &order.payee {
        Payee::Account(number) => {
            if *number == source.number {
                return Err(CommandError::refused(PaymentError::SameAccount));
            }
            let account = journal.ledger_account(number).await?;
            let account = account.ok_or_else(|| CommandError::refused(NotFound("account")))?;
            if account.currency != order.currency {
                return Err(other_currency(number.clone(), account.currency, order.currency));
            }
            return Ok(Target::Account { account_number: number.clone() });
        }
        Payee::Bank { bank_code, account_number } => {
            let bank = reference.payable_bank(bank_code).map_err(CommandError::refused)?;
            let outside = Outside::Bank {
                bank_code: bank.bank_code.clone(),
                bank_name: bank.bank_name.clone(),
                account_number: Personal::new(account_number.clone()),
            };
            (outside, None)
        }
        Payee::Biller { biller_id, item_id, account_number } => {
            let (amount, currency) = (order.plan.amount, order.currency);
            let bill = reference.bill(biller_id, item_id.as_deref(), account_number, amount, currency);
            let bill = bill.map_err(CommandError::refused)?;
            let outside = Outside::Biller {
                biller_id: biller_id.clone(),
                biller_name: bill.biller.biller_name.clone(),
                account_number: Personal::new(account_number.clone()),
                payment_type: None,
            };
            (outside, item_id.clone())
        }
    };
    Ok(Target::Outside { outside: target, item_id })
}

fn other_currency(account: AccountNumber, expected: Currency, actual: Currency) -> CommandError {
    CommandError::refused(LedgerError::CurrencyMismatch { account, expected, actual })
}

/// Changes a mandate of `owner`'s: amount, days, end, and whether it goes on. What was due while it was paused is passed over.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` when it is over; `NOTHING_TO_EXECUTE`, `DAY_OUT_OF_RANGE`.
pub async fn change(
    journal: &Journal,
    context: Context,
    owner: UserId,
    id: MandateId,
    edits: Edits,
) -> Result<Committed, CommandError> {
    let unit = Unit::new(context).step_of(owner, id, MandateCommand::Change(Box::new(edits)));
    Ok(journal.submit(unit).await?)
}

/// Ends a mandate of `owner`'s.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` when it is over.
pub async fn cancel(
    journal: &Journal,
    context: Context,
    owner: UserId,
    id: MandateId,
    reason: Option<String>,
) -> Result<Committed, CommandError> {
    let unit = Unit::new(context).step_of(owner, id, MandateCommand::Cancel { reason });
    Ok(journal.submit(unit).await?)
}

/// Makes the payments that are due.
pub struct ExecuteMandates {
    journal: Journal,
    reference: &'static Reference,
}

impl ExecuteMandates {
    /// The task on this journal, whose bills and banks are looked up here.
    #[must_use]
    pub const fn new(journal: Journal, reference: &'static Reference) -> Self {
        Self { journal, reference }
    }

    /// The payment of one day.
    async fn pay(&self, run: &Run<Instruction>, id: TransactionId) -> Result<Pay, CommandError> {
        let Instruction { source, target, currency, plan, .. } = &run.what;
        let (kind, destination, outside, fee) = match target {
            Target::Account { account_number } => {
                let own = self.journal.owned_account(run.owner, account_number).await?.is_some();
                let kind = if own { PaymentKind::Own } else { PaymentKind::Internal };
                (kind, account_number.clone(), None, None)
            }
            Target::Outside { outside, item_id } => {
                let (kind, fee) = self.outgoing(outside, item_id.as_deref(), plan.amount, *currency)?;
                let settlement = Internal::Settlement(outside.channel()).account(*currency);
                (kind, settlement, Some(outside.clone()), fee)
            }
        };
        let reference = payments::reference_of(id);
        Ok(Pay {
            payer: Some(run.owner),
            destination_name: run.what.payee_name.as_ref().and_then(|name| name.get().cloned()),
            outside,
            fee,
            narration: Some(plan.description.clone().unwrap_or_else(|| plan.name.clone())),
            ..Pay::between(kind, source.clone(), destination, plan.amount, *currency, reference)
        })
    }

    /// What the payer is told when a day has failed; nothing, once they are erased.
    async fn told(
        &self,
        run: &Run<Instruction>,
        due: Date,
        code: &str,
    ) -> Result<Option<Notice>, CommandError> {
        let (user, _) = self.journal.load::<User>(&run.owner.to_string()).await?;
        if user.person().is_none_or(|person| person.email.get().is_none()) {
            return Ok(None);
        }
        let (Instruction { currency, plan, .. }, pauses) = (&run.what, run.is_about_to_pause());
        let amount = currency.decimal(plan.amount.minor().into());
        let end = if pauses { " It has failed three times in a row, and is paused now." } else { "" };
        let body = format!("\"{}\", {currency} {amount}, was not paid on {due}: {code}.{end}", plan.name);
        let subject = "A standing instruction failed";
        Ok(Some(notice(self.journal.sources(), Category::Payment, subject, body)))
    }

    /// Whether they can be paid today, and what the bank takes for it.
    fn outgoing(
        &self,
        outside: &Outside,
        item_id: Option<&str>,
        amount: Amount,
        currency: Currency,
    ) -> Result<(PaymentKind, Option<Amount>), CommandError> {
        match outside {
            Outside::Bank { bank_code, .. } => {
                self.reference.payable_bank(bank_code).map_err(CommandError::refused)?;
                Ok((PaymentKind::External, None))
            }
            Outside::Biller { biller_id, account_number, .. } => {
                let Some(number) = account_number.get() else {
                    return Err(CommandError::refused(PaymentError::PayeeErased));
                };
                let bill = self.reference.bill(biller_id, item_id, number, amount, currency);
                let bill = bill.map_err(CommandError::refused)?;
                // None for an item without a fee: nothing is posted for it.
                Ok((PaymentKind::Bills, Amount::try_from(bill.fee).ok()))
            }
            Outside::Wallet { .. } | Outside::Card { .. } => {
                Err(CommandError::refused(PaymentError::WrongAccounts))
            }
        }
    }
}

impl Pays for ExecuteMandates {
    type What = Instruction;
    const TASK: &'static str = EXECUTE;

    fn journal(&self) -> &Journal {
        &self.journal
    }

    fn paying<'a>(
        &'a self,
        unit: Unit,
        id: &'a str,
        run: &'a Run<Instruction>,
        due: Date,
    ) -> BoxFuture<'a, Result<Unit, CommandError>> {
        async move {
            let by = payments::mint(&self.journal);
            let pay = self.pay(run, by).await?;
            let unit = unit.step(id, MandateCommand::Execute { due, by });
            Ok(unit.create(by, PaymentCommand::Pay(Box::new(pay))))
        }
        .boxed()
    }

    fn refused<'a>(
        &'a self,
        unit: Unit,
        id: &'a str,
        run: &'a Run<Instruction>,
        refusal: Refusal,
    ) -> BoxFuture<'a, Result<Unit, CommandError>> {
        async move {
            let Refusal { due, code, now } = refusal;
            let told = match try_again_at(run, due, now) {
                Some(_) => None,
                None => self.told(run, due, &code).await?,
            };
            let unit = unit.step(id, MandateCommand::Refuse { due, code, now });
            Ok(match told {
                Some(notice) => unit.step(run.owner, MessagesCommand::Post(Box::new(notice))),
                None => unit,
            })
        }
        .boxed()
    }
}

impl Task for ExecuteMandates {
    fn name(&self) -> &'static str {
        EXECUTE
    }

    fn run<'a>(&'a self, work: &'a Work) -> BoxFuture<'a, Result<Done, CommandError>> {
        series::execute(self, work).boxed()
    }
}
