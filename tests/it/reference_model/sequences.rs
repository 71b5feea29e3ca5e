//! Random sequences of requests.

use bursar_domain::Amount;
use proptest::prelude::*;

use super::reference::{Ask, PRODUCTS};

pub const USERS: usize = 3;
/// What every account of the prelude begins with.
pub const FUNDS: i64 = 900_000_000;

/// One thing that happens to both banks.
#[derive(Debug, Clone)]
pub enum Step {
    Ask(Ask),
    /// The n-th request so far once more, under its key.
    Again(usize),
    /// Something else under the key of the n-th request so far.
    OtherBody(usize, Ask),
    NextDay,
}

/// Sums on both sides of every bound there is.
fn amount() -> impl Strategy<Value = i64> {
    let limits = [100_000, 1_000_000, 200_000_000, 500_000_000, 50_000_000_000, Amount::MAX - 1];
    let bounds = [&limits[..], &[FUNDS, FUNDS - 100_000]].concat();
    prop_oneof![
        4 => 1..=1_000_000_i64,
        3 => (prop::sample::select(bounds), -1..=1_i64).prop_map(|(bound, by)| bound + by),
        2 => 1..=300_000_000_i64,
        1 => 1..=60_000_000_000_i64,
    ]
}

fn ask() -> impl Strategy<Value = Ask> {
    let account = || 0..9_usize;
    let user = || 0..USERS;
    let dollars = || prop::bool::weighted(0.15);
    prop_oneof![
        2 => (user(), 0..PRODUCTS.len(), prop::option::of((account(), amount())))
            .prop_map(|(user, product, deposit)| Ask::Open { user, product, deposit }),
        4 => (account(), amount(), dollars())
            .prop_map(|(account, amount, dollars)| Ask::Deposit { account, amount, dollars }),
        3 => (account(), amount(), dollars())
            .prop_map(|(account, amount, dollars)| Ask::Withdraw { account, amount, dollars }),
        // Mostly from accounts of one's own: account n is first opened by user n modulo 3.
        8 => (account(), account(), amount(), dollars(), prop::bool::weighted(0.1)).prop_map(
            |(from, to, amount, dollars, stranger)| Ask::Pay { user: (from + usize::from(stranger)) % USERS, from, to, amount, dollars }
        ),
        4 => (user(), 0..2_usize, 0..2_usize, amount())
            .prop_map(|(user, from, to, amount)| Ask::Save { user, from: user + USERS * from, to: user + USERS * to, amount }),
        5 => (account(), amount(), prop::option::of(1..=20_000_i64), dollars()).prop_map(
            |(from, amount, fee, dollars)| Ask::Send { user: from % USERS, from, amount, fee, dollars }
        ),
        3 => (account(), amount(), dollars())
            .prop_map(|(to, amount, dollars)| Ask::Fund { user: to % USERS, to, amount, dollars }),
        4 => (any::<usize>(), any::<bool>()).prop_map(|(payment, arrives)| Ask::Clear { payment, arrives }),
        4 => (user(), any::<usize>()).prop_map(|(user, payment)| Ask::Reverse { user, payment }),
        1 => account().prop_map(|account| Ask::Freeze { account }),
        1 => account().prop_map(|account| Ask::Unfreeze { account }),
    ]
}

pub fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => ask().prop_map(Step::Ask),
        2 => any::<usize>().prop_map(Step::Again),
        1 => (any::<usize>(), ask()).prop_map(|(n, ask)| Step::OtherBody(n, ask)),
        1 => Just(Step::NextDay),
    ]
}

/// Everybody has a current and a savings account with something in it.
pub fn prelude() -> Vec<Step> {
    let open = |product| move |user| Ask::Open { user, product, deposit: None };
    let fund = |account| Ask::Deposit { account, amount: FUNDS, dollars: false };
    let asks = (0..USERS).map(open(0)).chain((0..USERS).map(open(1))).chain((0..2 * USERS).map(fund));
    asks.map(Step::Ask).collect()
}
