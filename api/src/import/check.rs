//! Looks at every row of every file before anything is written.

use std::collections::{HashMap, HashSet};

use bursar_commands::journal::imported::{Came, origins};
use bursar_commands::{products, users};
use bursar_domain::products::ProductTerms;
use bursar_domain::{AccountNumber, Kind};

use super::known::{ASKED, Answer, Asked, ask, changed};
use super::others;
use super::rows::{self, ACCOUNTS, AccountRow, CUSTOMERS, TRANSACTIONS};
use super::seen::Seen;
use super::table::{Row, Table};
use super::{AccountSeen, Checked, Count, CustomerSeen, Import, ImportError, Problem, Problems, Progress};

/// How many numbers are tried for an account that brings none.
const DRAWS: usize = 8;
/// Rows between two words about progress.
const STEP: u64 = 1_000;

/// Looks at all of it.
///
/// # Errors
/// When files or bank cannot be read. What is wrong with the files is in the answer.
pub async fn check(import: &Import<'_>, progress: Progress<'_>) -> Result<Checked, ImportError> {
    let (checked, products, numbers) = (Checked::default(), HashMap::new(), HashSet::new());
    let mut check = Check { import, checked, products, numbers };
    let Some(table) = Table::open(&import.dir, &CUSTOMERS, &mut check.checked.problems)? else {
        if check.checked.problems.count() > 0 {
            return Ok(check.checked);
        }
        return Err(ImportError::Nothing(import.dir.display().to_string()));
    };
    check.customers(table).await?;
    if let Some(table) = Table::open(&import.dir, &ACCOUNTS, &mut check.checked.problems)? {
        check.accounts(table).await?;
    }
    if let Some(table) = Table::open(&import.dir, &TRANSACTIONS, &mut check.checked.problems)? {
        check.transactions(table, progress).await?;
    }
    others::check(import, &mut check.checked).await?;
    for account in check.checked.accounts.values() {
        let sums = check.checked.sums.entry(account.currency.to_string()).or_default();
        sums.closing += i128::from(account.balance);
    }
    Ok(check.checked)
}

struct Check<'a> {
    import: &'a Import<'a>,
    checked: Checked,
    products: HashMap<String, Option<ProductTerms>>,
    /// Numbers that accounts bring or got so far.
    numbers: HashSet<AccountNumber>,
}

/// A customer whom the log is yet to be asked about, and what stands for their email address.
struct NewCustomer {
    source_id: String,
    asked: Asked,
    lookup: [u8; 32],
}

impl Check<'_> {
    fn count(&mut self, file: &'static str) -> &mut Count {
        self.checked.counts.entry(file).or_default()
    }

    fn wrong(
        &mut self,
        file: &'static str,
        line: u64,
        column: &'static str,
        code: &'static str,
        message: &str,
    ) {
        let message = message.to_owned();
        self.checked.problems.add(Problem { file, line, column, code, message, expected: None, given: None });
    }

    async fn customers(&mut self, mut table: Table) -> Result<(), ImportError> {
        let (mut emails, mut batch) = (HashMap::new(), Vec::new());
        while let Some(mut row) = table.next(&mut self.checked.problems)? {
            self.checked.counts.entry(CUSTOMERS.file).or_default().rows += 1;
            let problems = &mut self.checked.problems;
            if let Some((source_id, customer)) = rows::customer(self.import, &mut row, problems) {
                let lookup = self.import.keys.email_lookup(&customer.user.email);
                if let Some(first) = emails.get(&lookup) {
                    row.wrong(problems, "email", "DUPLICATE", format!("line {first} has this address too"));
                }
                emails.entry(lookup).or_insert(row.line);
                let seen = CustomerSeen { id: customer.id, known: false };
                if self.checked.customers.insert(source_id.clone(), seen).is_some() {
                    row.wrong(problems, "id", "DUPLICATE", "an earlier line has this id");
                }
                let (id, print) = (customer.id.to_string(), customer.origin.row.to_string());
                let asked = Asked { id, print, line: row.line, account: String::new() };
                batch.push(NewCustomer { source_id, asked, lookup });
            } else if !row.text("id").is_empty() {
                // What is wrong with them is told once, not once an account of theirs.
                let id = self.import.names.customer(row.text("id"));
                self.checked.customers.insert(row.text("id").to_owned(), CustomerSeen { id, known: false });
            }
            let record = row.into_record();
            table.done(record);
            if batch.len() >= ASKED {
                self.ask_customers(std::mem::take(&mut batch)).await?;
            }
        }
        self.ask_customers(batch).await
    }

    async fn ask_customers(&mut self, batch: Vec<NewCustomer>) -> Result<(), ImportError> {
        let (asked, others): (Vec<Asked>, Vec<_>) =
            batch.into_iter().map(|new| (new.asked, (new.source_id, new.lookup))).unzip();
        let answers = ask(self.import, Kind::User, &asked).await?;
        let lookups: Vec<[u8; 32]> = others.iter().map(|(_, lookup)| *lookup).collect();
        let taken = users::addresses_taken(self.import.journal, &lookups).await?;
        for ((answer, asked), (source_id, lookup)) in answers.into_iter().zip(asked).zip(others) {
            match answer {
                Answer::Known => {
                    self.count(CUSTOMERS.file).known += 1;
                    if let Some(seen) = self.checked.customers.get_mut(&source_id) {
                        seen.known = true;
                    }
                }
                Answer::Changed => changed(&mut self.checked.problems, &CUSTOMERS, asked.line),
                Answer::New if taken.contains(&lookup) => {
                    let message = "a customer of this bank has this address";
                    self.wrong(CUSTOMERS.file, asked.line, "email", "EMAIL_TAKEN", message);
                }
                Answer::New => {}
            }
        }
        Ok(())
    }

    async fn accounts(&mut self, mut table: Table) -> Result<(), ImportError> {
        // All of them first: who brings none must not get what a later line brings.
        self.numbers = brought(self.import)?;
        let (mut numbers, mut batch) = (HashSet::new(), Vec::new());
        while let Some(mut row) = table.next(&mut self.checked.problems)? {
            self.checked.counts.entry(ACCOUNTS.file).or_default().rows += 1;
            let read = rows::account(self.import, &mut row, &mut self.checked.problems);
            let line = row.line;
            if let Some(account) = read
                && let Some(seen) = self.agreed(&mut row, &account).await?
            {
                let problems = &mut self.checked.problems;
                if account.number.is_some() && !numbers.insert(seen.number.clone()) {
                    row.wrong(problems, "number", "DUPLICATE", "an earlier line has this number");
                }
                let id = account.id.clone();
                if self.checked.accounts.insert(id, seen).is_some() {
                    row.wrong(problems, "id", "DUPLICATE", "an earlier line has this id");
                }
                batch.push((account, line));
            }
            let record = row.into_record();
            table.done(record);
            if batch.len() >= ASKED {
                self.ask_accounts(std::mem::take(&mut batch)).await?;
            }
        }
        self.ask_accounts(batch).await
    }

    /// The account as its history begins, if customer and product are there and agree with it.
    async fn agreed(
        &mut self,
        row: &mut Row<'_>,
        account: &AccountRow,
    ) -> Result<Option<AccountSeen>, ImportError> {
        let Some(terms) = self.terms(&account.product).await? else {
            let message = "the bank has no such product";
            row.wrong(&mut self.checked.problems, "product", "UNKNOWN_PRODUCT", message);
            return Ok(None);
        };
        let problems = &mut self.checked.problems;
        let Some(owner) = self.checked.customers.get(&account.customer).map(|customer| customer.id) else {
            row.wrong(problems, "customer_id", "UNKNOWN_CUSTOMER", "customers.csv has no such customer");
            return Ok(None);
        };
        if terms.currency != account.currency {
            let both = (terms.currency.to_string(), account.currency.to_string());
            row.differs(problems, "currency", "CURRENCY_MISMATCH", "the product's is another", Some(both));
        }
        let overdraft = account.overdraft.unwrap_or(terms.overdraft_limit);
        let (balance, last) = account.opening;
        if balance < -overdraft {
            let both = (format!("{} or more", -overdraft), balance.to_string());
            row.differs(problems, "opening_balance", "OVERDRAWN", "minor units", Some(both));
        }
        let number = account.number.clone().unwrap_or_else(|| self.import.names.number(&account.id, 0));
        let currency = account.currency;
        let (known, goes_on, rows) = (false, false, 0);
        let seen = AccountSeen { number, owner, currency, overdraft, balance, last, rows, known, goes_on };
        Ok(row.is_sound().then_some(seen))
    }

    async fn terms(&mut self, product: &str) -> Result<Option<ProductTerms>, ImportError> {
        if let Some(known) = self.products.get(product) {
            return Ok(known.clone());
        }
        let terms = products::terms_of(self.import.journal, product).await?;
        self.products.insert(product.to_owned(), terms.clone());
        Ok(terms)
    }

    /// Which accounts the log has, and which number each of the others gets.
    async fn ask_accounts(&mut self, batch: Vec<(AccountRow, u64)>) -> Result<(), ImportError> {
        let numbers: Vec<String> = batch
            .iter()
            .filter_map(|(account, _)| Some(self.checked.accounts.get(&account.id)?.number.to_string()))
            .collect();
        let found = origins(self.import.pool, Kind::Account, &numbers).await?;
        for (account, line) in batch {
            let Some(seen) = self.checked.accounts.get(&account.id) else { continue };
            let (first, owner) = (seen.number.clone(), seen.owner.to_string());
            // Another bank may call something else so. A number that was drawn is made of the bank's name too; where it was
            // brought, whose it is tells them apart.
            let ours = |came: &Came| {
                let is_theirs = account.number.is_some() && came.owner.as_ref() != Some(&owner);
                came.id.as_deref() == Some(&*account.id) && !is_theirs
            };
            let (mut number, mut came) = (first.clone(), found.get(first.as_str()).cloned());
            let mut draws = 1;
            // Somebody else's, here or in the file: the next number, the same whenever it is asked.
            while account.number.is_none()
                && draws < DRAWS
                && came.as_ref().map_or_else(|| self.numbers.contains(&number), |came| !ours(came))
            {
                number = self.import.names.number(&account.id, draws);
                let next = origins(self.import.pool, Kind::Account, &[number.to_string()]).await?;
                came = next.get(number.as_str()).cloned();
                draws += 1;
            }
            let is_free = self.numbers.insert(number.clone()) || account.number.is_some();
            let known = match &came {
                None if is_free => false,
                Some(came) if ours(came) => {
                    if came.row.as_deref() != Some(&account.origin.row) {
                        changed(&mut self.checked.problems, &ACCOUNTS, line);
                    }
                    true
                }
                None | Some(_) => {
                    let message = "an account of this bank has this number";
                    self.wrong(ACCOUNTS.file, line, "number", "NUMBER_TAKEN", message);
                    false
                }
            };
            self.begin(&account, number, known);
        }
        Ok(())
    }

    fn begin(&mut self, account: &AccountRow, number: AccountNumber, known: bool) {
        self.count(ACCOUNTS.file).known += u64::from(known);
        if let Some(seen) = self.checked.accounts.get_mut(&account.id) {
            (seen.number, seen.known) = (number, known);
        }
        let sums = self.checked.sums.entry(account.currency.to_string()).or_default();
        sums.opening += i128::from(account.opening.0);
    }

    async fn transactions(&mut self, mut table: Table, progress: Progress<'_>) -> Result<(), ImportError> {
        let (mut seen, mut batch, mut rows) = (Seen::new(), Vec::new(), 0_u64);
        while let Some(mut row) = table.next(&mut self.checked.problems)? {
            rows += 1;
            self.transaction(&mut row, &mut seen, &mut batch)?;
            let record = row.into_record();
            table.done(record);
            if rows.is_multiple_of(STEP) {
                // How many there will be is known at the end.
                let per_row = (table.read / rows).max(1);
                progress(rows, (table.size / per_row).max(rows));
            }
            if batch.len() >= ASKED {
                self.ask_transactions(std::mem::take(&mut batch)).await?;
            }
        }
        self.count(TRANSACTIONS.file).rows = rows;
        self.ask_transactions(batch).await?;
        for (line, first) in seen.repeated()? {
            let message = format!("line {first} has this id too");
            self.wrong(TRANSACTIONS.file, line, "id", "DUPLICATE", &message);
        }
        Ok(())
    }

    fn transaction(
        &mut self,
        row: &mut Row<'_>,
        seen: &mut Seen,
        batch: &mut Vec<Asked>,
    ) -> Result<(), ImportError> {
        let problems = &mut self.checked.problems;
        let Some(account) = self.checked.accounts.get_mut(row.text("account_id")) else {
            row.wrong(problems, "account_id", "UNKNOWN_ACCOUNT", "accounts.csv has no such account");
            return Ok(());
        };
        let Some(read) = rows::transaction(row, problems, account) else { return Ok(()) };
        let names = &self.import.names;
        seen.add(&names.hash("transaction", &read.id), row.line)?;
        if read.at > self.import.now {
            row.wrong(problems, "booked_at", "IN_THE_FUTURE", "this is yet to come");
        } else if read.at < account.last {
            let (code, message) = if account.rows > 0 {
                ("OUT_OF_ORDER", "an earlier line of this account is later")
            } else {
                ("BEFORE_OPENING", "this is before the account's history begins")
            };
            row.wrong(problems, "booked_at", code, message);
        } else {
            account.last = read.at;
        }
        account.rows += 1;
        let balance = i128::from(account.balance) + i128::from(read.amount);
        let Ok(balance) = i64::try_from(balance) else {
            row.wrong(problems, "amount", "OUT_OF_RANGE", "the balance does not fit into 64 bits");
            return Ok(());
        };
        let sums = self.checked.sums.entry(account.currency.to_string()).or_default();
        if read.amount > 0 {
            sums.credits += i128::from(read.amount);
        } else {
            sums.debits -= i128::from(read.amount);
        }
        account.balance = balance;
        if balance < -account.overdraft && read.amount < 0 {
            let both = (format!("{} or more", -account.overdraft), balance.to_string());
            row.differs(problems, "amount", "OVERDRAWN", "the balance after it, minor units", Some(both));
        }
        if let Some(given) = read.balance.filter(|given| *given != balance) {
            let currency = account.currency;
            let both = (currency.decimal(balance.into()), currency.decimal(given.into()));
            row.differs(
                problems,
                "balance",
                "BALANCE_DIFFERS",
                "the rows before it come to another",
                Some(both),
            );
            // Each difference is told where it arises, and not on every row after it.
            account.balance = given;
        }
        if account.known && row.is_sound() {
            let id = names.transaction(&read.id).to_string();
            let print = rows::print_of(names, TRANSACTIONS.file, row);
            batch.push(Asked { id, print, line: row.line, account: row.text("account_id").to_owned() });
        }
        Ok(())
    }

    /// What the log says of transactions of accounts that it has. What it has of an account is the beginning of its history.
    async fn ask_transactions(&mut self, batch: Vec<Asked>) -> Result<(), ImportError> {
        if batch.is_empty() {
            return Ok(());
        }
        let answers = ask(self.import, Kind::Payment, &batch).await?;
        for (answer, asked) in answers.into_iter().zip(batch) {
            let Some(account) = self.checked.accounts.get_mut(&asked.account) else { continue };
            let (goes_on, file) = (account.goes_on, TRANSACTIONS.file);
            account.goes_on |= answer == Answer::New;
            match answer {
                Answer::Known if goes_on => {
                    let message = "it was taken over, and rows before it were not";
                    self.wrong(file, asked.line, "id", "NOT_IN_ORDER", message);
                }
                Answer::Known => self.count(file).known += 1,
                Answer::Changed => changed(&mut self.checked.problems, &TRANSACTIONS, asked.line),
                Answer::New if self.import.resumed => {}
                Answer::New => {
                    let message = "its account was taken over before; what happens on it now happens here";
                    self.wrong(file, asked.line, "id", "NEW_ROW", message);
                }
            }
        }
        Ok(())
    }
}

/// The numbers that accounts bring with them.
fn brought(import: &Import<'_>) -> Result<HashSet<AccountNumber>, ImportError> {
    // What is wrong is told when the rows are looked at.
    let mut unheard = Problems::default();
    let mut numbers = HashSet::new();
    if let Some(mut table) = Table::open(&import.dir, &ACCOUNTS, &mut unheard)? {
        while let Some(row) = table.next(&mut unheard)? {
            numbers.extend(row.text("number").parse::<AccountNumber>());
            let record = row.into_record();
            table.done(record);
        }
    }
    Ok(numbers)
}
