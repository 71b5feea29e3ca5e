//! Interest of savings: what the days earned is posted once, whatever happens in between.

use std::sync::Arc;

use bursar_api::App;
use bursar_commands::interest::{self, POST, PostInterest};
use bursar_commands::processes::{Done, Task as _, Work};
use bursar_commands::{Context, Unit, audit, products};
use bursar_domain::accounts::Stretch;
use bursar_domain::kernel::{TransactionId, half_even, midnight, utc_date};
use bursar_domain::payments::{Pay, PaymentCommand, PaymentKind};
use bursar_domain::products::{Product, ProductTerms};
use bursar_domain::{Amount, Currency};
use futures_util::future::join;
use jiff::ToSpan as _;
use jiff::civil::Date;
use serde_json::{Value, json};

use crate::support::client::transfer;
use crate::support::{Bank, Person, check, codec, inside};

/// A posting as the log has it.
#[derive(Debug, PartialEq, Eq)]
struct Posted {
    account: String,
    from: String,
    through: String,
    amount: i64,
}

/// All of them, in the order of the log.
async fn postings(bank: &Bank) -> Vec<Posted> {
    let sql = "SELECT payload->'completed'->>'destination', payload->'completed'->'earned'->>'from',
                      payload->'completed'->'earned'->>'through', (payload->'completed'->>'amount')::bigint
                 FROM events WHERE payload->'completed'->>'kind' = 'SAVINGS_INTEREST' ORDER BY position";
    let rows: Vec<(String, String, String, i64)> = sqlx::query_as(sql).fetch_all(&bank.pool).await.unwrap();
    rows.into_iter()
        .map(|(account, from, through, amount)| Posted { account, from, through, amount })
        .collect()
}

fn today(bank: &Bank) -> Date {
    utc_date(bank.app.journal.sources().clock.now())
}

/// The first of the month `months` from now.
fn first(bank: &Bank, months: i32) -> Date {
    today(bank).first_of_month().checked_add(months.months()).unwrap()
}

/// Moves the clock to the first moment of a day, and lets what is due be done.
async fn on(bank: &Bank, day: Date) {
    bank.client().post("/v1/sandbox/clock", &json!({"to": midnight(day)})).await.is(200);
    bank.caught_up().await;
}

/// What so many days of a balance earn at 4.25 percent a year.
fn earned(balance: i64, days: i32) -> i64 {
    let exact = i128::from(balance) * 425 * i128::from(days);
    i64::try_from(half_even(exact, 3_650_000).unwrap()).unwrap()
}

fn days_between(from: Date, to: Date) -> i32 {
    (to - from).get_days()
}

async fn history(person: &Person, from: Date, to: Date) -> Vec<Value> {
    let path = format!("/v1/accounts/{}/history?from={from}&to={to}&size=100", person.savings);
    person.client.get(&path).await.is(200).list_at("balanceHistory").to_vec()
}

fn sum(days: &[Value]) -> i64 {
    days.iter().map(|day| day["interestEarned"].as_i64().unwrap()).sum()
}

#[tokio::test]
async fn what_the_days_earned_is_posted_on_the_first_by_the_contract() {
    let bank = Bank::open().await;
    let (begins, next) = (today(&bank), first(&bank, 1));
    let ada = bank.ada().await;
    let has = ada.client.balance(&ada.savings).await;
    // Whoever has an account has its rate.
    let (product, _) = bank.app.journal.load::<Product>("SAV-001").await.unwrap();
    let terms = product.on_offer().unwrap().clone();
    let usury = ProductTerms {
        interest_rate: 99.into(),
        minimum_balance: i64::MAX / 2,
        maximum_balance: None,
        ..terms
    };
    products::define(&bank.app.journal, Context::default(), "SAV-001", usury).await.unwrap();
    on(&bank, next.yesterday().unwrap()).await;
    assert_eq!(postings(&bank).await, []);
    on(&bank, next).await;
    let ada = bank.ada().await;
    let posted = postings(&bank).await;
    assert_eq!(posted.len(), 3, "Ada, Bola and Chidi: {posted:?}");
    let of_ada = posted.iter().find(|posted| posted.account == ada.savings).unwrap();
    let amount = earned(has, days_between(begins, next));
    let last = next.yesterday().unwrap();
    assert_eq!(
        *of_ada,
        Posted { account: ada.savings.clone(), from: begins.to_string(), through: last.to_string(), amount }
    );
    assert_eq!(ada.client.balance(&ada.savings).await, has + amount);
    assert_eq!(
        bank.internal("interest_expense").await,
        -posted.iter().map(|posted| posted.amount).sum::<i64>()
    );
    // A day has a row, moved or quiet, and the days add up.
    let days = history(&ada, begins, last).await;
    assert_eq!(i32::try_from(days.len()).unwrap(), days_between(begins, next));
    assert_eq!(sum(&days), amount);
    assert!(days.iter().all(|day| day["ledgerBalance"] == has && day["interestEarned"].as_i64() > Some(0)));
    let entry = ada.client.get(&format!("/v1/accounts/{}/statement?size=1", ada.savings)).await.is(200);
    let entry = &entry.list_at("transactions")[0];
    assert_eq!(
        (&entry["description"], &entry["amount"], &entry["type"]),
        (&json!("Interest"), &json!(amount), &json!("CREDIT"))
    );
    assert_eq!(entry["transactionDate"].as_str().unwrap()[..11], format!("{next}T"));
    let read = format!("/v1/transactions/{}", entry["transactionId"].as_str().unwrap());
    let read = ada.client.get(&read).await.is(200).body;
    assert_eq!((&read["type"], &read["direction"]), (&json!("SAVINGS_INTEREST"), &json!("CREDIT")));
    // Interest earns interest, and every month is worked out by itself.
    let after = first(&bank, 1);
    on(&bank, after).await;
    let ada = bank.ada().await;
    let second = earned(has + amount, days_between(next, after));
    assert_eq!(ada.client.balance(&ada.savings).await, has + amount + second);
    let rows: i64 = sqlx::query_scalar("SELECT count(*) FROM schedule WHERE task = $1")
        .bind(POST)
        .fetch_one(&bank.pool)
        .await
        .unwrap();
    assert_eq!(rows, 1, "one row for all accounts");
    bank.close().await;
}

#[tokio::test]
async fn a_balance_that_changes_earns_for_each_day_what_it_was_at_its_end() {
    let bank = Bank::open().await;
    let (begins, half) = (first(&bank, 1), first(&bank, 1).saturating_add(14.days()));
    on(&bank, begins).await;
    let ada = bank.ada().await;
    let has = ada.client.balance(&ada.savings).await;
    on(&bank, half).await;
    let ada = bank.ada().await;
    // There and back again within a day is as if nothing had happened; in the end half of it goes.
    for (from, to, amount) in [
        (&ada.savings, &ada.current, has / 2),
        (&ada.current, &ada.savings, has / 2),
        (&ada.savings, &ada.current, has / 2),
    ] {
        ada.client.post("/v1/payments/transfer/self", &transfer(from, to, amount)).await.is(201);
    }
    let next = first(&bank, 1);
    on(&bank, next).await;
    let ada = bank.ada().await;
    let left = i128::from(has - has / 2);
    let exact = (i128::from(has) * i128::from(days_between(begins, half))
        + left * i128::from(days_between(half, next)))
        * 425;
    let amount = i64::try_from(half_even(exact, 3_650_000).unwrap()).unwrap();
    assert_eq!(ada.client.balance(&ada.savings).await, has - has / 2 + amount);
    assert_eq!(sum(&history(&ada, begins, next.yesterday().unwrap()).await), amount);
    // Below its minimum balance it earns nothing.
    let all =
        ada.client.get(&format!("/v1/accounts/{}/balance", ada.savings)).await.number_at("availableBalance");
    ada.client.post("/v1/payments/transfer/self", &transfer(&ada.savings, &ada.current, all)).await.is(201);
    let minimum =
        ada.client.get(&format!("/v1/accounts/{}/balance", ada.savings)).await.number_at("ledgerBalance");
    let after = first(&bank, 1);
    on(&bank, after).await;
    let ada = bank.ada().await;
    assert_eq!(ada.client.balance(&ada.savings).await, minimum + earned(minimum, days_between(next, after)));
    bank.close().await;
}

#[tokio::test]
async fn after_months_of_downtime_the_oldest_month_is_posted_first_and_each_once() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let has = ada.client.balance(&ada.savings).await;
    let (begins, far) = (today(&bank), first(&bank, 5));
    on(&bank, far).await;
    let posted = postings(&bank).await;
    assert_eq!(posted.len(), 5 * 3);
    assert!(posted.is_sorted_by_key(|posted| posted.through.clone()), "{posted:?}");
    let of_ada: Vec<_> = posted.iter().filter(|posted| posted.account == ada.savings).collect();
    let mut from = begins;
    for posted in of_ada {
        let through = from.last_of_month();
        assert_eq!((&posted.from, &posted.through), (&from.to_string(), &through.to_string()));
        // Nothing is back-dated: what was posted late has earned nothing before.
        from = through.tomorrow().unwrap();
        assert_eq!(posted.amount, earned(has, days_between(through.first_of_month().max(begins), from)));
    }
    let ada = bank.ada().await;
    assert_eq!(
        sum(&history(&ada, first(&bank, -1), far.yesterday().unwrap()).await),
        earned(has, days_between(first(&bank, -1), far))
    );
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_and_passes_cut_anywhere_post_once() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let other = bank.second_through(bank.url()).await;
    let task = |app: &App| PostInterest::new(app.journal.clone(), Arc::clone(&app.day_ends));
    let (one, two) = (task(&bank.app), task(&other));
    for month in 1..=3 {
        let (begins, next) = (first(&bank, 0), first(&bank, 1));
        // Nobody else does it meanwhile.
        let hold = "UPDATE schedule SET leased_until = 'infinity' WHERE task = $1";
        sqlx::query(hold).bind(POST).execute(&bank.pool).await.unwrap();
        bank.clock.advance(midnight(next).duration_since(bank.app.journal.sources().clock.now()));
        let due_at = midnight(next);
        let work = Work { subject: begins.to_string(), due_at, now: due_at, attempt: 1 };
        // Something of the new month for the other server to see.
        pay_a_kobo(&bank, &ada, &bola).await;
        for polls in 1..25 {
            if let Some(done) = inside::polled(one.run(&work), polls).await {
                assert_eq!(done.unwrap(), Done::Finished);
            }
        }
        let (here, there) = join(one.run(&work), two.run(&work)).await;
        assert_eq!((here.unwrap(), there.unwrap()), (Done::Finished, Done::Finished));
        let posted = postings(&bank).await;
        assert_eq!(posted.len(), 3 * month, "{posted:?}");
        let release = "DELETE FROM schedule WHERE task = $1 AND leased_until IS NOT NULL";
        sqlx::query(release).bind(POST).execute(&bank.pool).await.unwrap();
    }
    check(&bank.pool).await;
    other.close().await;
    bank.close().await;
}

/// A transfer without a login: those have ended long ago.
async fn pay_a_kobo(bank: &Bank, from: &Person, to: &Person) {
    let (source, destination) = (from.current.as_str().into(), to.current.as_str().into());
    let amount = Amount::try_from(1).unwrap();
    let pay =
        Pay::between(PaymentKind::Internal, source, destination, amount, Currency::NGN, "KOBO".to_owned());
    let id = TransactionId::mint(bank.app.journal.sources());
    let unit = Unit::new(Context::default()).create(id, PaymentCommand::Pay(Box::new(pay)));
    bank.app.journal.submit(unit).await.unwrap();
}

#[tokio::test]
async fn an_account_that_is_settled_is_owed_nothing_and_its_days_still_add_up() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let has = ada.client.balance(&ada.savings).await;
    let begins = today(&bank);
    // In the middle of a month, and nobody has posted the ones before.
    let hold = "UPDATE schedule SET leased_until = 'infinity' WHERE task = $1";
    sqlx::query(hold).bind(POST).execute(&bank.pool).await.unwrap();
    let next = first(&bank, 1);
    let middle = next.saturating_add(9.days());
    bank.clock.advance(midnight(middle).duration_since(bank.app.journal.sources().clock.now()));
    let (journal, days) = (&bank.app.journal, &*bank.app.day_ends);
    let number = ada.savings.as_str().into();
    let (unit, sum_) = interest::settle(journal, days, Unit::new(Context::default()), &number).await.unwrap();
    assert_eq!(sum_, earned(has, days_between(begins, next)) + earned(has, 9));
    journal.submit(unit).await.unwrap();
    let (_, nothing) = interest::settle(journal, days, Unit::new(Context::default()), &number).await.unwrap();
    assert_eq!(nothing, 0);
    let current = ada.current.as_str().into();
    assert_eq!(interest::settle(journal, days, Unit::new(Context::default()), &current).await.unwrap().1, 0);
    // It stays open: the rest of the month is posted when it is over.
    let release = "UPDATE schedule SET leased_until = NULL WHERE task = $1";
    sqlx::query(release).bind(POST).execute(&bank.pool).await.unwrap();
    let after = first(&bank, 1);
    on(&bank, after).await;
    let posted: Vec<_> =
        postings(&bank).await.into_iter().filter(|posted| posted.account == ada.savings).collect();
    assert_eq!(posted.len(), 3, "{posted:?}");
    assert_eq!(posted[2].from, middle.to_string());
    let ada = bank.ada().await;
    let all = sum(&history(&ada, begins, after.yesterday().unwrap()).await);
    assert_eq!(all, posted.iter().map(|posted| posted.amount).sum::<i64>());
    bank.close().await;
}

/// Control: interest at a rate that is not the contract's is found by whoever reads the log alone.
#[tokio::test]
async fn interest_that_was_not_earned_is_found_by_the_audit() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    bank.caught_up().await;
    let more = "UPDATE accounts SET interest_rate = 9 WHERE account_number = $1";
    sqlx::query(more).bind(&ada.savings).execute(&bank.pool).await.unwrap();
    on(&bank, first(&bank, 1)).await;
    let report = audit::replay(&bank.pool, &*codec(&bank.pool).await, &mut |_, _| {}).await.unwrap();
    let found = report.difference.expect("nobody noticed");
    assert_eq!(found.subject, format!("interest of account {}", ada.savings));
    let (pool, database) = bank.stop().await;
    pool.close().await;
    database.drop_now().await.unwrap();
}

/// Money is not paid by tables that are behind the log.
#[tokio::test]
async fn interest_waits_for_the_balances_of_the_days() {
    let bank = Bank::open().await;
    bank.caught_up().await;
    let head = bank.events().await;
    let month = Stretch { from: first(&bank, 0), through: first(&bank, 1).yesterday().unwrap() };
    let there = bank.app.day_ends.unposted(head, month, None, 10).await.unwrap();
    assert_eq!(there.len(), 3);
    let page = bank.app.day_ends.unposted(head, month, Some(&there[0].account), 1).await.unwrap();
    assert_eq!(page, there[1..2]);
    assert!(bank.app.day_ends.unposted(head + 1, month, None, 10).await.is_err());
    assert!(bank.app.day_ends.of(head + 1, &there[0].account, month.through).await.is_err());
    bank.close().await;
}
