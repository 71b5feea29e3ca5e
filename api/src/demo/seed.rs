//! Fills an empty bank through the same commands that customers use, day by day.

use std::collections::BTreeSet;

use bursar_commands::accounts::{self, NewAccount};
use bursar_commands::journal::Holding;
use bursar_commands::keys::{Keys, due_key};
use bursar_commands::passwords::{Password, Passwords};
use bursar_commands::payments::{self, BillOrder, Known, Transfer};
use bursar_commands::processes::Processes;
use bursar_commands::{CommandError, Committed, Context, Journal, Owned, users};
use bursar_domain::kernel::UserId;
use bursar_domain::payments::Outside;
use bursar_domain::products::AccountType;
use bursar_domain::reference::Reference;
use bursar_domain::users::RegisterUser;
use bursar_domain::{Amount, Currency, Metadata, Personal};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use jiff::{SignedDuration, Timestamp};

use super::people::{self, PASSWORD, PEOPLE, SPENDING};
use crate::app::App;
use crate::cli::Bar;
use crate::sources::BankClock;

pub(super) type Error = Box<dyn std::error::Error + Send + Sync>;

/// Commands under way at once.
const ABREAST: usize = 64;
/// Payments a customer makes on an average day, in tenths.
const PAYMENTS_TENTHS: u64 = 12;

/// What seeding needs of the bank.
#[derive(Clone, Copy)]
pub(super) struct Seed<'a> {
    pub(super) journal: &'a Journal,
    pub(super) keys: &'a Keys,
    pub(super) passwords: &'a Passwords,
    pub(super) reference: &'a Reference,
    pub(super) processes: &'a Processes,
    pub(super) clock: &'a BankClock,
}

/// A customer's accounts.
pub(super) struct Customer {
    pub(super) current: Owned<Holding>,
    savings: Owned<Holding>,
}

impl<'a> Seed<'a> {
    pub(super) fn of(app: &'a App, clock: &'a BankClock) -> Self {
        Self {
            journal: &app.journal,
            keys: &app.keys,
            passwords: &app.passwords,
            reference: app.reference,
            processes: &app.processes,
            clock,
        }
    }

    /// People, accounts and `days` days of movements that end now.
    pub(super) async fn run(self, now: Timestamp, days: u32, customers: usize) -> Result<(), Error> {
        let start = now - SignedDuration::from_hours(24 * i64::from(days));
        let mut bank = Vec::new();
        for somebody in &PEOPLE {
            bank.extend(self.with_login(somebody).await?);
        }
        if days > 0 {
            self.contracts(&bank).await?;
        }
        let others: Vec<Customer> =
            stream::iter(0..customers).map(|n| self.customer(n)).buffered(ABREAST).try_collect().await?;
        bank.extend(others);
        let mut bar = Bar::new("seeding");
        let mut dice = Dice(0x0b_u64);
        for day in 0..days {
            let morning = start + SignedDuration::from_hours(24 * i64::from(day));
            self.day(&bank, day, morning, now, &mut dice).await?;
            bar.at(u64::from(day) + 1, u64::from(days));
        }
        bar.finish();
        self.clock.set(now);
        Ok(())
    }

    /// One day: salaries on the first, transfers around the clock, some saving in the evening.
    async fn day(
        self,
        bank: &[Customer],
        day: u32,
        morning: Timestamp,
        now: Timestamp,
        dice: &mut Dice,
    ) -> Result<(), Error> {
        let count = bank.len() as u64;
        for hour in [8, 11, 14, 17, 20] {
            let at = morning + SignedDuration::from_hours(hour);
            self.clock.set(at.min(now));
            let mut orders = Vec::new();
            for n in 0..(count * PAYMENTS_TENTHS / 50) {
                let payer = dice.below(count);
                let payee = (payer + 1 + dice.below(count - 1)) % count;
                let (narration, least, most) = SPENDING[dice.index(SPENDING.len())];
                let amount = (least + dice.between(most - least)) / 5_000 * 5_000;
                orders.push((n, payer, payee, narration, amount));
            }
            stream::iter(orders.into_iter().map(Ok::<_, Error>))
                .try_for_each_concurrent(ABREAST, |(n, payer, payee, narration, amount)| async move {
                    let due = format!("demo:{day}:{hour}:{n}");
                    self.pay(
                        &at_index(bank, payer).current,
                        &at_index(bank, payee).current,
                        narration,
                        amount,
                        &due,
                    )
                    .await
                })
                .await?;
        }
        self.errands(bank, day, dice).await?;
        self.clock.set((morning + SignedDuration::from_hours(22)).min(now));
        // What left the bank during the day has arrived, or has come back.
        self.processes.run_due().await?;
        if day % 7 == 5 {
            for (n, customer) in bank.iter().enumerate() {
                self.save(customer, &format!("demo:{day}:save:{n}")).await?;
            }
        }
        Ok(())
    }

    /// Money that leaves the bank: airtime for one in ten, a television bill or a transfer to another bank for fewer.
    async fn errands(self, bank: &[Customer], day: u32, dice: &mut Dice) -> Result<(), Error> {
        for (n, customer) in bank.iter().enumerate() {
            let due = format!("demo:{day}:errand:{n}");
            match dice.below(40) {
                0..4 => self.bill(customer, ("SBX_AIR_ALPHA", &phone(n)), ("Airtime", 50_000), &due).await?,
                4 => {
                    let card = format!("{:010}", 1_000_100 + n);
                    self.bill(customer, ("SBX_TV_SKYVIEW", &card), ("Television", 440_000), &due).await?;
                }
                5 => self.send(customer, n, &due).await?,
                _ => {}
            }
        }
        Ok(())
    }

    async fn bill(
        self,
        payer: &Customer,
        (biller, number): (&str, &str),
        (narration, amount): (&str, i64),
        due: &str,
    ) -> Result<(), Error> {
        let order = BillOrder {
            biller_id: biller.to_owned(),
            item_id: None,
            account_number: number.to_owned(),
            payment_type: Some("PREPAID".to_owned()),
        };
        let (known, transfer) = (Known::default(), transfer(narration, amount)?);
        let (journal, source) = (self.journal, &payer.current);
        let reference = self.reference;
        let made = payments::pay_bill(journal, reference, process(due), source, order, known, transfer).await;
        unless_short(made)
    }

    /// Rent, to another bank. Every ninth landlord has closed the account: it comes back.
    async fn send(self, payer: &Customer, n: usize, due: &str) -> Result<(), Error> {
        let end = if n.is_multiple_of(9) { 2 } else { 1_000 + n };
        let bank = self.reference.payable_bank("058")?;
        let outside = Outside::Bank {
            bank_code: bank.bank_code.clone(),
            bank_name: bank.bank_name.clone(),
            account_number: Personal::new(format!("012345{end:04}")),
        };
        let (known, rent) = (Known::default(), transfer("Rent", 2_500_000)?);
        let (journal, source) = (self.journal, &payer.current);
        unless_short(payments::pay_out(journal, process(due), source, outside, known, None, rent).await)
    }

    async fn with_login(self, somebody: &people::Somebody) -> Result<Option<Customer>, Error> {
        let place = PEOPLE.iter().position(|other| other.email == somebody.email).unwrap_or(0);
        let names = (somebody.first_name, somebody.last_name);
        let user = self.person(names, somebody.email, place + 1).await?;
        let password = Password::chosen(PASSWORD.to_owned())?;
        // No address: the origin of an event is never erased.
        let context = || origin("demo:login");
        users::set_password(self.journal, self.passwords, context(), user, password).await?;
        if !somebody.is_customer() {
            let permissions: BTreeSet<_> = somebody.staff.iter().copied().collect();
            users::grant(self.journal, context(), user, permissions).await?;
            return Ok(None);
        }
        let name = format!("{} {}", somebody.first_name, somebody.last_name);
        Ok(Some(self.accounts(user, &name, 50_000_000).await?))
    }

    async fn customer(self, n: usize) -> Result<Customer, Error> {
        let (first, last) = people::name(n);
        let email = format!("{}.{}{n}@example.com", first.to_lowercase(), last.to_lowercase());
        let user = self.person((first, last), &email, 1_000 + n).await?;
        let funds = 10_000_000 + i64::try_from(n % 17)? * 2_500_000;
        self.accounts(user, &format!("{first} {last}"), funds).await
    }

    async fn person(self, (first, last): (&str, &str), email: &str, number: usize) -> Result<UserId, Error> {
        let digits = self.keys.email_lookup(email);
        let user = RegisterUser {
            first_name: first.to_owned(),
            last_name: last.to_owned(),
            email: email.to_owned(),
            phone_number: format!("+234{}", &phone(number)[1..]),
            date_of_birth: jiff::civil::date(
                1970 + i16::from(digits[4] % 35),
                i8::try_from(digits[5] % 12 + 1)?,
                15,
            ),
            country_code: "NG".to_owned(),
            preferred_language: Some("en".to_owned()),
        };
        let context = origin("demo:register");
        let registered = users::register(self.journal, self.keys, context.clone(), user).await?;
        let id = registered.events.first().ok_or("a registration without an event")?.stream.id.parse()?;
        users::activate(self.journal, context, id).await?;
        Ok(id)
    }

    /// A current account with `funds` kobo paid in at the till, and a savings account opened from it.
    async fn accounts(self, user: UserId, name: &str, funds: i64) -> Result<Customer, Error> {
        let current = self.open(user, name, "CUR-001", AccountType::Current, None).await?;
        let deposit = transfer("Cash deposit", funds)?;
        payments::deposit(self.journal, origin("demo:deposit"), current.number.clone(), deposit).await?;
        let initial = (Amount::try_from(funds / 4)?, current.clone());
        let savings = self.open(user, name, "SAV-001", AccountType::Savings, Some(initial)).await?;
        Ok(Customer { current, savings })
    }

    async fn open(
        self,
        user: UserId,
        name: &str,
        product: &str,
        account_type: AccountType,
        initial_deposit: Option<(Amount, Owned<Holding>)>,
    ) -> Result<Owned<Holding>, Error> {
        let request = NewAccount {
            name: Some(name.to_owned()),
            product_id: product.to_owned(),
            account_type: Some(account_type),
            currency: Currency::NGN,
            initial_deposit,
            plan: None,
            saves_from: None,
        };
        let opened = accounts::open(self.journal, &origin("demo:open"), user, request).await?;
        let number = opened.events.first().ok_or("an opening without an event")?.stream.id.as_str().into();
        Ok(accounts::owned(self.journal, user, &number).await?)
    }

    async fn pay(
        self,
        payer: &Owned<Holding>,
        payee: &Owned<Holding>,
        narration: &str,
        amount: i64,
        due: &str,
    ) -> Result<(), Error> {
        let made = payments::transfer_internal(
            self.journal,
            process(due),
            payer,
            payee.number.clone(),
            Known::default(),
            transfer(narration, amount)?,
        )
        .await;
        unless_short(made)
    }

    async fn save(self, customer: &Customer, due: &str) -> Result<(), Error> {
        let saving = transfer("Weekly saving", 500_000)?;
        let made =
            payments::transfer_self(self.journal, process(due), &customer.current, &customer.savings, saving)
                .await;
        unless_short(made)
    }
}

/// A phone number as it is dialled at home; none ends like those that the sandbox's rails take for trouble.
fn phone(number: usize) -> String {
    format!("0803{:07}", 1_000_100 + number)
}

/// People run out of money; that is life, not an error.
fn unless_short(made: Result<Committed, CommandError>) -> Result<(), Error> {
    match made {
        Err(error) if error.code() != Some("INSUFFICIENT_FUNDS") => Err(error.into()),
        Ok(_) | Err(_) => Ok(()),
    }
}

fn transfer(narration: &str, minor: i64) -> Result<Transfer, Error> {
    Ok(Transfer {
        amount: Amount::try_from(minor)?,
        currency: Currency::NGN,
        narration: Some(narration.to_owned()),
        reference: None,
    })
}

pub(super) fn origin(what: &str) -> Context {
    Context { metadata: Metadata::by("system:demo", what), ..Context::default() }
}

fn process(due: &str) -> Context {
    Context { idempotency: Some(due_key(due)), ..origin(due) }
}

/// Customers are chosen below their number.
fn at_index(bank: &[Customer], n: u64) -> &Customer {
    &bank[usize::try_from(n).unwrap_or(0) % bank.len()]
}

/// Deterministic chance (SplitMix64), so that every demo bank has the same month behind it.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    fn between(&mut self, span: i64) -> i64 {
        i64::try_from(self.below(span.unsigned_abs())).unwrap_or(0)
    }

    fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).unwrap_or(0)
    }
}
