//! The second bank: what the rules say, and nothing about how the first one does it.

use std::collections::HashMap;

/// The products, copied by hand. All sums in minor units.
pub struct Product {
    pub id: &'static str,
    pub currency: &'static str,
    minimum: i64,
    maximum: i64,
    daily: i64,
    monthly: i64,
}

pub const PRODUCTS: [Product; 4] = [
    Product {
        id: "CUR-001",
        currency: "NGN",
        minimum: 0,
        maximum: i64::MAX,
        daily: 500_000_000,
        monthly: 5_000_000_000,
    },
    Product {
        id: "SAV-001",
        currency: "NGN",
        minimum: 100_000,
        maximum: 50_000_000_000,
        daily: 200_000_000,
        monthly: 2_000_000_000,
    },
    Product {
        id: "CUR-002",
        currency: "USD",
        minimum: 0,
        maximum: i64::MAX,
        daily: 1_000_000,
        monthly: 10_000_000,
    },
    Product {
        id: "TSV-001",
        currency: "NGN",
        minimum: 0,
        maximum: 50_000_000_000,
        daily: 200_000_000,
        monthly: 2_000_000_000,
    },
];

/// What somebody asks for. Accounts are numbered as they were opened; one number too many is nobody's.
#[derive(Debug, Clone, PartialEq)]
pub enum Ask {
    Open { user: usize, product: usize, deposit: Option<(usize, i64)> },
    Deposit { account: usize, amount: i64, dollars: bool },
    Withdraw { account: usize, amount: i64, dollars: bool },
    Pay { user: usize, from: usize, to: usize, amount: i64, dollars: bool },
    Save { user: usize, from: usize, to: usize, amount: i64 },
    Freeze { account: usize },
    Unfreeze { account: usize },
}

/// What a bank can get wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    Nothing,
    SpendsTheMinimum,
    PaysFromFrozen,
    CountsOwnTransfers,
    ForgetsTheDay,
    FillsPastTheMaximum,
    RepeatsPayAgain,
    KeepsHalfOfARefusal,
}

#[derive(Debug, Clone)]
pub struct Held {
    owner: usize,
    product: usize,
    pub balance: i64,
    frozen: bool,
}

/// The second bank.
#[derive(Debug, Clone)]
pub struct Reference {
    pub wrong: Wrong,
    pub accounts: Vec<Held>,
    /// What left an account in a day (`2026-01-31`) or month (`2026-01`).
    spent: HashMap<(usize, String), i64>,
}

pub type Verdict = Result<(), &'static str>;

impl Reference {
    pub fn new(wrong: Wrong) -> Self {
        Self { wrong, accounts: Vec::new(), spent: HashMap::new() }
    }

    /// Carries out what is asked, or says why not and leaves no trace.
    pub fn answer(&mut self, ask: &Ask, today: &str) -> Verdict {
        let before = self.clone();
        let verdict = self.carry_out(ask, today);
        if verdict.is_err() && self.wrong != Wrong::KeepsHalfOfARefusal {
            *self = before;
        }
        verdict
    }

    fn carry_out(&mut self, ask: &Ask, today: &str) -> Verdict {
        let currency = |dollars| if dollars { "USD" } else { "NGN" };
        match *ask {
            Ask::Open { user, product, deposit } => {
                let source = deposit.map(|(source, _)| self.owned(user, source)).transpose()?;
                self.accounts.push(Held { owner: user, product, balance: 0, frozen: false });
                if let (Some(source), Some((_, amount))) = (source, deposit) {
                    let currency = PRODUCTS[product].currency;
                    self.debit(source, amount, currency, None)?;
                    self.credit(self.accounts.len() - 1, amount, currency)?;
                }
            }
            Ask::Deposit { account, amount, dollars } => self.credit(account, amount, currency(dollars))?,
            Ask::Withdraw { account, amount, dollars } => {
                self.debit(account, amount, currency(dollars), Some(today))?
            }
            Ask::Pay { user, from, to, amount, dollars } => {
                self.owned(user, from)?;
                different(from, to)?;
                self.debit(from, amount, currency(dollars), Some(today))?;
                self.credit(to, amount, currency(dollars))?;
            }
            Ask::Save { user, from, to, amount } => {
                self.owned(user, from)?;
                self.owned(user, to)?;
                different(from, to)?;
                let limited = (self.wrong == Wrong::CountsOwnTransfers).then_some(today);
                self.debit(from, amount, "NGN", limited)?;
                self.credit(to, amount, "NGN")?;
            }
            Ask::Freeze { account } => self.set_frozen(account, true)?,
            Ask::Unfreeze { account } => self.set_frozen(account, false)?,
        }
        Ok(())
    }

    fn owned(&self, user: usize, account: usize) -> Result<usize, &'static str> {
        let held = self.accounts.get(account).filter(|held| held.owner == user);
        held.map(|_| account).ok_or("NOT_FOUND")
    }

    /// `limited_on`: the day on which the account's limits count it.
    fn debit(&mut self, account: usize, amount: i64, currency: &str, limited_on: Option<&str>) -> Verdict {
        let wrong = self.wrong;
        let held = self.accounts.get_mut(account).ok_or("NOT_FOUND")?;
        let product = &PRODUCTS[held.product];
        if product.currency != currency {
            return Err("CURRENCY_MISMATCH");
        }
        if held.frozen && wrong != Wrong::PaysFromFrozen {
            return Err("INVALID_STATE");
        }
        let minimum = if wrong == Wrong::SpendsTheMinimum { 0 } else { product.minimum };
        if amount > held.balance - minimum {
            return Err("INSUFFICIENT_FUNDS");
        }
        held.balance -= amount;
        let Some(today) = limited_on else { return Ok(()) };
        let day = if wrong == Wrong::ForgetsTheDay { "today" } else { today };
        for (period, most) in [(day, product.daily), (&today[..7], product.monthly)] {
            let spent = self.spent.entry((account, period.to_owned())).or_default();
            *spent += amount;
            if *spent > most {
                return Err("LIMIT_EXCEEDED");
            }
        }
        Ok(())
    }

    fn credit(&mut self, account: usize, amount: i64, currency: &str) -> Verdict {
        let held = self.accounts.get_mut(account).ok_or("NOT_FOUND")?;
        let product = &PRODUCTS[held.product];
        if product.currency != currency {
            return Err("CURRENCY_MISMATCH");
        }
        held.balance += amount;
        let full = held.balance > product.maximum && self.wrong != Wrong::FillsPastTheMaximum;
        if full { Err("LIMIT_EXCEEDED") } else { Ok(()) }
    }

    fn set_frozen(&mut self, account: usize, frozen: bool) -> Verdict {
        let held = self.accounts.get_mut(account).ok_or("NOT_FOUND")?;
        if held.frozen == frozen {
            return Err("INVALID_STATE");
        }
        held.frozen = frozen;
        Ok(())
    }
}

fn different(from: usize, to: usize) -> Verdict {
    if from == to { Err("SAME_ACCOUNT") } else { Ok(()) }
}
