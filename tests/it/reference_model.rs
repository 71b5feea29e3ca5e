//! T34: the bank against a second bank that fits on a page: plain sums in a hash map, written from the rules alone.
//!
//! Random sequences of commands go to both. After each one the answers must be equal, and so must all balances; a
//! refusal must leave nothing. A reference with a wrong rule must be found out, or the comparison proves nothing.
//!
//! `TEST_SEED=7 cargo test -p bursar-tests reference_model` tries other sequences.

mod reference;
mod sequences;

use bursar_commands::accounts::{self, NewAccount};
use bursar_commands::payments::{self, Known, Transfer};
use bursar_commands::reversals::{self, Reversal};
use bursar_commands::{CommandError, Committed, Context, SubmitError, Unit, transactions};
use bursar_domain::kernel::{TransactionId, UserId};
use bursar_domain::payments::{Outside, PaymentCommand, PaymentEvent};
use bursar_domain::{AccountNumber, Amount, Event};
use jiff::SignedDuration;
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use tokio::runtime::Runtime;

use crate::support::chance::scaled;
use crate::support::{Bank, config};
use reference::{Ask, PRODUCTS, Reference, Wrong};
use sequences::{Step, USERS, prelude, step};

const CASES: usize = 30;
/// A wrong rule may need a rare coincidence to show.
const CASES_UNTIL_FOUND: usize = 500;
const STEPS: usize = 50;

/// The real bank, in one sequence of commands.
struct Real<'a> {
    bank: &'a Bank,
    users: Vec<UserId>,
    numbers: Vec<AccountNumber>,
    payments: Vec<TransactionId>,
}

impl Real<'_> {
    fn number(&self, account: usize) -> AccountNumber {
        self.numbers.get(account).cloned().unwrap_or_else(|| "1000000008".into())
    }

    /// One that was made, counted round and round; or one that was not.
    fn payment(&self, n: usize) -> TransactionId {
        let unknown = || TransactionId::mint(self.bank.app.journal.sources());
        self.payments.get(n % self.payments.len().max(1)).copied().unwrap_or_else(unknown)
    }

    async fn carry_out(&self, ask: &Ask, context: Context) -> Result<Committed, CommandError> {
        let journal = &self.bank.app.journal;
        let owned = async |user: usize, account| {
            accounts::owned(journal, self.users[user], &self.number(account)).await
        };
        match *ask {
            Ask::Open { user, product, deposit } => {
                let initial_deposit = match deposit {
                    Some((source, amount)) => {
                        Some((Amount::try_from(amount).unwrap(), owned(user, source).await?))
                    }
                    None => None,
                };
                let request = NewAccount {
                    name: None,
                    product_id: PRODUCTS[product].id.to_owned(),
                    account_type: None,
                    currency: PRODUCTS[product].currency.parse().unwrap(),
                    initial_deposit,
                    plan: None,
                    saves_from: None,
                };
                accounts::open(journal, &context, self.users[user], request).await
            }
            Ask::Deposit { account, amount, dollars } => {
                payments::deposit(journal, context, self.number(account), transfer(amount, dollars)).await
            }
            Ask::Withdraw { account, amount, dollars } => {
                payments::withdraw(journal, context, self.number(account), transfer(amount, dollars)).await
            }
            Ask::Pay { user, from, to, amount, dollars } => {
                let (source, to) = (owned(user, from).await?, self.number(to));
                let (known, asked) = (Known::default(), transfer(amount, dollars));
                payments::transfer_internal(journal, context, &source, to, known, asked).await
            }
            Ask::Save { user, from, to, amount } => {
                let (source, destination) = (owned(user, from).await?, owned(user, to).await?);
                payments::transfer_self(journal, context, &source, &destination, transfer(amount, false))
                    .await
            }
            Ask::Freeze { account } => {
                accounts::freeze(journal, context, &self.number(account), "x".into()).await
            }
            Ask::Unfreeze { account } => {
                accounts::unfreeze(journal, context, &self.number(account), "x".into()).await
            }
            Ask::Send { user, from, amount, fee, dollars } => {
                let source = owned(user, from).await?;
                let (known, asked) = (Known::default(), transfer(amount, dollars));
                let fee = fee.map(|fee| Amount::try_from(fee).unwrap());
                payments::pay_out(journal, context, &source, outside(fee.is_some()), known, fee, asked).await
            }
            Ask::Fund { user, to, amount, dollars } => {
                let destination = owned(user, to).await?;
                let phone_number = "+2348031000101".to_owned().into();
                let wallet = Outside::Wallet { provider: "MTN_MOMO".to_owned(), phone_number };
                payments::fund(journal, context, &destination, wallet, transfer(amount, dollars)).await
            }
            Ask::Clear { payment, arrives } => {
                let outcome = if arrives {
                    PaymentCommand::Settle
                } else {
                    PaymentCommand::Return { reason: "AC04".to_owned() }
                };
                Ok(journal.submit(Unit::new(context).step(self.payment(payment), outcome)).await?)
            }
            Ask::Reverse { user, payment } => {
                let found = transactions::involved(journal, self.users[user], self.payment(payment)).await?;
                let wanted = Reversal { reason: "x".to_owned(), narration: None };
                reversals::reverse(journal, &self.bank.app.rails, context, found, wanted).await
            }
        }
    }

    /// Position of the log, and balances and what is reserved of them, in the order in which the accounts were opened.
    async fn state(&self) -> (i64, Vec<i64>, Vec<i64>) {
        let numbers: Vec<String> = self.numbers.iter().map(AccountNumber::to_string).collect();
        let sql = "SELECT (SELECT position FROM head), coalesce(array_agg(balance ORDER BY i), '{}'),
                          coalesce(array_agg(holds ORDER BY i), '{}')
                     FROM unnest($1::text[]) WITH ORDINALITY AS n (account, i) JOIN ledger_accounts USING (account)";
        sqlx::query_as(sql).bind(numbers).fetch_one(&self.bank.pool).await.unwrap()
    }
}

fn transfer(amount: i64, dollars: bool) -> Transfer {
    Transfer {
        amount: Amount::try_from(amount).unwrap(),
        currency: if dollars { "USD" } else { "NGN" }.parse().unwrap(),
        narration: None,
        reference: None,
    }
}

/// Somebody whom the sandbox's rail takes for nobody in particular.
fn outside(is_biller: bool) -> Outside {
    let account_number = "0123456789".to_owned().into();
    if is_biller {
        let (biller_id, biller_name) = ("SBX_TV".to_owned(), "Television".to_owned());
        Outside::Biller { biller_id, biller_name, account_number, payment_type: None }
    } else {
        Outside::Bank { bank_code: "000013".to_owned(), bank_name: "GTBank".to_owned(), account_number }
    }
}

fn code(error: &CommandError) -> &'static str {
    match error {
        CommandError::Submit(SubmitError::KeyReused) => "IDEMPOTENCY_KEY_REUSED",
        other => other.code().unwrap_or_else(|| {
            // Which is no answer of a bank: the test is about to fail for it.
            println!("{other:?}");
            "UNAVAILABLE"
        }),
    }
}

/// A request that both banks were asked.
struct Asked {
    ask: Ask,
    /// What came of it, unless it was refused.
    made: Option<Committed>,
    day: i64,
}

/// Both banks, and what was asked so far under which key.
struct Pair<'a> {
    real: Real<'a>,
    reference: Reference,
    asked: Vec<Asked>,
    name: String,
    day: i64,
    /// Where the log must be.
    head: i64,
}

type Outcome = Result<(), TestCaseError>;

impl<'a> Pair<'a> {
    fn new(bank: &'a Bank, wrong: Wrong) -> Self {
        let sources = bank.app.journal.sources();
        let users: Vec<UserId> = (0..USERS).map(|_| UserId::mint(sources)).collect();
        let name = users[0].to_string();
        let reference = Reference::new(wrong);
        let real = Real { bank, users, numbers: Vec::new(), payments: Vec::new() };
        let head = *bank.app.journal.head().borrow();
        Self { real, reference, asked: Vec::new(), name, day: 0, head }
    }

    async fn take(&mut self, step: &Step) -> Outcome {
        match step {
            Step::NextDay => {
                self.real.bank.advance(SignedDuration::from_hours(24));
                self.day += 1;
            }
            Step::Ask(ask) => {
                let ask = self.pinned(ask);
                let made = self.ask(self.asked.len(), &ask).await?;
                self.asked.push(Asked { ask, made, day: self.day });
            }
            Step::Again(n) => self.ask_again(n % self.asked.len()).await?,
            Step::OtherBody(n, ask) => {
                let n = n % self.asked.len();
                let first = &self.asked[n];
                if first.made.is_some() && first.ask != *ask && self.is_kept(first) {
                    let refused = self.real.carry_out(ask, self.context(n, ask)).await;
                    let refused = refused.map(|made| made.position).map_err(|error| code(&error));
                    // Whose it is, is looked at before the key, and so is what cannot be called back.
                    prop_assert!(
                        matches!(refused, Err("IDEMPOTENCY_KEY_REUSED" | "NOT_FOUND" | "NOT_REVERSIBLE")),
                        "{:?}",
                        refused
                    );
                }
            }
        }
        self.compare().await
    }

    /// Keys are kept for two days after their own.
    fn is_kept(&self, asked: &Asked) -> bool {
        self.day - asked.day <= 2
    }

    async fn ask_again(&mut self, n: usize) -> Outcome {
        let first = &self.asked[n];
        let (ask, is_kept) = (first.ask.clone(), self.is_kept(first));
        let Some(made) = first.made.clone() else {
            // A refusal was not recorded: it is a new request.
            let made = self.ask(n, &ask).await?;
            self.asked[n] = Asked { ask, made, day: self.day };
            return Ok(());
        };
        if is_kept {
            if self.reference.wrong == Wrong::RepeatsPayAgain {
                let _ = self.reference.answer(&ask, &self.today());
            }
            let again = self.real.carry_out(&ask, self.context(n, &ask)).await;
            let again =
                again.map_err(|error| TestCaseError::fail(format!("a repeat is refused: {error}")))?;
            prop_assert!(again.replayed);
            prop_assert_eq!(&again.events, &made.events);
        }
        Ok(())
    }

    /// A repeat is about the same payment, however many were made since.
    fn pinned(&self, ask: &Ask) -> Ask {
        let pin = |n: usize| n % self.real.payments.len().max(1);
        match *ask {
            Ask::Clear { payment, arrives } => Ask::Clear { payment: pin(payment), arrives },
            Ask::Reverse { user, payment } => Ask::Reverse { user, payment: pin(payment) },
            _ => ask.clone(),
        }
    }

    /// Asks both banks; what the real one made, if anything.
    async fn ask(&mut self, n: usize, ask: &Ask) -> Result<Option<Committed>, TestCaseError> {
        let expected = self.reference.answer(ask, &self.today());
        let made = self.real.carry_out(ask, self.context(n, ask)).await;
        prop_assert_eq!(made.as_ref().map(|_| ()).map_err(code), expected);
        let Ok(committed) = made else { return Ok(None) };
        self.head += i64::try_from(committed.events.len()).unwrap();
        // What changes nothing is in no log.
        if committed.events.is_empty() {
            return Ok(None);
        }
        prop_assert!(!committed.replayed && committed.position == self.head);
        for recorded in &committed.events {
            if let Event::Payment(PaymentEvent::Completed(payment)) = &recorded.event {
                let sum: i64 = payment.postings.iter().map(|line| line.amount).sum();
                prop_assert_eq!(sum, 0);
                self.real.payments.push(recorded.stream.id.parse().unwrap());
            }
        }
        if matches!(ask, Ask::Open { .. }) {
            self.real.numbers.push(committed.events[0].stream.id.as_str().into());
        }
        Ok(Some(committed))
    }

    /// Equal balances; and nothing is in the log but what was accepted.
    async fn compare(&self) -> Outcome {
        let (head, balances, reserved) = self.real.state().await;
        prop_assert_eq!(head, self.head);
        let accounts = &self.reference.accounts;
        prop_assert_eq!(balances, accounts.iter().map(|held| held.balance).collect::<Vec<_>>());
        prop_assert_eq!(reserved, accounts.iter().map(|held| held.reserved).collect::<Vec<_>>());
        Ok(())
    }

    fn context(&self, n: usize, ask: &Ask) -> Context {
        let body = format!("{ask:?}");
        let key =
            self.real.bank.app.keys.idempotency(&self.name, "POST", "/", &n.to_string(), body.as_bytes());
        Context { idempotency: Some(key), ..Context::default() }
    }

    /// `2026-01-31`.
    fn today(&self) -> String {
        self.real.bank.app.journal.sources().clock.now().to_string()[..10].to_owned()
    }
}

/// Lets random sequences loose on both banks.
fn compare(runtime: &Runtime, bank: &Bank, wrong: Wrong) -> Result<(), TestError<Vec<Step>>> {
    let seed: u64 =
        std::env::var("TEST_SEED").map_or(0x0b_5e, |seed| seed.parse().expect("TEST_SEED is a number"));
    println!("TEST_SEED={seed}");
    let (cases, max_shrink_iters) =
        if wrong == Wrong::Nothing { (scaled(CASES), 300) } else { (CASES_UNTIL_FOUND, 0) };
    let cases = u32::try_from(cases).unwrap();
    let config =
        ProptestConfig { cases, max_shrink_iters, failure_persistence: None, ..ProptestConfig::default() };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    TestRunner::new_with_rng(config, rng).run(&prop::collection::vec(step(), STEPS), |steps| {
        runtime.block_on(async {
            let mut pair = Pair::new(bank, wrong);
            for step in prelude().iter().chain(&steps) {
                pair.take(step).await?;
            }
            Ok(())
        })
    })
}

/// A bank at noon, so that no sequence meets midnight on its way.
async fn bank_at_noon() -> Bank {
    // Payments clear when the test says so.
    let mut config = config();
    config.rails.sandbox_delay_seconds = 10 * 365 * 24 * 60 * 60;
    // In many sequences years go by.
    config.accounts.dormant_after_days = 0;
    let bank = Bank::configured(config).await;
    // What savings earn fits on no page.
    sqlx::query("DELETE FROM schedule WHERE task = 'interest.post'").execute(&bank.pool).await.unwrap();
    let now = bank.app.journal.sources().clock.now();
    let noon = now.round((jiff::Unit::Hour, 24)).unwrap() + SignedDuration::from_hours(36);
    bank.advance(noon.duration_since(now));
    bank
}

#[test]
fn the_bank_and_the_reference_agree() {
    let runtime = Runtime::new().unwrap();
    let bank = runtime.block_on(bank_at_noon());
    if let Err(disagreement) = compare(&runtime, &bank, Wrong::Nothing) {
        panic!("{disagreement}");
    }
    // Replay equals live, and every read model equals the log.
    runtime.block_on(bank.close());
}

#[test]
fn a_reference_with_a_wrong_rule_is_found_out() {
    let runtime = Runtime::new().unwrap();
    let bank = runtime.block_on(bank_at_noon());
    for wrong in [
        Wrong::SpendsTheMinimum,
        Wrong::PaysFromFrozen,
        Wrong::CountsOwnTransfers,
        Wrong::ForgetsTheDay,
        Wrong::FillsPastTheMaximum,
        Wrong::RepeatsPayAgain,
        Wrong::KeepsHalfOfARefusal,
        Wrong::SpendsWhatIsReserved,
        Wrong::KeepsTheFee,
        Wrong::ReversesTwice,
    ] {
        let found = compare(&runtime, &bank, wrong);
        assert!(matches!(found, Err(TestError::Fail(..))), "nobody noticed: {wrong:?}");
    }
    runtime.block_on(bank.close());
}
