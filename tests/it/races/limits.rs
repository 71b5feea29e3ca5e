//! T18: sixteen race for what is left of a day's limit. Exactly as many get through as it covers.

use bursar_commands::Context;
use bursar_commands::payments::{self, Transfer};
use bursar_domain::{Amount, Currency};
use jiff::SignedDuration;

use crate::support::Bank;
use crate::support::chance::{Chance, did, scaled};
use crate::support::payer::{Payer, race};

const RACERS: usize = 16;
const ROUNDS: usize = 40;
/// What each racer wants to spend, kobo.
const SHARE: i64 = 100;
/// What a current account may spend in a day.
const DAILY: i64 = 500_000_000;

#[tokio::test(flavor = "multi_thread")]
async fn sixteen_racers_spend_what_a_limit_leaves_and_no_more() {
    let mut chance = Chance::new();
    let bank = Bank::open().await;
    let (second, _) = bank.second().await;
    // What else happens once a month is not what this is about.
    let sql = "DELETE FROM schedule WHERE task IN ('interest.post', 'account.silence')";
    sqlx::query(sql).execute(&bank.pool).await.unwrap();
    let here = Payer::at(&bank.app, "ada@example.com").await;
    let there = Payer::at(&second, "ada@example.com").await;
    let chidi = Payer::at(&bank.app, "chidi@example.com").await;
    let racers: Vec<Payer> =
        (0..RACERS).map(|n| if n % 2 == 0 { here.clone() } else { there.clone() }).collect();
    let rich = Transfer {
        amount: Amount::try_from(Amount::MAX).unwrap(),
        currency: Currency::NGN,
        narration: None,
        reference: None,
    };
    payments::deposit(&bank.app.journal, Context::default(), here.number().into(), rich).await.unwrap();
    for round in 0..scaled(ROUNDS) {
        // Another month: the day's limit is whole, and so is the month's, which is ten times as much.
        bank.advance(SignedDuration::from_hours(32 * 24));
        let covered = chance.between(0, 10);
        let rest = i64::try_from(chance.between(0, 99)).unwrap();
        here.pay(&chidi, DAILY - SHARE * i64::try_from(covered).unwrap() - rest, None).await.unwrap();
        let paid = race(&racers, &chidi, SHARE, "LIMIT_EXCEEDED").await;
        assert_eq!(u64::try_from(paid).unwrap(), covered, "round {round}");
    }
    did(scaled(ROUNDS), "races for a limit");
    second.close().await;
    bank.caught_up().await;
    bank.close().await;
}
