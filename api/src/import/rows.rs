//! What the columns of each file are, and a row as the bank knows it. The check and the posting read the same way.

use bursar_commands::imports::{Customer, Movement, Names};
use bursar_domain::kernel::{Origin, midnight, utc_date};
use bursar_domain::ledger::AccountStatus;
use bursar_domain::users::RegisterUser;
use bursar_domain::{AccountNumber, Currency};
use jiff::Timestamp;
use jiff::civil::Date;

use super::problems::Problems;
use super::table::{Layout, Row};
use super::values::{minor_units, moment};
use super::{AccountSeen, Import};
use crate::request::{CountryCode, Email, Language, OneOf, Phone, Text, Title};
use crate::users::age_fits;

pub static CUSTOMERS: Layout = Layout {
    file: "customers.csv",
    required: &["id", "first_name", "last_name", "email", "phone", "date_of_birth", "country", "kyc_level"],
    optional: &["state", "language", "since"],
};

pub static ACCOUNTS: Layout = Layout {
    file: "accounts.csv",
    required: &["id", "customer_id", "product", "currency", "opened_on"],
    optional: &["number", "name", "status", "overdraft_limit", "opening_balance", "opening_balance_on"],
};

pub static TRANSACTIONS: Layout = Layout {
    file: "transactions.csv",
    required: &["id", "account_id", "booked_at", "amount"],
    optional: &["currency", "balance", "description", "reference"],
};

bursar_domain::spelled! {
    /// How well another bank knew a customer.
    pub enum KycLevel {
        /// Not at all.
        None = "NONE",
        /// It has verified who they are.
        Full = "FULL",
    }
}

bursar_domain::spelled! {
    /// Where a customer is.
    pub enum CustomerState {
        /// They have yet to prove who they are.
        Pending = "PENDING",
        /// They may use the bank.
        Active = "ACTIVE",
    }
}

fn origin(id: &str, row: String, at: Timestamp) -> Origin {
    Origin { id: id.into(), row: row.into(), at }
}

/// What stands for everything that a row says.
pub fn print_of(names: &Names, file: &'static str, row: &Row<'_>) -> String {
    names.row(file, row.fields())
}

/// A customer of `customers.csv`.
pub fn customer(
    import: &Import<'_>,
    row: &mut Row<'_>,
    problems: &mut Problems,
) -> Option<(String, Customer)> {
    let id = row.id(problems, "id");
    let first: Option<Title<100>> = row.need(problems, "first_name");
    let last: Option<Title<100>> = row.need(problems, "last_name");
    let email: Option<Email> = row.need(problems, "email");
    let phone: Option<Phone> = row.need(problems, "phone");
    let born: Option<Date> = row.need(problems, "date_of_birth");
    let country: Option<CountryCode> = row.need(problems, "country");
    let level: Option<OneOf<KycLevel>> = row.need(problems, "kyc_level");
    let state: Option<OneOf<CustomerState>> = row.may(problems, "state");
    let language: Option<Language> = row.may(problems, "language");
    let since: Option<Date> = row.may(problems, "since");
    if let Some(country) = &country
        && import.places.countries.get(&country.0).is_none_or(|country| !country.is_active)
    {
        row.wrong(problems, "country", "UNKNOWN_VALUE", "expected a country of /v1/datasets/countries");
    }
    let today = utc_date(import.now);
    if born.is_some_and(|born| !age_fits(born, today, import.minimum_age)) {
        let least = import.minimum_age;
        let message = format!("expected somebody alive and at least {least} years old");
        row.wrong(problems, "date_of_birth", "OUT_OF_RANGE", message);
    }
    if since.is_some_and(|since| since > today) {
        row.wrong(problems, "since", "IN_THE_FUTURE", "this is yet to come");
    }
    let is_verified = matches!(level, Some(OneOf(KycLevel::Full)));
    if let (Some(_), Some(OneOf(state))) = (&level, state)
        && is_verified != (state == CustomerState::Active)
    {
        row.wrong(problems, "state", "KYC_STATE", "ACTIVE goes with FULL, PENDING with NONE");
    }
    let (id, first, last, email) = (id?, first?, last?, email?);
    let (phone, born, country) = (phone?, born?, country?);
    let at = since.map_or(import.now, midnight);
    let print = print_of(&import.names, CUSTOMERS.file, row);
    let customer = Customer {
        id: import.names.customer(&id),
        user: RegisterUser {
            first_name: first.into(),
            last_name: last.into(),
            email: bursar_commands::users::normalised_email(&email.0),
            phone_number: phone.into(),
            date_of_birth: born,
            country_code: country.0,
            preferred_language: language.map(String::from),
        },
        is_verified,
        origin: origin(&id, print, at),
    };
    row.is_sound().then_some((id, customer))
}

/// A row of `accounts.csv`.
pub struct AccountRow {
    pub id: String,
    pub customer: String,
    pub product: String,
    pub currency: Currency,
    pub number: Option<AccountNumber>,
    pub name: Option<String>,
    pub status: AccountStatus,
    pub overdraft: Option<i64>,
    /// Minor units, and since when.
    pub opening: (i64, Timestamp),
    pub origin: Origin,
}

/// An account of `accounts.csv`.
pub fn account(import: &Import<'_>, row: &mut Row<'_>, problems: &mut Problems) -> Option<AccountRow> {
    let id = row.id(problems, "id");
    let customer = row.id(problems, "customer_id");
    let product: Option<Text<64>> = row.need(problems, "product");
    let currency: Option<Currency> = row.need(problems, "currency");
    let opened: Option<Date> = row.need(problems, "opened_on");
    let number: Option<AccountNumber> = row.may(problems, "number");
    let name: Option<Text<140>> = row.may(problems, "name");
    let status: Option<OneOf<AccountStatus>> = row.may(problems, "status");
    let begins: Option<Date> = row.may(problems, "opening_balance_on");
    let today = utc_date(import.now);
    for (column, day) in [("opened_on", opened), ("opening_balance_on", begins)] {
        if day.is_some_and(|day| day > today) {
            row.wrong(problems, column, "IN_THE_FUTURE", "this is yet to come");
        }
    }
    if let (Some(opened), Some(begins)) = (opened, begins)
        && begins < opened
    {
        row.wrong(problems, "opening_balance_on", "BEFORE_OPENING", "this is before the account was opened");
    }
    let status = status.map_or(AccountStatus::Active, |OneOf(status)| status);
    if status == AccountStatus::Closed {
        row.wrong(problems, "status", "CLOSED", "accounts that are closed are not taken over");
    }
    let currency = currency?;
    let overdraft = sum(row, problems, "overdraft_limit", currency);
    if overdraft.is_some_and(|limit| limit < 0) {
        row.wrong(problems, "overdraft_limit", "OUT_OF_RANGE", "expected 0 or more");
    }
    let opening = sum(row, problems, "opening_balance", currency).unwrap_or(0);
    let (id, opened) = (id?, opened?);
    let print = print_of(&import.names, ACCOUNTS.file, row);
    let account = AccountRow {
        customer: customer?,
        product: product?.into(),
        currency,
        number,
        name: name.map(String::from),
        status,
        overdraft,
        opening: (opening, midnight(begins.unwrap_or(opened))),
        origin: origin(&id, print, midnight(opened)),
        id,
    };
    row.is_sound().then_some(account)
}

/// A row of `transactions.csv`, whatever its account says to it.
pub struct TransactionRow {
    pub id: String,
    pub at: Timestamp,
    pub amount: i64,
    /// What the other bank says is in the account then, minor units.
    pub balance: Option<i64>,
}

/// A transaction of `transactions.csv`, whose account is known.
pub fn transaction(
    row: &mut Row<'_>,
    problems: &mut Problems,
    account: &AccountSeen,
) -> Option<TransactionRow> {
    let id = row.id(problems, "id");
    let at = moment(row.text("booked_at"));
    if at.is_none() {
        let message = "expected a date or a timestamp such as 2026-01-31T09:30:00Z";
        row.wrong(problems, "booked_at", "MALFORMED", message);
    }
    let currency = row.text("currency");
    if !currency.is_empty() && currency != account.currency.as_str() {
        let both = (account.currency.to_string(), currency.to_owned());
        row.differs(problems, "currency", "CURRENCY_MISMATCH", "the account's is another", Some(both));
    }
    if row.text("amount").is_empty() {
        row.wrong(problems, "amount", "REQUIRED", "there must be something here");
    }
    let amount = sum(row, problems, "amount", account.currency);
    if amount == Some(0) {
        row.wrong(problems, "amount", "ZERO", "nothing moved");
    }
    let balance = sum(row, problems, "balance", account.currency);
    for (column, most) in [("description", 500), ("reference", 100)] {
        let text = row.text(column);
        if text.chars().count() > most || text.chars().any(char::is_control) {
            row.wrong(problems, column, "LENGTH", format!("expected at most {most} characters that print"));
        }
    }
    let transaction = TransactionRow { id: id?, at: at?, amount: amount?, balance };
    row.is_sound().then_some(transaction)
}

/// What a sound row brings to the log.
pub fn movement(names: &Names, row: &Row<'_>, read: &TransactionRow, account: &AccountSeen) -> Movement {
    let id = names.transaction(&read.id);
    let given = |column: &str| Some(row.text(column)).filter(|text| !text.is_empty());
    Movement {
        id,
        account: account.number.clone(),
        amount: read.amount,
        currency: account.currency,
        narration: given("description").map(str::to_owned),
        // Support finds it by what the other bank called it.
        reference: given("reference").unwrap_or(&read.id).to_owned(),
        origin: origin(&read.id, print_of(names, TRANSACTIONS.file, row), read.at),
    }
}

/// What was in an account when its history begins.
pub fn opening(names: &Names, row: &AccountRow, number: &AccountNumber) -> Option<Movement> {
    let (amount, at) = row.opening;
    (amount != 0).then(|| Movement {
        id: names.opening(&row.id),
        account: number.clone(),
        amount,
        currency: row.currency,
        narration: Some("Opening balance".to_owned()),
        reference: row.id.clone(),
        origin: Origin { at, ..row.origin.clone() },
    })
}

/// A sum of the currency, when there is one.
pub fn sum(
    row: &mut Row<'_>,
    problems: &mut Problems,
    column: &'static str,
    currency: Currency,
) -> Option<i64> {
    let text = row.text(column);
    if text.is_empty() {
        return None;
    }
    match minor_units(text, currency) {
        Ok(minor) => Some(minor),
        Err((code, message)) => {
            row.wrong(problems, column, code, message);
            None
        }
    }
}
