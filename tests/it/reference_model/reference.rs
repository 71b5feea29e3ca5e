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
    Open {
        user: usize,
        product: usize,
        deposit: Option<(usize, i64)>,
    },
    Deposit {
        account: usize,
        amount: i64,
        dollars: bool,
    },
    Withdraw {
        account: usize,
        amount: i64,
        dollars: bool,
    },
    Pay {
        user: usize,
        from: usize,
        to: usize,
        amount: i64,
        dollars: bool,
    },
    Save {
        user: usize,
        from: usize,
        to: usize,
        amount: i64,
    },
    Freeze {
        account: usize,
    },
    Unfreeze {
        account: usize,
    },
    /// Out of the bank; with a fee it is a bill.
    Send {
        user: usize,
        from: usize,
        amount: i64,
        fee: Option<i64>,
        dollars: bool,
    },
    /// Into the bank, from a wallet.
    Fund {
        user: usize,
        to: usize,
        amount: i64,
        dollars: bool,
    },
    /// What the rail says about a payment; payments are numbered as they were made, round and round.
    Clear {
        payment: usize,
        arrives: bool,
    },
    Reverse {
        user: usize,
        payment: usize,
    },
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
    SpendsWhatIsReserved,
    KeepsTheFee,
    ReversesTwice,
}

#[derive(Debug, Clone)]
pub struct Held {
    owner: usize,
    product: usize,
    pub balance: i64,
    /// Of it, what has yet to arrive.
    pub reserved: i64,
    frozen: bool,
}

/// Between whom a payment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Between {
    /// A customer and the till.
    Cash,
    /// Two customers.
    Customers,
    /// Two accounts of one.
    Own,
    /// A customer and somebody outside.
    Out,
    /// Somebody outside and a customer.
    In,
    /// Whoever was paid, and the payer.
    Undo,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Made,
    Clearing,
    Settled,
    Returned,
    Reversed,
}

#[derive(Debug, Clone)]
struct Paid {
    between: Between,
    from: Option<usize>,
    to: Option<usize>,
    amount: i64,
    fee: i64,
    day: String,
    stage: Stage,
}

/// The second bank.
#[derive(Debug, Clone)]
pub struct Reference {
    pub wrong: Wrong,
    pub accounts: Vec<Held>,
    /// What left an account in a day (`2026-01-31`) or month (`2026-01`).
    spent: HashMap<(usize, String), i64>,
    payments: Vec<Paid>,
}

pub type Verdict = Result<(), &'static str>;

impl Reference {
    pub fn new(wrong: Wrong) -> Self {
        Self { wrong, accounts: Vec::new(), spent: HashMap::new(), payments: Vec::new() }
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
        let paid = |between, from, to, amount, fee| {
            let clears = matches!(between, Between::Out | Between::In);
            let stage = if clears { Stage::Clearing } else { Stage::Made };
            Paid { between, from, to, amount, fee, day: today.to_owned(), stage }
        };
        match *ask {
            Ask::Open { user, product, deposit } => {
                let source = deposit.map(|(source, _)| self.owned(user, source)).transpose()?;
                self.accounts.push(Held { owner: user, product, balance: 0, reserved: 0, frozen: false });
                if let (Some(source), Some((_, amount))) = (source, deposit) {
                    let currency = PRODUCTS[product].currency;
                    let opened = self.accounts.len() - 1;
                    self.debit(source, amount, currency, None)?;
                    self.credit(opened, amount, currency)?;
                    self.payments.push(paid(Between::Own, Some(source), Some(opened), amount, 0));
                }
            }
            Ask::Deposit { account, amount, dollars } => {
                self.credit(account, amount, currency(dollars))?;
                self.payments.push(paid(Between::Cash, None, Some(account), amount, 0));
            }
            Ask::Withdraw { account, amount, dollars } => {
                self.debit(account, amount, currency(dollars), Some(today))?;
                self.payments.push(paid(Between::Cash, Some(account), None, amount, 0));
            }
            Ask::Pay { user, from, to, amount, dollars } => {
                self.owned(user, from)?;
                different(from, to)?;
                self.debit(from, amount, currency(dollars), Some(today))?;
                self.credit(to, amount, currency(dollars))?;
                self.payments.push(paid(Between::Customers, Some(from), Some(to), amount, 0));
            }
            Ask::Save { user, from, to, amount } => {
                self.owned(user, from)?;
                self.owned(user, to)?;
                different(from, to)?;
                let limited = (self.wrong == Wrong::CountsOwnTransfers).then_some(today);
                self.debit(from, amount, "NGN", limited)?;
                self.credit(to, amount, "NGN")?;
                self.payments.push(paid(Between::Own, Some(from), Some(to), amount, 0));
            }
            Ask::Send { user, from, amount, fee, dollars } => {
                self.owned(user, from)?;
                self.debit(from, amount, currency(dollars), Some(today))?;
                if let Some(fee) = fee {
                    self.debit(from, fee, currency(dollars), Some(today))?;
                }
                self.payments.push(paid(Between::Out, Some(from), None, amount, fee.unwrap_or(0)));
            }
            Ask::Fund { user, to, amount, dollars } => {
                self.owned(user, to)?;
                self.credit(to, amount, currency(dollars))?;
                self.accounts[to].reserved += amount;
                self.payments.push(paid(Between::In, None, Some(to), amount, 0));
            }
            Ask::Clear { payment, arrives } => self.clear(payment, arrives)?,
            Ask::Reverse { user, payment } => {
                let undone = self.reverse(user, payment, today)?;
                self.payments.push(paid(Between::Undo, undone.to, undone.from, undone.amount, undone.fee));
            }
            Ask::Freeze { account } => self.set_frozen(account, true)?,
            Ask::Unfreeze { account } => self.set_frozen(account, false)?,
        }
        Ok(())
    }

    /// What has happened outside is not up to any account.
    fn clear(&mut self, payment: usize, arrives: bool) -> Verdict {
        let wrong = self.wrong;
        let paid = wrapped(&mut self.payments, payment)?;
        let after = if arrives { Stage::Settled } else { Stage::Returned };
        match paid.stage {
            Stage::Clearing => paid.stage = after,
            stage if stage == after => return Ok(()),
            _ => return Err("INVALID_STATE"),
        }
        match (paid.from, paid.to) {
            (Some(from), None) if !arrives => {
                let fee = if wrong == Wrong::KeepsTheFee { 0 } else { paid.fee };
                self.accounts[from].balance += paid.amount + fee;
            }
            (None, Some(to)) => {
                self.accounts[to].reserved -= paid.amount;
                self.accounts[to].balance -= if arrives { 0 } else { paid.amount };
            }
            _ => {}
        }
        Ok(())
    }

    /// What was undone.
    fn reverse(&mut self, user: usize, payment: usize, today: &str) -> Result<Paid, &'static str> {
        let paid = wrapped(&mut self.payments, payment)?.clone();
        let is_users =
            |account: Option<usize>| account.is_some_and(|account| self.accounts[account].owner == user);
        // Money from a wallet is brought by whoever gets it.
        let pays = is_users(paid.from) || (paid.between == Between::In && is_users(paid.to));
        if !pays && !is_users(paid.to) {
            return Err("NOT_FOUND");
        }
        let undone = paid.stage == Stage::Reversed && self.wrong != Wrong::ReversesTwice;
        if undone || paid.stage == Stage::Returned {
            return Err("INVALID_STATE");
        }
        match paid.between {
            Between::Own => {}
            Between::Customers if !pays || paid.day == today => {}
            Between::Customers => return Err("REVERSAL_WINDOW_CLOSED"),
            Between::Out if paid.stage == Stage::Clearing => {}
            Between::Out => return Err("INVALID_STATE"),
            Between::Cash | Between::In | Between::Undo => return Err("NOT_REVERSIBLE"),
        }
        let currency =
            |reference: &Self, account: usize| PRODUCTS[reference.accounts[account].product].currency;
        if let Some(to) = paid.to {
            let taken = self.debit(to, paid.amount, currency(self, to), None);
            // Why not is the payee's business.
            let discreet = pays && paid.between == Between::Customers;
            taken.map_err(|code| if discreet { "INSUFFICIENT_FUNDS" } else { code })?;
        }
        if let Some(from) = paid.from {
            self.credit(from, paid.amount, currency(self, from))?;
            if paid.fee > 0 {
                self.credit(from, paid.fee, currency(self, from))?;
            }
        }
        wrapped(&mut self.payments, payment)?.stage = Stage::Reversed;
        Ok(paid)
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
        let reserved = if wrong == Wrong::SpendsWhatIsReserved { 0 } else { held.reserved };
        if amount > held.balance - reserved - minimum {
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

/// The payment of that number, counted round and round.
fn wrapped(payments: &mut [Paid], n: usize) -> Result<&mut Paid, &'static str> {
    let count = payments.len();
    payments.get_mut(n % count.max(1)).ok_or("NOT_FOUND")
}

fn different(from: usize, to: usize) -> Verdict {
    if from == to { Err("SAME_ACCOUNT") } else { Ok(()) }
}
