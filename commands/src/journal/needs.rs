//! What a batch is certain to need, known before any of it is decided. The rest shows when it is decided, and then everything
//! is decided anew: of a unit with hundreds of commands hundreds of times.

use bursar_domain::accounts::AccountCommand;
use bursar_domain::cards::CardCommand;
use bursar_domain::kernel::UserId;
use bursar_domain::loans::LoanCommand;
use bursar_domain::mandates::MandateCommand;
use bursar_domain::payments::PaymentCommand;
use bursar_domain::users::UserCommand;
use bursar_domain::{AccountNumber, Command};

use super::plan::{Memory, Misses};
use super::unit::{Step, Unit, Work};

impl Memory {
    /// What is certain to be needed. Whether an idempotency key is known, the append tells.
    pub(super) fn needs<'a>(&mut self, units: impl Iterator<Item = &'a Unit>) -> Misses {
        let mut misses = Misses::default();
        for unit in units {
            misses.claims.extend(unit.claims.iter().map(|claim| (claim.namespace, claim.hash)));
            misses.claims.extend(unit.releases.iter().map(|release| (release.namespace, release.hash)));
            for step in &unit.steps {
                let known = self.streams.touch(&step.stream) || (step.fresh && self.trust_fresh);
                if !known {
                    misses.streams.insert(step.stream.clone());
                }
                let Work::Decide(command) = &step.work else { continue };
                for account in accounts(command).into_iter().flatten() {
                    if !self.accounts.touch(account) {
                        misses.accounts.insert(account.clone());
                    }
                }
                self.begins(step, command, &mut misses);
            }
        }
        misses
    }

    /// What the first event of an aggregate needs: an account its place in the ledger, anything personal somebody's key.
    fn begins(&mut self, step: &Step, command: &Command, misses: &mut Misses) {
        let subject = match command {
            Command::Account(AccountCommand::Open(open) | AccountCommand::TakeOver { open, .. }) => {
                let number = AccountNumber::from(step.stream.id.as_str());
                if !self.accounts.touch(&number) {
                    misses.accounts.insert(number);
                }
                Some(open.owner)
            }
            Command::User(UserCommand::Register(_) | UserCommand::TakeOver { .. }) => {
                step.stream.id.parse().ok()
            }
            Command::Mandate(MandateCommand::SetUp(new)) => Some(new.owner),
            Command::Loan(LoanCommand::TakeOver(taken)) => Some(taken.application.owner),
            Command::Card(CardCommand::Link { card, .. }) => Some(card.owner),
            _ => None,
        };
        misses.data_keys.extend(subject.filter(|subject: &UserId| self.vault.get(*subject).is_none()));
    }
}

/// The ledger accounts that a command names.
fn accounts(command: &Command) -> [Option<&AccountNumber>; 2] {
    match command {
        Command::Payment(PaymentCommand::Pay(pay)) => [Some(&pay.source), Some(&pay.destination)],
        Command::Loan(LoanCommand::TakeOver(taken)) => [Some(&taken.application.account), None],
        _ => [None, None],
    }
}
