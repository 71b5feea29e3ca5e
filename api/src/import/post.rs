//! The files once more, through the journal.

use std::collections::{BTreeSet, HashMap};

use bursar_commands::imports::{Account, Importer, Movement};
use bursar_commands::journal::imported::balances;
use bursar_commands::products;
use bursar_domain::accounts::OpenAccount;
use bursar_domain::products::ProductTerms;
use bursar_domain::{AccountNumber, Kind};

use super::known::{ASKED, Answer, Asked, ask};
use super::others;
use super::problems::Problems;
use super::rows::{self, ACCOUNTS, AccountRow, CUSTOMERS, TRANSACTIONS, TransactionRow};
use super::table::{Layout, Row, Table};
use super::{Checked, Difference, Import, ImportError, Progress};

/// Writes what the log does not have yet, in the order of the files. `progress` hears how many rows are in the log.
///
/// # Errors
/// When files or bank cannot be read, or a file is not what it was when it was checked. What is written by then stays, and a
/// further run goes on with it.
pub async fn post(
    import: &Import<'_>,
    checked: &Checked,
    progress: Progress<'_>,
) -> Result<u64, ImportError> {
    let importer = Importer::new(import.journal, &import.keys);
    let total = checked.new_rows();
    let mut post = Post { import, checked, importer, total, progress };
    post.customers().await?;
    post.accounts().await?;
    post.transactions().await?;
    others::post(import, checked, &mut post.importer).await?;
    post.importer.finish().await?;
    post.tell();
    Ok(post.importer.written())
}

struct Post<'a, 'p> {
    import: &'a Import<'a>,
    checked: &'a Checked,
    importer: Importer<'a>,
    total: u64,
    progress: Progress<'p>,
}

/// A row of a file that was checked can be read, or the file is another.
fn sound<T>(layout: &'static Layout, read: Option<T>, row: &Row<'_>) -> Result<T, ImportError> {
    read.filter(|_| row.is_sound()).ok_or(ImportError::Changed(layout.file))
}

impl Post<'_, '_> {
    fn open(&self, layout: &'static Layout) -> Result<Option<Table>, ImportError> {
        let mut problems = Problems::default();
        let table = Table::open(&self.import.dir, layout, &mut problems)?;
        if problems.count() > 0 { Err(ImportError::Changed(layout.file)) } else { Ok(table) }
    }

    fn tell(&mut self) {
        (self.progress)(self.importer.written(), self.total);
    }

    async fn customers(&mut self) -> Result<(), ImportError> {
        let Some(mut table) = self.open(&CUSTOMERS)? else { return Ok(()) };
        let mut problems = Problems::default();
        while let Some(mut row) = table.next(&mut problems)? {
            let read = rows::customer(self.import, &mut row, &mut problems);
            let (id, customer) = sound(&CUSTOMERS, read, &row)?;
            if self.checked.customers.get(&id).is_some_and(|seen| !seen.known) {
                self.importer.customer(customer).await?;
                self.tell();
            }
            let record = row.into_record();
            table.done(record);
        }
        Ok(())
    }

    async fn accounts(&mut self) -> Result<(), ImportError> {
        let Some(mut table) = self.open(&ACCOUNTS)? else { return Ok(()) };
        let mut problems = Problems::default();
        let mut offered: HashMap<String, ProductTerms> = HashMap::new();
        while let Some(mut row) = table.next(&mut problems)? {
            let read = rows::account(self.import, &mut row, &mut problems);
            let account = sound(&ACCOUNTS, read, &row)?;
            let seen = self.checked.accounts.get(&account.id);
            let seen = seen.ok_or(ImportError::Changed(ACCOUNTS.file))?;
            if !seen.known {
                if !offered.contains_key(&account.product) {
                    let terms = products::terms_of(self.import.journal, &account.product).await?;
                    let terms = terms.ok_or(ImportError::Changed(ACCOUNTS.file))?;
                    offered.insert(account.product.clone(), terms);
                }
                if let Some(terms) = offered.get(&account.product) {
                    let terms = ProductTerms { overdraft_limit: seen.overdraft, ..terms.clone() };
                    self.importer.account(self.opened(account, terms)?).await?;
                    self.tell();
                }
            }
            let record = row.into_record();
            table.done(record);
        }
        Ok(())
    }

    fn opened(&self, row: AccountRow, terms: ProductTerms) -> Result<Account, ImportError> {
        let seen = self.checked.accounts.get(&row.id).ok_or(ImportError::Changed(ACCOUNTS.file))?;
        let opening = rows::opening(&self.import.names, &row, &seen.number);
        Ok(Account {
            number: seen.number.clone(),
            open: OpenAccount {
                owner: seen.owner,
                name: row.name.unwrap_or_else(|| terms.name.clone()),
                product_id: row.product,
                account_type: terms.account_type,
                product: terms,
                initial_deposit: None,
                plan: None,
            },
            status: row.status,
            origin: row.origin,
            opening,
        })
    }

    async fn transactions(&mut self) -> Result<(), ImportError> {
        let Some(mut table) = self.open(&TRANSACTIONS)? else { return Ok(()) };
        let mut problems = Problems::default();
        // Rows of accounts that the log has, in the order of the file, and those of the others between them.
        let mut batch: Vec<(Movement, Option<Asked>)> = Vec::new();
        while let Some(mut row) = table.next(&mut problems)? {
            let account = self.checked.accounts.get(row.text("account_id"));
            let account = account.ok_or(ImportError::Changed(TRANSACTIONS.file))?;
            let read: Option<TransactionRow> = rows::transaction(&mut row, &mut problems, account);
            let read = sound(&TRANSACTIONS, read, &row)?;
            let movement = rows::movement(&self.import.names, &row, &read, account);
            let asked = account.known.then(|| Asked {
                id: movement.id.to_string(),
                print: movement.origin.row.to_string(),
                line: row.line,
                account: String::new(),
            });
            if asked.is_none() && batch.is_empty() {
                self.importer.movement(movement).await?;
                self.tell();
            } else {
                batch.push((movement, asked));
            }
            let record = row.into_record();
            table.done(record);
            if batch.len() >= ASKED {
                self.those_that_are_new(std::mem::take(&mut batch)).await?;
            }
        }
        self.those_that_are_new(batch).await
    }

    async fn those_that_are_new(&mut self, batch: Vec<(Movement, Option<Asked>)>) -> Result<(), ImportError> {
        let (movements, asked): (Vec<_>, Vec<_>) =
            batch.into_iter().map(|(movement, asked)| ((movement, asked.is_some()), asked)).unzip();
        let asked: Vec<Asked> = asked.into_iter().flatten().collect();
        let mut answers = ask(self.import, Kind::Payment, &asked).await?.into_iter();
        for (movement, was_asked) in movements {
            let answer = if was_asked { answers.next() } else { None };
            match answer.unwrap_or(Answer::New) {
                Answer::New => {
                    self.importer.movement(movement).await?;
                    self.tell();
                }
                Answer::Known => {}
                Answer::Changed => return Err(ImportError::Changed(TRANSACTIONS.file)),
            }
        }
        Ok(())
    }
}

/// The accounts that do not hold what the files say.
///
/// # Errors
/// When the bank cannot be asked.
pub async fn differences(import: &Import<'_>, checked: &Checked) -> Result<Vec<Difference>, ImportError> {
    let mut differences = Vec::new();
    // In a fixed order, a page at a time.
    let ids: BTreeSet<&String> = checked.accounts.keys().collect();
    let ids: Vec<&String> = ids.into_iter().collect();
    for page in ids.chunks(ASKED) {
        let page: Vec<_> = page.iter().filter_map(|id| Some((*id, checked.accounts.get(*id)?))).collect();
        let numbers: Vec<AccountNumber> = page.iter().map(|(_, seen)| seen.number.clone()).collect();
        let found = balances(import.pool, &numbers).await?;
        for (id, seen) in page {
            let holds = found.get(&seen.number).copied();
            if holds != Some(seen.balance) {
                differences.push(Difference {
                    source_id: id.clone(),
                    account_number: seen.number.to_string(),
                    expected: seen.balance,
                    found: holds,
                });
            }
        }
    }
    Ok(differences)
}
