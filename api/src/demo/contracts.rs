//! What some of the demo's people have beside everyday accounts: a loan, an application that waits for staff, a savings plan.

use bursar_commands::accounts::{self, NewAccount};
use bursar_commands::loans::{self, NewLoan};
use bursar_commands::users;
use bursar_domain::accounts::{SavingsFrequency, SavingsPlan};
use bursar_domain::kernel::{LoanId, UserId};
use bursar_domain::loans::{CollateralType, EmploymentType};
use bursar_domain::products::AccountType;
use bursar_domain::{Amount, Currency};
use jiff::SignedDuration;

use super::seed::{Customer, Error, Seed, origin};

/// What somebody wants to borrow, and why.
struct Wish {
    product: &'static str,
    minor: i64,
    months: u32,
    purpose: &'static str,
}

impl Seed<'_> {
    /// On the first day: Ada borrows, Bola asks for a loan, Chidi saves for something.
    pub(super) async fn contracts(self, people: &[Customer]) -> Result<(), Error> {
        let [ada, bola, chidi, ..] = people else { return Ok(()) };
        let roof = Wish { product: "LN-PER-002", minor: 10_000_000, months: 6, purpose: "A new roof" };
        let loan = self.apply(ada, roof).await?;
        let (teller, approver) =
            (self.staff("teller@example.com").await?, self.staff("approver@example.com").await?);
        loans::start_review(self.journal, origin("demo:loan"), teller, loan, None).await?;
        loans::approve(self.journal, origin("demo:loan"), approver, loan, None).await?;
        loans::disburse(self.journal, origin("demo:loan"), teller, loan, None).await?;
        let shop = Wish { product: "LN-PER-002", minor: 5_000_000, months: 6, purpose: "Stock for my shop" };
        self.apply(bola, shop).await?;
        self.plan(chidi).await
    }

    async fn staff(self, email: &str) -> Result<UserId, Error> {
        let found = users::by_email(self.journal, self.keys, email).await?;
        found.ok_or_else(|| "the demo's staff are not in this bank".into())
    }

    async fn apply(self, customer: &Customer, wish: Wish) -> Result<LoanId, Error> {
        let new = NewLoan {
            product_id: wish.product.to_owned(),
            amount: Amount::try_from(wish.minor)?,
            tenure: wish.months,
            account: customer.current.clone(),
            purpose: Some(wish.purpose.to_owned()),
            employment_type: Some(EmploymentType::Employed),
            monthly_income: Amount::try_from(40_000_000)?,
            employer_name: Some("A school".to_owned()),
            employment_duration: Some(36),
            existing_loans: Vec::new(),
            collateral_type: CollateralType::None,
            guarantor_required: false,
        };
        let applied = loans::apply(self.journal, origin("demo:loan"), new).await?;
        let loan = applied.events.first().ok_or("an application without an event")?;
        Ok(loan.stream.id.parse()?)
    }

    /// 2,000 naira a week toward a motorcycle, for a year.
    async fn plan(self, customer: &Customer) -> Result<(), Error> {
        let owner = customer.current.owner();
        let ends = self.journal.sources().clock.now() + SignedDuration::from_hours(24 * 364);
        let request = NewAccount {
            name: Some("Motorcycle".to_owned()),
            product_id: "TSV-001".to_owned(),
            account_type: Some(AccountType::TargetSavings),
            currency: Currency::NGN,
            initial_deposit: Some((Amount::try_from(500_000)?, customer.current.clone())),
            plan: Some(SavingsPlan {
                goal: Some(11_000_000),
                frequency: Some(SavingsFrequency::Weekly),
                amount: Some(200_000),
                maturity_date: Some(ends),
            }),
            saves_from: Some(customer.current.clone()),
        };
        accounts::open(self.journal, &origin("demo:open"), owner, request).await?;
        Ok(())
    }
}
