//! Loans, mandates and cards: what their files say, read against the customers and accounts that were seen before.

use bursar_commands::cards::{NewCard, linked};
use bursar_commands::imports::Thing;
use bursar_domain::cards::{CardExpiry, CardNumber, CardType};
use bursar_domain::kernel::{Calendar, Frequency, Origin, micros, midnight, utc_date};
use bursar_domain::loans::{Annuity, Application, CollateralType, LONGEST, TakeOver};
use bursar_domain::mandates::{MandateType, NewMandate, Plan, Target};
use bursar_domain::payments::Outside;
use bursar_domain::{Amount, Kind, Personal};
use jiff::civil::Date;
use rust_decimal::Decimal;

use super::problems::Problems;
use super::rows::{print_of, sum};
use super::table::{Layout, Row};
use super::{AccountSeen, Checked, Import};
use crate::request::{OneOf, Text};

pub static LOANS: Layout = Layout {
    file: "loans.csv",
    required: &[
        "id",
        "account_id",
        "product",
        "principal",
        "outstanding_principal",
        "interest_rate",
        "started_on",
        "tenure_months",
        "paid_instalments",
        "next_due_on",
        "monthly_income",
    ],
    optional: &["purpose"],
};

pub static MANDATES: Layout = Layout {
    file: "mandates.csv",
    required: &["id", "account_id", "name", "amount", "frequency", "next_due_on"],
    optional: &[
        "day",
        "ends_on",
        "type",
        "active",
        "description",
        "payee_name",
        "to_account_id",
        "to_bank",
        "to_biller",
        "to_item",
        "to_number",
    ],
};

pub static CARDS: Layout = Layout {
    file: "cards.csv",
    required: &["id", "customer_id", "number", "expiry"],
    optional: &["type", "holder_name", "issuing_bank", "default"],
};

/// A row of one of these files, as the bank would have it.
pub struct Read {
    /// What the other bank calls it.
    pub source_id: String,
    /// Its id here.
    pub id: String,
    /// What stands for its row.
    pub print: String,
    /// It.
    pub thing: Thing,
}

/// How a row of a file is read.
pub type Reader = fn(&Import<'_>, &Checked, &mut Row<'_>, &mut Problems) -> Option<Read>;

/// The files, in the order in which they are taken over, what their rows are, and how they are read.
pub static FILES: [(&Layout, Kind, Reader); 3] =
    [(&LOANS, Kind::Loan, loan), (&MANDATES, Kind::Mandate, mandate), (&CARDS, Kind::Card, card)];

fn account<'a>(
    checked: &'a Checked,
    row: &mut Row<'_>,
    problems: &mut Problems,
    column: &'static str,
) -> Option<&'a AccountSeen> {
    let account = checked.accounts.get(row.text(column));
    if account.is_none() {
        row.wrong(problems, column, "UNKNOWN_ACCOUNT", "accounts.csv has no such account");
    }
    account
}

/// A sum that is an amount.
fn amount(
    row: &mut Row<'_>,
    problems: &mut Problems,
    column: &'static str,
    account: &AccountSeen,
) -> Option<Amount> {
    if row.text(column).is_empty() {
        row.wrong(problems, column, "REQUIRED", "there must be something here");
        return None;
    }
    let amount = Amount::try_from(sum(row, problems, column, account.currency)?).ok();
    if amount.is_none() {
        row.wrong(problems, column, "OUT_OF_RANGE", "expected more than nothing");
    }
    amount
}

/// A whole number from 0 on.
fn number(row: &mut Row<'_>, problems: &mut Problems, column: &'static str) -> Option<u32> {
    let number = row.text(column).parse().ok();
    if number.is_none() {
        row.wrong(problems, column, "MALFORMED", "expected a whole number");
    }
    number
}

/// `true` or `false`, when there is something.
fn flag(row: &mut Row<'_>, problems: &mut Problems, column: &'static str) -> Option<bool> {
    match row.text(column) {
        "" => None,
        "true" => Some(true),
        "false" => Some(false),
        _ => {
            row.wrong(problems, column, "MALFORMED", "expected true or false");
            None
        }
    }
}

fn loan(import: &Import<'_>, checked: &Checked, row: &mut Row<'_>, problems: &mut Problems) -> Option<Read> {
    let source_id = row.id(problems, "id");
    let account = account(checked, row, problems, "account_id")?;
    let terms = checked.loan_terms.get(row.text("product")).cloned().flatten();
    if terms.is_none() {
        row.wrong(problems, "product", "UNKNOWN_PRODUCT", "the bank has no such loan product");
    }
    let principal = amount(row, problems, "principal", account);
    let outstanding = amount(row, problems, "outstanding_principal", account);
    let income = amount(row, problems, "monthly_income", account);
    let started: Option<Date> = row.need(problems, "started_on");
    let next_due: Option<Date> = row.need(problems, "next_due_on");
    let tenure = number(row, problems, "tenure_months");
    let paid = number(row, problems, "paid_instalments");
    let rate: Option<Decimal> = row.text("interest_rate").parse().ok();
    let purpose: Option<Text<500>> = row.may(problems, "purpose");
    if rate.is_none_or(|rate| Annuity::new(rate, 1).is_err()) {
        let message = "expected 0 to 100 percent a year, with at most six decimals";
        row.wrong(problems, "interest_rate", "MALFORMED", message);
    }
    if let Some(terms) = terms.as_ref().filter(|terms| terms.currency != account.currency) {
        let both = (terms.currency.to_string(), account.currency.to_string());
        row.differs(problems, "product", "CURRENCY_MISMATCH", "the account's is another", Some(both));
    }
    if outstanding.zip(principal).is_some_and(|(left, lent)| left.minor() > lent.minor()) {
        row.wrong(problems, "outstanding_principal", "OUT_OF_RANGE", "this is more than was lent");
    }
    if tenure.is_some_and(|months| !(1..=LONGEST).contains(&months)) {
        row.wrong(problems, "tenure_months", "OUT_OF_RANGE", format!("expected 1 to {LONGEST} months"));
    }
    if paid.zip(tenure).is_some_and(|(paid, all)| paid >= all) {
        row.wrong(problems, "paid_instalments", "OUT_OF_RANGE", "no instalment is left");
    }
    if started.is_some_and(|started| started > utc_date(import.now)) {
        row.wrong(problems, "started_on", "IN_THE_FUTURE", "this is yet to come");
    }
    if started.zip(next_due).is_some_and(|(started, next)| started >= next) {
        row.wrong(problems, "next_due_on", "BEFORE_OPENING", "this is before the first instalment");
    }
    let (source_id, terms, started) = (source_id?, terms?, started?);
    let print = print_of(&import.names, LOANS.file, row);
    let id = import.names.loan(&source_id);
    let taken = TakeOver {
        application: Application {
            owner: account.owner,
            product_id: row.text("product").to_owned(),
            // What was agreed there, and taken and handed in when it was.
            terms: bursar_domain::loan_products::LoanTerms {
                interest_rate: rate?,
                processing_fee: Decimal::ZERO,
                insurance_fee: Decimal::ZERO,
                required_documents: Vec::new(),
                guarantor_required: false,
                ..terms
            },
            amount: principal?,
            tenure: tenure?,
            account: account.number.clone(),
            purpose: purpose.map(String::from),
            employment_type: None,
            monthly_income: income?,
            employer_name: None,
            employment_duration: None,
            existing_loans: Vec::new(),
            collateral_type: CollateralType::None,
            guarantor_required: false,
        },
        started,
        outstanding: outstanding?,
        paid: paid?,
        next_due: next_due?,
        transaction_id: import.names.principal(&source_id),
        origin: Origin { id: source_id.as_str().into(), row: print.as_str().into(), at: midnight(started) },
    };
    let thing = Thing::Loan { id, taken: Box::new(taken) };
    row.is_sound().then(|| Read { source_id, id: id.to_string(), print, thing })
}

/// Whom a mandate pays: an account that comes too, one at another bank, or a biller.
fn target(
    import: &Import<'_>,
    checked: &Checked,
    row: &mut Row<'_>,
    problems: &mut Problems,
    from: (&AccountSeen, Option<Amount>),
) -> Option<Target> {
    let (from, paid) = from;
    let [to, bank, biller] =
        ["to_account_id", "to_bank", "to_biller"].map(|column| row.text(column).to_owned());
    if [&to, &bank, &biller].iter().filter(|text| !text.is_empty()).count() != 1 {
        let message = "expected one of to_account_id, to_bank and to_biller";
        row.wrong(problems, "to_account_id", "NO_PAYEE", message);
        return None;
    }
    if !to.is_empty() {
        let account = account(checked, row, problems, "to_account_id")?;
        if account.number == from.number {
            row.wrong(problems, "to_account_id", "SAME_ACCOUNT", "it pays itself");
        }
        if account.currency != from.currency {
            let both = (from.currency.to_string(), account.currency.to_string());
            row.differs(problems, "to_account_id", "CURRENCY_MISMATCH", "they differ", Some(both));
        }
        return Some(Target::Account { account_number: account.number.clone() });
    }
    let number: Text<64> = row.need(problems, "to_number")?;
    let number = String::from(number);
    if !bank.is_empty() {
        let Ok(bank) = import.reference.payable_bank(&bank) else {
            row.wrong(problems, "to_bank", "UNKNOWN_VALUE", "expected a bank of /v1/banks");
            return None;
        };
        let outside = Outside::Bank {
            bank_code: bank.bank_code.clone(),
            bank_name: bank.bank_name.clone(),
            account_number: Personal::new(number),
        };
        return Some(Target::Outside { outside, item_id: None });
    }
    let item = Some(row.text("to_item").to_owned()).filter(|item| !item.is_empty());
    match import.reference.bill(&biller, item.as_deref(), &number, paid?, from.currency) {
        Ok(bill) => {
            let outside = Outside::Biller {
                biller_id: biller,
                biller_name: bill.biller.biller_name.clone(),
                account_number: Personal::new(number),
                payment_type: None,
            };
            Some(Target::Outside { outside, item_id: item })
        }
        Err(error) => {
            row.wrong(problems, "to_biller", "UNKNOWN_VALUE", error.to_string());
            None
        }
    }
}

fn mandate(
    import: &Import<'_>,
    checked: &Checked,
    row: &mut Row<'_>,
    problems: &mut Problems,
) -> Option<Read> {
    let source_id = row.id(problems, "id");
    let account = account(checked, row, problems, "account_id")?;
    let name: Option<Text<140>> = row.need(problems, "name");
    let amount = amount(row, problems, "amount", account);
    let frequency: Option<OneOf<Frequency>> = row.need(problems, "frequency");
    let next: Option<Date> = row.need(problems, "next_due_on");
    let ends: Option<Date> = row.may(problems, "ends_on");
    let kind: Option<OneOf<MandateType>> = row.may(problems, "type");
    let active = flag(row, problems, "active");
    let description: Option<Text<500>> = row.may(problems, "description");
    let payee: Option<Text<140>> = row.may(problems, "payee_name");
    let day = match row.text("day") {
        "" => None,
        text => {
            let day: Option<i8> = text.parse().ok();
            if day.is_none() {
                row.wrong(problems, "day", "MALFORMED", "expected a day of the month or the week");
            }
            day
        }
    };
    let target = target(import, checked, row, problems, (account, amount));
    let today = utc_date(import.now);
    let calendar = match (frequency, next) {
        (Some(OneOf(frequency)), Some(next)) => match Calendar::new(frequency, next, day, ends) {
            Ok(calendar) => Some(calendar),
            Err(error) => {
                row.wrong(problems, "day", "OUT_OF_RANGE", error.to_string());
                None
            }
        },
        _ => None,
    };
    if calendar.as_ref().is_some_and(|calendar| calendar.from(today).is_none()) {
        row.wrong(problems, "ends_on", "NOTHING_TO_EXECUTE", "no day is left");
    }
    let (source_id, next) = (source_id?, next?);
    let print = print_of(&import.names, MANDATES.file, row);
    let id = import.names.mandate(&source_id);
    let new = NewMandate {
        owner: account.owner,
        mandate_type: kind.map_or(MandateType::Payment, |OneOf(kind)| kind),
        source: account.number.clone(),
        target: target?,
        payee_name: payee.map(|Text(name)| Personal::new(name)),
        currency: account.currency,
        plan: Plan {
            name: name?.into(),
            amount: amount?,
            calendar: calendar?,
            starts_at: midnight(next),
            ends_at: ends.map(midnight),
            description: description.map(String::from),
        },
        is_active: active.unwrap_or(true),
        today,
        origin: Some(Origin {
            id: source_id.as_str().into(),
            row: print.as_str().into(),
            at: micros(import.now),
        }),
    };
    let thing = Thing::Mandate { id, new: Box::new(new) };
    row.is_sound().then(|| Read { source_id, id: id.to_string(), print, thing })
}

fn card(import: &Import<'_>, checked: &Checked, row: &mut Row<'_>, problems: &mut Problems) -> Option<Read> {
    let source_id = row.id(problems, "id");
    let owner = checked.customers.get(row.text("customer_id")).map(|customer| customer.id);
    if owner.is_none() {
        row.wrong(problems, "customer_id", "UNKNOWN_CUSTOMER", "customers.csv has no such customer");
    }
    let number: Option<CardNumber> = row.text("number").parse().ok();
    let range = number.as_ref().and_then(|number| import.reference.card_brands.of(number));
    match (&number, range) {
        (None, _) => {
            let message = "a card number is 12 to 19 digits, the last one a check digit";
            row.wrong(problems, "number", "MALFORMED", message);
        }
        (Some(number), range) if range.is_none_or(|r| !r.pan_lengths.contains(&number.digits().len())) => {
            row.wrong(problems, "number", "UNKNOWN_VALUE", "cards of this kind are not supported");
        }
        (Some(_), _) => {}
    }
    let expiry: Option<CardExpiry> = row.text("expiry").parse().ok();
    match expiry {
        None => row.wrong(problems, "expiry", "MALFORMED", "expected a month and a year: MM/YY"),
        Some(expiry) if expiry.ends_at() <= import.now => {
            row.wrong(problems, "expiry", "CARD_EXPIRED", "its last month is over");
        }
        Some(_) => {}
    }
    let kind: Option<OneOf<CardType>> = row.may(problems, "type");
    let holder: Option<Text<140>> = row.may(problems, "holder_name");
    let issuer: Option<Text<140>> = row.may(problems, "issuing_bank");
    let default = flag(row, problems, "default");
    let (source_id, owner, number) = (source_id?, owner?, number?);
    let print = print_of(&import.names, CARDS.file, row);
    let id = import.names.card(&source_id);
    let token = import.keys.card_token(owner, &number);
    let new = NewCard {
        number,
        brand: range?.brand_code.clone(),
        card_type: kind.map_or(CardType::Debit, |OneOf(kind)| kind),
        expiry: expiry?,
        holder_name: holder.map(String::from),
        issuing_bank: issuer.map(String::from),
        is_default: default.unwrap_or(false),
        limits: import.card_limits,
    };
    let origin = Origin { id: source_id.as_str().into(), row: print.as_str().into(), at: micros(import.now) };
    let card = Box::new(linked(&token, owner, new, Some(origin)));
    let thing = Thing::Card { id, token, card };
    row.is_sound().then(|| Read { source_id, id: id.to_string(), print, thing })
}
