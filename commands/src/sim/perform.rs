//! From what is wanted to the use case that does it: what a handler does.

use bursar_domain::accounts::SavingsPlan;
use bursar_domain::cards::{CardExpiry, CardForm, CardLimits};
use bursar_domain::devices::{Description, Mover};
use bursar_domain::disputes::DisputeReason;
use bursar_domain::kernel::{Calendar, Frequency, UserId, midnight, utc_date};
use bursar_domain::loans::CollateralType;
use bursar_domain::mandates::{MandateType, Plan};
use bursar_domain::payments::Outside;
use bursar_domain::users::RegisterUser;
use bursar_domain::{AccountNumber, Amount, Metadata, Personal};
use jiff::ToSpan as _;
use jiff::civil::{Date, date};

use super::asks::{Ask, Held, Request};
use super::servers::Server;
use super::{clubs, leaving};
use crate::accounts::NewAccount;
use crate::devices::Move;
use crate::disputes::{Complaint, Outcome};
use crate::journal::Holding;
use crate::keys::Keys;
use crate::loans::{Instruction, NewLoan};
use crate::mandates::{Order, Payee};
use crate::owned::{CommandError, NotFound, Owned};
use crate::payments::{Known, Transfer};
use crate::recurrences::Plan as Repetition;
use crate::reversals::Reversal;
use crate::{
    Committed, Context, Unit, accounts, cards, devices, disputes, loans, mandates, payments, recurrences,
    reversals, transactions, users,
};

/// The issuer identification number of the bank's cards.
const BIN: &str = "506100";

/// Carries out a request on a server.
pub(super) async fn perform(
    server: &Server,
    keys: &Keys,
    staff: &[UserId; 3],
    request: &Request,
    keyless: bool,
) -> Result<Committed, CommandError> {
    let Request { id, ask } = request;
    let body = format!("{ask:?}");
    let key = keys.idempotency("simulation", "POST", ask.path(), id, body.as_bytes());
    let context = Context {
        metadata: Metadata::by("simulation", id.as_str()),
        idempotency: (!keyless).then_some(key),
        ..Context::default()
    };
    match ask {
        Ask::Register { .. } | Ask::Activate { .. } | Ask::Open { .. } | Ask::Save { .. } => {
            Box::pin(joining(server, keys, context, ask)).await
        }
        Ask::Deposit { .. }
        | Ask::Withdraw { .. }
        | Ask::Pay { .. }
        | Ask::Own { .. }
        | Ask::PayOut { .. } => Box::pin(paying(server, context, ask)).await,
        Ask::Reverse { .. } | Ask::Dispute { .. } | Ask::Resolve { .. } => {
            Box::pin(complaining(server, context, ask)).await
        }
        Ask::Mandate { .. } | Ask::CancelMandate { .. } | Ask::Repeat { .. } | Ask::PauseRepeat { .. } => {
            Box::pin(standing(server, context, ask)).await
        }
        Ask::Apply { .. }
        | Ask::StartReview { .. }
        | Ask::Approve { .. }
        | Ask::Disburse { .. }
        | Ask::Repay { .. } => Box::pin(borrowing(server, context, staff, ask)).await,
        Ask::Card { .. }
        | Ask::ActivateCard { .. }
        | Ask::Block { .. }
        | Ask::RemoveCard { .. }
        | Ask::Freeze { .. }
        | Ask::Unfreeze { .. }
        | Ask::Device { .. } => Box::pin(holding(server, keys, context, ask)).await,
        Ask::Club(ask) => Box::pin(clubs::perform(server, context, ask)).await,
        Ask::Leave(ask) => Box::pin(leaving::perform(server, keys, context, staff, ask)).await,
    }
}

impl Ask {
    /// Scopes its key, as a route does.
    const fn path(&self) -> &'static str {
        match self {
            Self::Register { .. } => "register",
            Self::Pay { .. } => "pay",
            _ => "other",
        }
    }
}

async fn joining(
    server: &Server,
    keys: &Keys,
    context: Context,
    ask: &Ask,
) -> Result<Committed, CommandError> {
    let journal = &server.journal;
    match ask {
        Ask::Register { nth } => users::register(journal, keys, context, person(*nth)).await,
        Ask::Activate { user } => users::activate(journal, context, *user).await,
        Ask::Open { user, product, currency } => {
            let new = account(product, *currency);
            accounts::open(journal, &context, *user, new).await
        }
        Ask::Save { from, product, amount, every, until } => {
            let source = held(server, from).await?;
            let plan = SavingsPlan {
                goal: Some(amount.saturating_mul(20)),
                frequency: Some(*every),
                amount: Some(*amount),
                maturity_date: Some(*until),
            };
            let new = NewAccount {
                initial_deposit: Some((minor(*amount)?, source.clone())),
                plan: Some(plan),
                saves_from: Some(source),
                ..account(product, from.currency)
            };
            accounts::open(journal, &context, from.owner, new).await
        }
        _ => Err(unknown()),
    }
}

async fn paying(server: &Server, context: Context, ask: &Ask) -> Result<Committed, CommandError> {
    let journal = &server.journal;
    match ask {
        Ask::Deposit { account, amount } => {
            payments::deposit(journal, context, account.number.clone(), transfer(account, *amount)?).await
        }
        Ask::Withdraw { account, amount } => {
            payments::withdraw(journal, context, account.number.clone(), transfer(account, *amount)?).await
        }
        Ask::Pay { from, to, amount } => {
            let source = held(server, from).await?;
            let transfer = transfer(from, *amount)?;
            payments::transfer_internal(journal, context, &source, to.clone(), Known::default(), transfer)
                .await
        }
        Ask::Own { from, to, amount } => {
            let (source, destination) = (held(server, from).await?, held(server, to).await?);
            payments::transfer_self(journal, context, &source, &destination, transfer(from, *amount)?).await
        }
        Ask::PayOut { from, bank, number, amount } => {
            let source = held(server, from).await?;
            let outside = Outside::Bank {
                bank_code: bank.clone(),
                bank_name: "Another bank".to_owned(),
                account_number: Personal::new(number.clone()),
            };
            let known = Known { name: Some("Bola Ade".to_owned()), save: false };
            let transfer = transfer(from, *amount)?;
            payments::pay_out(journal, context, &source, outside, known, None, transfer).await
        }
        _ => Err(unknown()),
    }
}

async fn complaining(server: &Server, context: Context, ask: &Ask) -> Result<Committed, CommandError> {
    let journal = &server.journal;
    match ask {
        Ask::Reverse { user, payment } => {
            let found = transactions::involved(journal, *user, *payment).await?;
            let wanted = Reversal { reason: "A mistake".to_owned(), narration: None };
            reversals::reverse(journal, &server.rails, context, found, wanted).await
        }
        Ask::Dispute { user, payment, amount } => {
            let found = transactions::involved(journal, *user, *payment).await?;
            let complaint = Complaint {
                reason: DisputeReason::NotReceived,
                amount: minor(*amount)?,
                description: None,
                supporting_documents: Vec::new(),
                contact_phone: None,
                contact_email: None,
            };
            disputes::open(journal, context, *user, found, complaint).await
        }
        Ask::Resolve { dispute, won } => {
            let outcome = if *won { Outcome::Won } else { Outcome::Lost };
            disputes::resolve(journal, context, *dispute, outcome, None).await
        }
        _ => Err(unknown()),
    }
}

async fn standing(server: &Server, context: Context, ask: &Ask) -> Result<Committed, CommandError> {
    let journal = &server.journal;
    match ask {
        Ask::Mandate { from, to, amount, every, from_day, last } => {
            let source = held(server, from).await?;
            let plan = Plan {
                name: "Order".to_owned(),
                amount: minor(*amount)?,
                calendar: calendar(*every, *from_day, *last)?,
                starts_at: midnight(*from_day),
                ends_at: last.map(midnight),
                description: None,
            };
            let order = Order {
                mandate_type: MandateType::Payment,
                payee: Payee::Account(to.clone()),
                payee_name: None,
                currency: from.currency,
                plan,
                is_active: true,
            };
            mandates::set_up(journal, server.reference, context, &source, order).await
        }
        Ask::CancelMandate { user, mandate } => {
            mandates::cancel(journal, context, *user, *mandate, None).await
        }
        Ask::Repeat { user, payment, every, from_day } => {
            let found = transactions::involved(journal, *user, *payment).await?;
            let plan = Repetition {
                calendar: calendar(*every, *from_day, None)?,
                starts_at: midnight(*from_day),
                ends_at: None,
                description: None,
                is_paused: false,
            };
            recurrences::set_up(journal, context, *user, &found, plan).await
        }
        Ask::PauseRepeat { user, recurrence, active } => {
            recurrences::set_active(journal, context, *user, *recurrence, *active).await
        }
        _ => Err(unknown()),
    }
}

async fn borrowing(
    server: &Server,
    context: Context,
    [reviewer, approver, teller]: &[UserId; 3],
    ask: &Ask,
) -> Result<Committed, CommandError> {
    let journal = &server.journal;
    match ask {
        Ask::Apply { account, product, amount, months } => {
            let new = NewLoan {
                product_id: product.clone(),
                amount: minor(*amount)?,
                tenure: *months,
                account: held(server, account).await?,
                purpose: None,
                employment_type: None,
                monthly_income: minor(amount.saturating_mul(5))?,
                employer_name: None,
                employment_duration: None,
                existing_loans: Vec::new(),
                collateral_type: CollateralType::None,
                guarantor_required: false,
            };
            loans::apply(journal, context, new).await
        }
        Ask::StartReview { loan } => loans::start_review(journal, context, *reviewer, *loan, None).await,
        Ask::Approve { loan } => loans::approve(journal, context, *approver, *loan, None).await,
        Ask::Disburse { loan } => loans::disburse(journal, context, *teller, *loan, None).await,
        Ask::Repay { account, loan, amount } => {
            let source = held(server, account).await?;
            let instruction = Instruction { transfer: transfer(account, *amount)?, payment_type: None };
            loans::repay(journal, context, &source, *loan, instruction).await
        }
        _ => Err(unknown()),
    }
}

async fn holding(
    server: &Server,
    keys: &Keys,
    context: Context,
    ask: &Ask,
) -> Result<Committed, CommandError> {
    let journal = &server.journal;
    match ask {
        Ask::Card { account, expires } => {
            let source = held(server, account).await?;
            let wanted = cards::WantedCard {
                form: CardForm::Virtual,
                bin: BIN.to_owned(),
                brand: "VERVE".to_owned(),
                expiry: CardExpiry::of(*expires),
                holder_name: None,
                deliver_to: None,
                deliver_by: *expires,
                is_default: false,
                limits: CardLimits { currency: account.currency, daily: 100_000, monthly: 1_000_000 },
            };
            cards::request(journal, keys, context, &source, wanted).await
        }
        Ask::ActivateCard { card } => cards::activate(journal, context, *card, None).await,
        Ask::Block { user, card, until } => {
            cards::block(journal, context, *user, *card, None, Some(*until)).await
        }
        Ask::RemoveCard { user, card } => cards::remove(journal, context, *user, *card).await,
        Ask::Freeze { account } => accounts::freeze(journal, context, account, "A question".to_owned()).await,
        Ask::Unfreeze { account } => {
            accounts::unfreeze(journal, context, account, "An answer".to_owned()).await
        }
        Ask::Device { user, device, action: None } => {
            let see = devices::see(journal.sources(), device.clone(), Description::default());
            Ok(journal.submit(Unit::new(context).step(*user, see)).await?)
        }
        Ask::Device { user, device, action: Some(action) } => {
            let wanted = Move {
                device_id: device.clone(),
                action: *action,
                reason: None,
                by: Mover::Owner,
                sessions: Vec::new(),
            };
            devices::change(journal, context, *user, wanted).await
        }
        _ => Err(unknown()),
    }
}

fn person(nth: u32) -> RegisterUser {
    const NAMES: [&str; 5] = ["Ada", "Bola", "Chidi", "Dayo", "Efe"];
    let place = usize::try_from(nth).unwrap_or(0) % NAMES.len();
    RegisterUser {
        first_name: NAMES.get(place).copied().unwrap_or("Ada").to_owned(),
        last_name: format!("Number {nth}"),
        email: format!("customer{nth}@example.com"),
        phone_number: format!("+23480{nth:08}"),
        date_of_birth: date(1990, 1, 1),
        country_code: "NG".to_owned(),
        preferred_language: None,
    }
}

fn account(product: &str, currency: bursar_domain::Currency) -> NewAccount {
    NewAccount {
        name: None,
        product_id: product.to_owned(),
        account_type: None,
        currency,
        initial_deposit: None,
        plan: None,
        saves_from: None,
    }
}

pub(super) async fn held(server: &Server, account: &Held) -> Result<Owned<Holding>, CommandError> {
    accounts::owned(&server.journal, account.owner, &account.number).await
}

pub(super) fn minor(amount: i64) -> Result<Amount, CommandError> {
    Amount::try_from(amount).map_err(|_| unknown())
}

pub(super) fn transfer(account: &Held, amount: i64) -> Result<Transfer, CommandError> {
    let currency = account.currency;
    Ok(Transfer { amount: minor(amount)?, currency, narration: None, reference: None })
}

pub(super) fn calendar(every: Frequency, from: Date, last: Option<Date>) -> Result<Calendar, CommandError> {
    Calendar::new(every, from, None, last).map_err(|_| unknown())
}

/// What the workload never asks.
pub(super) fn unknown() -> CommandError {
    CommandError::refused(NotFound("way to do this"))
}

/// The last day of the year after the one of a moment.
pub(super) fn next_year(at: jiff::Timestamp) -> Date {
    utc_date(at).saturating_add(1.year())
}

/// What is known of an account's number at another bank: ten digits that end in `end`.
pub(super) fn outside_number(nth: u64, end: &str) -> AccountNumber {
    AccountNumber::from(format!("{:06}{end}", nth % 1_000_000).as_str())
}
