//! The rows of the books. The fields are the tables' columns.

use std::collections::BTreeMap;

use bursar_domain::kernel::Text;
use bursar_domain::ledger::Class;
use bursar_domain::{Currency, Position};
use jiff::civil::Date;
use serde::Serialize;

use super::Line;

/// What the bank has earned and not spent, all of it since its first day.
const EARNINGS: &str = "earnings";

/// A row of `trial_balance`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct TrialRow {
    pub(super) day: Date,
    pub(super) currency: Currency,
    pub(super) ledger_account: Text,
    pub(super) class: Class,
    pub(super) debits: i64,
    pub(super) credits: i64,
    pub(super) balance: i64,
    pub(super) last_position: Position,
}

impl TrialRow {
    pub(super) fn of(day: Date, currency: Currency, name: &Text, line: &Line) -> Self {
        let Line { class, debits, credits, balance, last_position } = *line;
        Self { day, currency, ledger_account: name.clone(), class, debits, credits, balance, last_position }
    }
}

/// A row of `balance_sheet`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct SheetRow {
    pub(super) day: Date,
    pub(super) currency: Currency,
    pub(super) side: &'static str,
    pub(super) line: Text,
    pub(super) amount: i64,
    pub(super) last_position: Position,
}

/// The balance sheets of the days that `rows` are about: what was earned and spent is one line.
pub(super) fn sheet(rows: &[TrialRow]) -> Vec<SheetRow> {
    let mut sheet = Vec::new();
    let mut earnings: BTreeMap<(Date, Currency), SheetRow> = BTreeMap::new();
    for row in rows {
        let line = |side, line: &Text, amount| SheetRow {
            day: row.day,
            currency: row.currency,
            side,
            line: line.clone(),
            amount,
            last_position: row.last_position,
        };
        match row.class {
            Class::Asset => {
                sheet.push(line(row.class.as_str(), &row.ledger_account, row.balance.saturating_neg()));
            }
            Class::Liability => sheet.push(line(row.class.as_str(), &row.ledger_account, row.balance)),
            Class::Income | Class::Expense => {
                let earned = earnings
                    .entry((row.day, row.currency))
                    .or_insert_with(|| line("EQUITY", &Text::const_new(EARNINGS), 0));
                earned.amount = earned.amount.saturating_add(row.balance);
                earned.last_position = earned.last_position.max(row.last_position);
            }
        }
    }
    sheet.extend(earnings.into_values());
    sheet
}
