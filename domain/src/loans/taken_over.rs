//! A loan that another bank has made and this one goes on with: what is left of it, from the next instalment on.

use jiff::civil::Date;

use super::LoanError;
use super::book::Row;
use super::command::TakeOver;
use super::event::{Applied, Disbursed, LoanEvent};
use super::life::unscheduled;
use super::schedule::{Annuity, NoSchedule};
use crate::kernel::{Calendar, Frequency, Personal};
use crate::ledger::{Bond, Tie};

impl TakeOver {
    /// The application as it was once, and the loan as it stands. Of the product only the name and the bounds of a schedule are
    /// asked: what it lends, and to whom, was the other bank's to decide.
    pub(super) fn check(self) -> Result<Vec<LoanEvent>, LoanError> {
        let dates = self.due_dates();
        let Self { application, outstanding, paid, transaction_id, origin, .. } = self;
        let terms = application.terms;
        let fail = |error: NoSchedule| unscheduled(error, &terms);
        let left = application.tenure.saturating_sub(paid);
        let rows = Annuity::new(terms.interest_rate, left)
            .and_then(|annuity| annuity.schedule(outstanding.minor()))
            .map_err(fail)?;
        let rows = rows.into_iter().zip(dates).map(|(row, due)| Row {
            number: paid + row.number,
            due,
            principal: row.principal,
            interest: row.interest,
            paid_principal: 0,
            paid_interest: 0,
        });
        let rows = rows.collect();
        let cost = terms.cost(application.amount.minor(), application.tenure).map_err(fail)?;
        let tie = Some(Tie::new(application.account.clone(), Bond::Loan));
        let applied = Applied {
            owner: application.owner,
            product_id: application.product_id,
            terms,
            cost,
            amount: application.amount,
            tenure: application.tenure,
            account: application.account,
            purpose: application.purpose,
            employment_type: application.employment_type,
            monthly_income: application.monthly_income,
            employer_name: application.employer_name.map(Personal::new),
            employment_duration: application.employment_duration,
            existing_loans: application.existing_loans,
            collateral_type: application.collateral_type,
            guarantor_required: application.guarantor_required,
            origin: Some(origin),
        };
        let disbursed = Disbursed { by: None, transaction_id, amount: outstanding, note: None, rows, tie };
        Ok(vec![LoanEvent::Applied(Box::new(applied)), LoanEvent::Disbursed(Box::new(disbursed))])
    }

    /// From the next one on, on the day of the month on which the loan began, if the next one is.
    fn due_dates(&self) -> impl Iterator<Item = Date> + use<> {
        let next = self.next_due;
        let on = |day| Calendar::new(Frequency::Monthly, next, day, None).ok();
        let kept = on(Some(self.started.day())).filter(|calendar| calendar.from(next) == Some(next));
        let calendar = kept.or_else(|| on(None));
        std::iter::successors(Some(next), move |due| calendar.as_ref()?.after(*due))
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;
    use crate::aggregate::given::given;
    use crate::kernel::{Amount, Origin, midnight};
    use crate::loan_products::{LoanTerms, LoanType};
    use crate::loans::{Application, CollateralType, Loan, LoanCommand};

    fn taken(next_due: Date) -> TakeOver {
        let terms = LoanTerms {
            name: "Personal".into(),
            loan_type: LoanType::Personal,
            currency: crate::Currency::NGN,
            min_amount: 1,
            max_amount: 1,
            interest_rate: rust_decimal::Decimal::from(12),
            min_tenure: 1,
            max_tenure: 1,
            processing_fee: rust_decimal::Decimal::ZERO,
            insurance_fee: rust_decimal::Decimal::ZERO,
            eligibility_criteria: Vec::new(),
            required_documents: Vec::new(),
            guarantor_required: false,
            is_active: false,
        };
        let started = date(2025, 10, 31);
        TakeOver {
            application: Application {
                owner: "usr_0192f0c1a0007000800000000000000a".parse().unwrap(),
                product_id: "LN-PER-001".into(),
                terms,
                amount: Amount::try_from(1_200_000).unwrap(),
                tenure: 12,
                account: "1000000008".into(),
                purpose: None,
                employment_type: None,
                monthly_income: Amount::try_from(1).unwrap(),
                employer_name: None,
                employment_duration: None,
                existing_loans: Vec::new(),
                collateral_type: CollateralType::None,
                guarantor_required: false,
            },
            started,
            outstanding: Amount::try_from(900_000).unwrap(),
            paid: 3,
            next_due,
            transaction_id: "txn_0192f0c1a0007000800000000000000a".parse().unwrap(),
            origin: Origin { id: "L-1".into(), row: "ab".into(), at: midnight(started) },
        }
    }

    fn rows(next_due: Date) -> Vec<Row> {
        let events = taken(next_due).check().unwrap();
        let [LoanEvent::Applied(_), LoanEvent::Disbursed(disbursed)] = &*events else { panic!("{events:?}") };
        disbursed.rows.clone()
    }

    #[test]
    fn what_is_left_is_paid_in_the_instalments_that_are_left() {
        let rows = rows(date(2026, 2, 28));
        assert_eq!((rows.len(), rows[0].number, rows[8].number), (9, 4, 12));
        assert_eq!(rows.iter().map(|row| row.principal).sum::<i64>(), 900_000);
        assert_eq!(rows[0].interest, 9_000);
        // The day on which it began is kept.
        assert_eq!((rows[0].due, rows[1].due), (date(2026, 2, 28), date(2026, 3, 31)));
    }

    #[test]
    fn a_day_of_its_own_is_kept_too() {
        let rows = rows(date(2026, 2, 5));
        assert_eq!((rows[0].due, rows[1].due), (date(2026, 2, 5), date(2026, 3, 5)));
    }

    #[test]
    fn it_is_taken_over_once() {
        let events = taken(date(2026, 2, 28)).check().unwrap();
        let again = LoanCommand::TakeOver(Box::new(taken(date(2026, 2, 28))));
        given::<Loan>(&events).when(again).then_refused("INVALID_STATE");
    }
}
