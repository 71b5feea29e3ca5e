//! Taking over customers of another bank, with their accounts and what had happened on them.
//!
//! What is taken over gets ids made of what that bank called it, so that it is taken over once, whoever asks and however often:
//! whoever asks again finds it in the log, with a hash of what was said of it. Units are large and written one after another, in
//! the order of the files; money is posted as what has happened elsewhere, at its value date, against the account of opening
//! balances.

use std::sync::Arc;

use bursar_domain::accounts::{AccountCommand, OpenAccount};
use bursar_domain::cards::{CardCommand, Linked};
use bursar_domain::kernel::{CardId, LoanId, MandateId, Origin, TransactionId, UserId};
use bursar_domain::ledger::{AccountStatus, Internal};
use bursar_domain::loans::{LoanCommand, TakeOver};
use bursar_domain::mandates::{MandateCommand, NewMandate};
use bursar_domain::payments::{Pay, PaymentCommand, PaymentKind};
use bursar_domain::users::{RegisterUser, UserCommand};
use bursar_domain::{AccountNumber, Amount, Currency, Entropy, Metadata};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::Timestamp;

use crate::journal::SubmitError;
use crate::keys::{Keys, hex};
use crate::owned::CommandError;
use crate::users;
use crate::{Committed, Context, Journal, Unit, cards};

/// Who acted, as the log says it.
const ACTOR: &str = "system:import";
/// Commands of a unit: enough that its commit costs little, few enough that a batch stays a matter of tens of milliseconds.
const COMMANDS: usize = 1_000;

/// Names what another bank has named.
#[derive(Clone)]
pub struct Names {
    keys: Arc<Keys>,
    source: String,
}

impl Names {
    /// The names of `source`'s things: two banks may give one name to two things.
    #[must_use]
    pub const fn new(keys: Arc<Keys>, source: String) -> Self {
        Self { keys, source }
    }

    /// What stands for something that the other bank has named.
    #[must_use]
    pub fn hash(&self, kind: &str, id: &str) -> [u8; 32] {
        self.keys.imported([self.source.as_str(), kind, id])
    }

    /// Ten bytes of the hash: the random part of an id.
    fn random(&self, kind: &str, id: &str) -> [u8; 10] {
        let mut bytes = [0; 10];
        bytes.iter_mut().zip(self.hash(kind, id)).for_each(|(byte, hashed)| *byte = hashed);
        bytes
    }

    /// The id of a customer.
    #[must_use]
    pub fn customer(&self, id: &str) -> UserId {
        UserId::of(Timestamp::UNIX_EPOCH, &self.random("customer", id))
    }

    /// The id of something that moved money.
    #[must_use]
    pub fn transaction(&self, id: &str) -> TransactionId {
        TransactionId::of(Timestamp::UNIX_EPOCH, &self.random("transaction", id))
    }

    /// The id of the movement that brings what was in an account when its history begins.
    #[must_use]
    pub fn opening(&self, account: &str) -> TransactionId {
        TransactionId::of(Timestamp::UNIX_EPOCH, &self.random("opening balance", account))
    }

    /// The id of a loan.
    #[must_use]
    pub fn loan(&self, id: &str) -> LoanId {
        LoanId::of(Timestamp::UNIX_EPOCH, &self.random("loan", id))
    }

    /// The id of the movement that brings what is left of a loan.
    #[must_use]
    pub fn principal(&self, loan: &str) -> TransactionId {
        TransactionId::of(Timestamp::UNIX_EPOCH, &self.random("principal", loan))
    }

    /// The id of a mandate.
    #[must_use]
    pub fn mandate(&self, id: &str) -> MandateId {
        MandateId::of(Timestamp::UNIX_EPOCH, &self.random("mandate", id))
    }

    /// The id of a card.
    #[must_use]
    pub fn card(&self, id: &str) -> CardId {
        CardId::of(Timestamp::UNIX_EPOCH, &self.random("card", id))
    }

    /// The number of an account that brings none: the `n`th that is tried.
    #[must_use]
    pub fn number(&self, account: &str, n: usize) -> AccountNumber {
        AccountNumber::draw(&Hashed(self.hash("account", &format!("{n}:{account}"))))
    }

    /// What stands for a row: whether another says the same, is asked of it.
    #[must_use]
    pub fn row<'a>(&self, kind: &'a str, fields: impl Iterator<Item = &'a str>) -> String {
        let hash = self.keys.imported(std::iter::once(kind).chain(fields));
        hash.get(..8).map_or_else(String::new, hex)
    }
}

/// Bytes that are always the same for the same thing.
struct Hashed([u8; 32]);

impl Entropy for Hashed {
    fn fill(&self, buffer: &mut [u8]) {
        buffer.iter_mut().zip(self.0).for_each(|(byte, hashed)| *byte = hashed);
    }
}

/// A customer who is taken over.
#[derive(Clone)]
pub struct Customer {
    /// Their id, as [`Names`] makes it.
    pub id: UserId,
    /// Who they are.
    pub user: RegisterUser,
    /// Whether the other bank has verified who they are.
    pub is_verified: bool,
    /// What that bank knew.
    pub origin: Origin,
}

/// An account that is taken over.
#[derive(Debug, Clone)]
pub struct Account {
    /// Its number.
    pub number: AccountNumber,
    /// What is agreed.
    pub open: OpenAccount,
    /// Where it is.
    pub status: AccountStatus,
    /// What that bank knew.
    pub origin: Origin,
    /// What was in it when its history begins, if that was anything.
    pub opening: Option<Movement>,
}

/// Money that had moved at the other bank.
#[derive(Debug, Clone)]
pub struct Movement {
    /// Its id, as [`Names`] makes it.
    pub id: TransactionId,
    /// The customer's account.
    pub account: AccountNumber,
    /// Minor units; positive for a credit. Never 0.
    pub amount: i64,
    /// ISO 4217.
    pub currency: Currency,
    /// What it was for.
    pub narration: Option<String>,
    /// The other bank's reference.
    pub reference: String,
    /// What that bank knew.
    pub origin: Origin,
}

/// What else is taken over, besides money.
#[derive(Debug, Clone)]
pub enum Thing {
    /// A loan that is owed.
    Loan {
        /// Its id.
        id: LoanId,
        /// It.
        taken: Box<TakeOver>,
    },
    /// A standing instruction.
    Mandate {
        /// Its id.
        id: MandateId,
        /// It.
        new: Box<NewMandate>,
    },
    /// A linked card of another bank.
    Card {
        /// Its id.
        id: CardId,
        /// What stands for holder and number.
        token: [u8; 32],
        /// It.
        card: Box<Linked>,
    },
}

impl Movement {
    fn pay(self) -> Option<Pay> {
        let came = Internal::OpeningBalances.account(self.currency);
        let (source, destination) = if self.amount < 0 { (self.account, came) } else { (came, self.account) };
        // A sum that is no amount was refused when the file was read.
        let amount =
            i64::try_from(self.amount.unsigned_abs()).ok().and_then(|sum| Amount::try_from(sum).ok())?;
        Some(Pay {
            narration: self.narration,
            origin: Some(self.origin),
            ..Pay::between(PaymentKind::TakenOver, source, destination, amount, self.currency, self.reference)
        })
    }
}

/// Writes what is taken over, in order, in large units. While one is written the next is made; it is not sent before the other is
/// in the log, so that what is there is always the beginning of what is to come.
pub struct Importer<'a> {
    journal: &'a Journal,
    keys: &'a Keys,
    unit: Unit,
    commands: usize,
    rows: u64,
    waiting: Option<(u64, BoxFuture<'static, Result<Committed, SubmitError>>)>,
    written: u64,
}

impl<'a> Importer<'a> {
    /// Nothing is written yet.
    #[must_use]
    pub fn new(journal: &'a Journal, keys: &'a Keys) -> Self {
        Self { journal, keys, unit: unit(), commands: 0, rows: 0, waiting: None, written: 0 }
    }

    /// Rows that are in the log.
    #[must_use]
    pub const fn written(&self) -> u64 {
        self.written
    }

    /// Takes a customer over.
    ///
    /// # Errors
    /// `EMAIL_TAKEN`, when somebody has got the address since it was checked.
    pub async fn customer(&mut self, customer: Customer) -> Result<(), CommandError> {
        let Customer { id, user, is_verified, origin } = customer;
        let (claim, lookup, taken) = users::address_claim(self.keys, &user.email);
        let take = UserCommand::TakeOver { user: Box::new(user), origin };
        self.change(1 + usize::from(is_verified), |unit| {
            let unit = unit.create(id, take).claim(claim, lookup, id, taken);
            if is_verified { unit.create(id, UserCommand::Activate) } else { unit }
        });
        self.row().await
    }

    /// Takes an account over, and what was in it.
    ///
    /// # Errors
    /// `ACCOUNT_EXISTS`, when somebody has got the number since it was checked.
    pub async fn account(&mut self, account: Account) -> Result<(), CommandError> {
        let Account { number, open, status, origin, opening } = account;
        let silent_since = origin.at;
        self.change(2, |unit| {
            let take = AccountCommand::TakeOver { open: Box::new(open), origin };
            let unit = unit.create(&number, take);
            match status {
                AccountStatus::Frozen => {
                    unit.create(&number, AccountCommand::Freeze { reason: "Taken over frozen".to_owned() })
                }
                AccountStatus::Dormant => unit.create(&number, AccountCommand::FallDormant { silent_since }),
                AccountStatus::Active | AccountStatus::Closed => unit,
            }
        });
        if let Some(opening) = opening {
            self.post(opening);
        }
        self.row().await
    }

    /// Takes something over that moved money.
    ///
    /// # Errors
    /// What the ledger refuses, which it does not after the check.
    pub async fn movement(&mut self, movement: Movement) -> Result<(), CommandError> {
        self.post(movement);
        self.row().await
    }

    /// Takes a loan, a mandate or a card over.
    ///
    /// # Errors
    /// `CARD_EXISTS`, when somebody has linked the card since it was checked; what the aggregate refuses.
    pub async fn thing(&mut self, thing: Thing) -> Result<(), CommandError> {
        match thing {
            Thing::Loan { id, taken } => {
                let currency = taken.application.terms.currency;
                let (movement, origin) = (taken.transaction_id, taken.origin.clone());
                let (lent, came) = (Internal::LoanPrincipal, Internal::OpeningBalances);
                let (lent, came) = (lent.account(currency), came.account(currency));
                let reference = origin.id.to_string();
                let pay = Pay {
                    origin: Some(origin),
                    ..Pay::between(PaymentKind::TakenOver, lent, came, taken.outstanding, currency, reference)
                };
                self.change(2, |unit| {
                    let unit = unit.create(id, LoanCommand::TakeOver(taken));
                    unit.create(movement, PaymentCommand::Pay(Box::new(pay)))
                });
            }
            Thing::Mandate { id, new } => self.change(1, |unit| unit.create(id, MandateCommand::SetUp(new))),
            Thing::Card { id, token, card } => {
                let ((namespace, taken), at) = (cards::CLAIM, self.journal.sources().clock.now());
                self.change(1, |unit| {
                    let unit = unit.create(id, CardCommand::Link { card, at });
                    unit.claim(namespace, token, id, taken)
                });
            }
        }
        self.row().await
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// As the others.
    pub async fn finish(&mut self) -> Result<(), CommandError> {
        self.send().await?;
        self.wait().await
    }

    fn post(&mut self, movement: Movement) {
        let id = movement.id;
        if let Some(pay) = movement.pay() {
            self.change(1, |unit| unit.create(id, PaymentCommand::Pay(Box::new(pay))));
        }
    }

    fn change(&mut self, commands: usize, change: impl FnOnce(Unit) -> Unit) {
        let before = std::mem::replace(&mut self.unit, unit());
        self.unit = change(before);
        self.commands += commands;
    }

    /// One row more is in the unit, whole.
    async fn row(&mut self) -> Result<(), CommandError> {
        self.rows += 1;
        if self.commands < COMMANDS {
            return Ok(());
        }
        self.send().await
    }

    async fn send(&mut self) -> Result<(), CommandError> {
        if self.rows == 0 {
            return Ok(());
        }
        let unit = std::mem::replace(&mut self.unit, unit());
        let rows = std::mem::take(&mut self.rows);
        self.commands = 0;
        self.wait().await?;
        self.waiting = Some((rows, self.journal.queue(unit)?.boxed()));
        Ok(())
    }

    async fn wait(&mut self) -> Result<(), CommandError> {
        if let Some((rows, unit)) = self.waiting.take() {
            unit.await?;
            self.written += rows;
        }
        Ok(())
    }
}

fn unit() -> Unit {
    let metadata = Metadata::by(ACTOR, "import");
    Unit::new(Context { metadata, ..Context::default() })
}
