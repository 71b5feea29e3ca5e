//! What a loan decides, move by move, and how it grows.

use std::collections::BTreeSet;

use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};

use super::book::{Arrears, Book, Row};
use super::command::{Application, Repay};
use super::event::{Applied, CheckOutcome, Disbursed, Item, LoanEvent, Repaid, WrittenOff};
use super::schedule::{Annuity, LONGEST, NoSchedule, due_dates};
use super::{APPROVAL_DAYS, Case, ItemStatus, LoanError, MOST_ITEMS, Repayment, principal_of};
use crate::kernel::{Amount, Personal, TransactionId, UserId, micros, utc_date};
use crate::ledger::{Bond, Tie};
use crate::loan_products::LoanTerms;

impl Application {
    pub(super) fn check(self) -> Result<Vec<LoanEvent>, LoanError> {
        let terms = self.terms;
        let range = terms.range();
        if !(range.least..=range.most).contains(&self.amount.minor()) {
            return Err(LoanError::AmountOutOfRange { least: range.least, most: range.most });
        }
        if !terms.lasts(self.tenure) {
            return Err(out_of_range(&terms));
        }
        let cost =
            terms.cost(self.amount.minor(), self.tenure).map_err(|error| unscheduled(error, &terms))?;
        let guarantor_required = terms.guarantor_required || self.guarantor_required;
        Ok(vec![LoanEvent::Applied(Box::new(Applied {
            owner: self.owner,
            product_id: self.product_id,
            terms,
            cost,
            amount: self.amount,
            tenure: self.tenure,
            account: self.account,
            purpose: self.purpose,
            employment_type: self.employment_type,
            monthly_income: self.monthly_income,
            employer_name: self.employer_name.map(Personal::new),
            employment_duration: self.employment_duration,
            existing_loans: self.existing_loans,
            collateral_type: self.collateral_type,
            guarantor_required,
            origin: None,
        }))])
    }
}

const fn out_of_range(terms: &LoanTerms) -> LoanError {
    LoanError::TenureOutOfRange { shortest: terms.min_tenure, longest: terms.max_tenure }
}

/// A product's own check leaves nothing that cannot be scheduled.
pub(super) fn unscheduled(error: NoSchedule, terms: &LoanTerms) -> LoanError {
    match error {
        NoSchedule::Principal => {
            LoanError::AmountOutOfRange { least: terms.min_amount, most: terms.max_amount }
        }
        NoSchedule::Rate => LoanError::TenureOutOfRange { shortest: 1, longest: LONGEST },
        NoSchedule::Months => out_of_range(terms),
    }
}

impl Case {
    pub(super) const fn new(applied: Applied) -> Self {
        Self {
            applied,
            items: Vec::new(),
            documents: Vec::new(),
            reviewers: BTreeSet::new(),
            approved: None,
            book: Book::new(Vec::new()),
            tie: None,
            missed: None,
        }
    }

    /// Whether there is room for one more of these.
    pub(super) fn room(&self, item: Item) -> Result<(), LoanError> {
        let same = |known: &Item| std::mem::discriminant(known) == std::mem::discriminant(&item);
        if self.items.iter().filter(|(known, _)| same(known)).count() < MOST_ITEMS {
            Ok(())
        } else {
            Err(LoanError::TooMany { thing: item.thing(), most: MOST_ITEMS })
        }
    }

    /// Nobody decides about a loan of their own.
    pub(super) fn by_somebody_else(&self, by: UserId) -> Result<(), LoanError> {
        if by == self.applied.owner { Err(LoanError::SamePerson) } else { Ok(()) }
    }

    pub(super) fn check(
        &self,
        item: Item,
        outcome: CheckOutcome,
        note: Option<String>,
        by: UserId,
    ) -> Result<Vec<LoanEvent>, LoanError> {
        let thing = item.thing();
        let status = self.item(item).ok_or(LoanError::UnknownItem { thing })?;
        if status != ItemStatus::Pending {
            return Err(LoanError::ItemDecided { thing, state: status.as_str() });
        }
        self.by_somebody_else(by)?;
        Ok(vec![LoanEvent::Checked { item, outcome, note, by }])
    }

    pub(super) fn approve(
        &self,
        by: UserId,
        note: Option<String>,
        now: Timestamp,
    ) -> Result<Vec<LoanEvent>, LoanError> {
        self.by_somebody_else(by)?;
        if self.reviewers.contains(&by) {
            return Err(LoanError::SamePerson);
        }
        let missing = self.missing_documents();
        if !missing.is_empty() {
            let missing = missing.into_iter().map(|document| document.as_str()).collect();
            return Err(LoanError::DocumentsMissing { missing });
        }
        let vouched = |(item, status): &(Item, ItemStatus)| {
            matches!((item, status), (Item::Guarantor(_), ItemStatus::Verified))
        };
        if self.applied.guarantor_required && !self.items.iter().any(vouched) {
            return Err(LoanError::GuarantorMissing);
        }
        let expires_at =
            now.checked_add(SignedDuration::from_hours(24 * APPROVAL_DAYS)).unwrap_or(Timestamp::MAX);
        Ok(vec![LoanEvent::Approved { by, note, expires_at: micros(expires_at) }])
    }

    fn is_over(&self, now: Timestamp) -> bool {
        self.approved.is_some_and(|(_, until)| now >= until)
    }

    pub(super) fn expire(&self, now: Timestamp) -> Result<Vec<LoanEvent>, LoanError> {
        if self.is_over(now) { Ok(vec![LoanEvent::Expired]) } else { Err(LoanError::NotExpired) }
    }

    pub(super) fn disburse(
        &self,
        by: UserId,
        note: Option<String>,
        transaction_id: TransactionId,
        now: Timestamp,
    ) -> Result<Vec<LoanEvent>, LoanError> {
        if self.is_over(now) {
            return Err(LoanError::InvalidState { state: "EXPIRED" });
        }
        self.by_somebody_else(by)?;
        if self.approved.is_some_and(|(approver, _)| approver == by) {
            return Err(LoanError::SamePerson);
        }
        let Applied { terms, amount, tenure, .. } = &self.applied;
        let schedule = Annuity::new(terms.interest_rate, *tenure)
            .and_then(|annuity| annuity.schedule(amount.minor()))
            .map_err(|error| unscheduled(error, terms))?;
        let dates = due_dates(utc_date(now), *tenure);
        let rows = schedule.into_iter().zip(dates).map(|(row, due)| Row {
            number: row.number,
            due,
            principal: row.principal,
            interest: row.interest,
            paid_principal: 0,
            paid_interest: 0,
        });
        let rows = rows.collect();
        Ok(vec![LoanEvent::Disbursed(Box::new(Disbursed {
            by: Some(by),
            transaction_id,
            amount: *amount,
            note,
            rows,
            tie: Some(Tie::new(self.applied.account.clone(), Bond::Loan)),
        }))])
    }

    pub(super) fn accrue(
        &self,
        transaction_id: TransactionId,
        amount: Amount,
        today: Date,
    ) -> Result<Vec<LoanEvent>, LoanError> {
        if self.book.to_accrue(today) != amount.minor() {
            return Err(LoanError::Changed);
        }
        Ok(vec![LoanEvent::Accrued { amount, transaction_id }])
    }

    /// What is paid, when its bookings are those of `right`.
    pub(super) fn repay(&self, repay: Repay, right: Repayment) -> Result<Vec<LoanEvent>, LoanError> {
        let ahead = repay.ahead.map_or(0, |(amount, _)| amount.minor());
        if repay.shares != right.shares || ahead != right.ahead {
            return Err(LoanError::Changed);
        }
        let mut events = Vec::new();
        if let Some((amount, transaction_id)) = repay.ahead {
            events.push(LoanEvent::Accrued { amount, transaction_id });
        }
        let mut book = self.book.clone();
        book.pay(&repay.shares);
        let next_due = book.next().map(|row| row.due);
        // What is still due is tried again tomorrow.
        let tomorrow = repay.today.tomorrow().unwrap_or(repay.today);
        let is_closed = next_due.is_none();
        events.push(LoanEvent::Repaid(Box::new(Repaid {
            transaction_id: repay.transaction_id,
            amount: repay.amount,
            principal_left: self.book.principal() - principal_of(&repay.shares),
            shares: repay.shares,
            collected: repay.collected,
            payment_type: repay.payment_type,
            next_due,
            next_collection: next_due.map(|due| due.max(tomorrow)),
            tie: self.tie.as_ref().filter(|_| is_closed).map(Tie::end),
        })));
        if is_closed {
            let released =
                self.securities().map(|collateral_id| LoanEvent::CollateralReleased { collateral_id });
            events.extend(released);
            events.push(LoanEvent::Closed);
        }
        Ok(events)
    }

    /// Arrears are recorded once for each stage that they reach.
    pub(super) fn miss(&self, today: Date, code: String) -> Vec<LoanEvent> {
        let arrears = self.book.arrears(today);
        let Some(since) = arrears.since else { return Vec::new() };
        let known =
            self.missed.filter(|(before, _)| *before == since).map_or(0, |(_, days)| Arrears::stage(days));
        if Arrears::stage(arrears.days) <= known {
            return Vec::new();
        }
        vec![LoanEvent::Missed { since, days: arrears.days, owed: arrears.owed, code }]
    }

    pub(super) fn write_off(&self, written: WrittenOff) -> Result<Vec<LoanEvent>, LoanError> {
        self.by_somebody_else(written.by)?;
        if written.principal != self.book.principal() || written.interest != self.book.interest() {
            return Err(LoanError::Changed);
        }
        let tie = self.tie.as_ref().map(Tie::end);
        Ok(vec![LoanEvent::WrittenOff(Box::new(WrittenOff { tie, ..written }))])
    }

    pub(super) fn grow(&mut self, event: &LoanEvent) {
        match event {
            LoanEvent::GuarantorAdded(guarantor) => {
                self.items.push((Item::Guarantor(guarantor.id), ItemStatus::Pending));
            }
            LoanEvent::CollateralAdded(collateral) => {
                self.items.push((Item::Collateral(collateral.id), ItemStatus::Pending));
            }
            LoanEvent::DocumentAdded(document) => {
                self.items.push((Item::Document(document.id), ItemStatus::Pending));
                self.documents.push((document.id, document.document_type));
            }
            LoanEvent::Checked { item, outcome, .. } => self.set(*item, (*outcome).into()),
            LoanEvent::CollateralReleased { collateral_id } => {
                self.set(Item::Collateral(*collateral_id), ItemStatus::Released);
            }
            LoanEvent::ReviewStarted { by, .. } | LoanEvent::InfoRequested { by, .. } => {
                self.reviewers.insert(*by);
            }
            LoanEvent::Approved { by, expires_at, .. } => self.approved = Some((*by, *expires_at)),
            LoanEvent::Disbursed(disbursed) => {
                self.book = Book::new(disbursed.rows.clone());
                self.tie.clone_from(&disbursed.tie);
            }
            LoanEvent::Accrued { amount, .. } => self.book.accrue(amount.minor()),
            LoanEvent::Repaid(repaid) => {
                self.book.pay(&repaid.shares);
                let oldest = self.book.next().map(|row| row.due);
                self.missed = self.missed.filter(|(since, _)| Some(*since) == oldest);
            }
            LoanEvent::Missed { since, days, .. } => self.missed = Some((*since, *days)),
            LoanEvent::Applied(_)
            | LoanEvent::Rejected { .. }
            | LoanEvent::Withdrawn { .. }
            | LoanEvent::Expired
            | LoanEvent::Closed
            | LoanEvent::WrittenOff(_) => {}
        }
    }
}
