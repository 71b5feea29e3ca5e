//! T33: two servers write one log, and the clock of one of them goes back by an hour, and forward by a day, again and again.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use bursar_api::app::{App, Wiring};
use bursar_api::sources::{self, BankClock};
use bursar_commands::vault::unlock;
use bursar_domain::Clock;
use bursar_domain::kernel::Sources;
use futures_util::future::join_all;
use jiff::{SignedDuration, Timestamp};

use crate::support::chance::{Chance, did, scaled};
use crate::support::payer::Payer;
use crate::support::{Bank, config, master_key, pool};

const PAYERS: usize = 10;
const PAYMENTS: usize = 50;
const HOUR: i64 = 60 * 60;

/// Says something else than it should, and goes back.
struct Stepping {
    clock: Arc<BankClock>,
    off_by: AtomicI64,
}

impl Clock for Stepping {
    fn now(&self) -> Timestamp {
        self.clock.now() + SignedDuration::from_secs(self.off_by.load(Ordering::SeqCst))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_its_clock_says_a_server_writes_no_past() {
    let mut chance = Chance::new();
    let bank = Bank::open().await;
    let (straight, clock) = sources::system();
    let stepping = Arc::new(Stepping { clock: Arc::clone(&clock), off_by: AtomicI64::new(0) });
    let sources = Sources { clock: Arc::clone(&stepping) as Arc<dyn Clock>, entropy: straight.entropy };
    let pool = pool(bank.url());
    let secrets = unlock(&pool, &master_key(), &sources).await.unwrap();
    let wiring = Wiring { pool, sources, clock, secrets, devices: None };
    let crooked = App::build(config(), wiring).await.unwrap();
    let before = bank.done().await;
    let mut payers = Vec::new();
    for app in [&bank.app, &crooked] {
        let ada = Payer::at(app, "ada@example.com").await;
        let bola = Payer::at(app, "bola@example.com").await;
        payers.extend((0..PAYERS).map(|n| {
            let (from, to) =
                if n % 2 == 0 { (ada.clone(), bola.clone()) } else { (bola.clone(), ada.clone()) };
            tokio::spawn(async move {
                for _ in 0..scaled(PAYMENTS) {
                    from.pay(&to, 1, None).await.unwrap();
                }
            })
        }));
    }
    let all = join_all(payers);
    tokio::pin!(all);
    let mut steps = 0;
    loop {
        let to = chance.one_of(&[-HOUR, 0, -1, HOUR, -24 * HOUR, 24 * HOUR]);
        stepping.off_by.store(to, Ordering::SeqCst);
        steps += 1;
        tokio::select! {
            paid = &mut all => break paid.into_iter().for_each(|paid| paid.unwrap()),
            () = tokio::time::sleep(chance.millis(1, 20)) => {}
        }
    }
    let payments = 2 * PAYERS * scaled(PAYMENTS);
    assert_eq!(bank.done().await - before, i64::try_from(payments).unwrap());
    did(payments, "payments");
    did(steps, "steps of a clock");
    // A server that was told of tomorrow by the log does not believe in yesterday: what it hands out now is good now.
    let ada = bank.ada().await;
    ada.client.pay(&ada.current, &ada.savings, 1, "still").await.is(201);
    crooked.close().await;
    bank.caught_up().await;
    bank.close().await;
}
