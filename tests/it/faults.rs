//! T6 and T9: the way to the store breaks at the worst moments, and the store refuses what it usually takes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use bursar_api::app::App;
use bursar_domain::kernel::TransactionId;
use futures_util::future::join_all;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection, Executor, PgPool};

use crate::ratchet::{Row, World, rows};
use crate::support::chance::{did, scaled};
use crate::support::client::transfer;
use crate::support::inside::answer;
use crate::support::invariants::{Acknowledged, none, red, violations};
use crate::support::proxy::{Faults, in_front_of};
use crate::support::{Bank, Person, build, forge, pool, quiet};

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_is_not_answered_is_resolved_and_not_guessed() {
    let (bank, faults) = Bank::behind_a_proxy().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let had = ada.client.balance(&ada.current).await;
    let mut told = Acknowledged::since(bank.events().await);
    let rounds = scaled(100);
    for round in 0..rounds {
        // From here the two look the same: the connection is gone. One time the server has committed, the other not.
        if round % 2 == 0 {
            faults.leave_commits_unanswered(1);
        } else {
            faults.swallow_commits(1);
        }
        // Without a key, so that nothing but the resolution stands between a lost answer and a second payment.
        let body = transfer(&ada.current, &bola.current, 10);
        let answers =
            join_all((0..4).map(|_| ada.client.post("/v1/payments/transfer/internal", &body))).await;
        for (n, answer) in answers.into_iter().enumerate() {
            let answer = answer.is(201);
            told.note(format!("cut-{round}-{n}"), answer.text_at("transactionId"), &answer.text);
        }
    }
    assert!(faults.cuts.load(Ordering::SeqCst) >= rounds);
    did(rounds, "commits cut off");
    none(&told.violations(&bank.pool).await);
    let paid = i64::try_from(told.count()).unwrap();
    assert_eq!(ada.client.balance(&ada.current).await, had - 10 * paid);
    bank.close().await;
}

/// What a writer makes of a COMMIT that was not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Resolution {
    /// It waits until the lost session is over, and looks.
    Looks,
    /// It takes it not to be in the log, and writes again.
    TakesItForLost,
    /// It takes it to be in the log.
    TakesItForDone,
}

/// A bank of a few lines that pays ten times, its connection cut at every first COMMIT of a payment.
async fn cut_at_every_commit(resolution: Resolution) -> Vec<String> {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await.current, bank.bola().await.current);
    let mut told = Acknowledged::since(bank.events().await);
    let (straight, database) = bank.stop().await;
    let (through, faults) = in_front_of(&database.url).await;
    let options: PgConnectOptions = through.parse().unwrap();
    let options = options.options([("search_path", "journal,read,reference")]);
    let (sources, _) = bursar_api::sources::system();
    for n in 0..10 {
        if n % 2 == 0 {
            faults.leave_commits_unanswered(1);
        } else {
            faults.swallow_commits(1);
        }
        loop {
            let id = TransactionId::mint(&sources).to_string();
            let mut connection = options.connect().await.unwrap();
            connection.execute("BEGIN").await.unwrap();
            forge::payment(&mut connection, &id, &ada, &bola, 10).await.unwrap();
            let committed = connection.execute("COMMIT").await.is_ok()
                || match resolution {
                    Resolution::Looks => is_recorded(&straight, &id).await,
                    Resolution::TakesItForLost => false,
                    Resolution::TakesItForDone => true,
                };
            if committed {
                break told.note(format!("cut-{n}"), &id, "");
            }
        }
    }
    assert_eq!(faults.cuts.load(Ordering::SeqCst), 10);
    let mut found = told.violations(&straight).await;
    found.extend(violations(&straight).await);
    straight.close().await;
    database.drop_now().await.unwrap();
    found
}

async fn is_recorded(pool: &PgPool, id: &str) -> bool {
    let mut tx = pool.begin().await.unwrap();
    tx.execute("SELECT FROM head FOR UPDATE").await.unwrap();
    let sql = "SELECT EXISTS (SELECT FROM events WHERE aggregate_id = $1)";
    sqlx::query_scalar(sql).bind(id).fetch_one(&mut *tx).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bank_that_guesses_what_became_of_a_commit_is_found_out() {
    none(&cut_at_every_commit(Resolution::Looks).await);
    // Paid twice; acknowledged and never paid.
    let twice = cut_at_every_commit(Resolution::TakesItForLost).await;
    assert!(twice.iter().any(|one| one.ends_with("is in the log and was never acknowledged")), "{twice:?}");
    let never = cut_at_every_commit(Resolution::TakesItForDone).await;
    assert!(never.iter().any(|one| one.ends_with("was acknowledged and is in the log 0 times")), "{never:?}");
}

/// Asks with the same key until there is an answer, as an app does.
async fn pay_for_certain(payer: &Person, payee: &str, amount: i64, key: &str) -> String {
    loop {
        let answer = payer.client.pay(&payer.current, payee, amount, key).await;
        match answer.status {
            201 => return answer.body["transactionId"].as_str().unwrap().to_owned(),
            503 => assert_ne!(answer.header("retry-after"), ""),
            other => panic!("{other}: {}", answer.text),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whichever_message_to_the_store_is_lost_nothing_is_half_done() {
    let (bank, faults) = Bank::behind_a_proxy().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let before = bank.events_of("payment.completed").await;
    let mut paid = 0;
    // Warm, a payment takes about a dozen messages; after a cut everything is asked for anew, which takes more.
    for n in 1..=40 {
        let cuts = faults.cuts.load(Ordering::SeqCst);
        faults.cut_at_message(n);
        while faults.cuts.load(Ordering::SeqCst) == cuts {
            pay_for_certain(&ada, &bola.current, 10, &format!("message-{n}-{paid}")).await;
            paid += 1;
        }
    }
    assert_eq!(bank.events_of("payment.completed").await, before + paid);
    bank.close().await;
}

/// How a statement can fail: worth another try, the disk full, an index that is violated, a broken server.
const FAILURES: [&str; 4] = ["40001", "53100", "23505", "XX000"];

/// Asks for `row` at `app` while the `n`th statement fails, and again without. Answers whether there was such a
/// statement, and whether the request was refused for it.
async fn with_a_failure(
    world: &World,
    row: &Row,
    app: &App,
    expected: i64,
    failure: Failure<'_>,
) -> (bool, bool) {
    let Failure { faults, n, sqlstate } = failure;
    let what = format!("{row}, {sqlstate} at statement {n}");
    let before = world.bank.done().await;
    let request = row.good_request(world).key(&what);
    let failures = faults.failures.load(Ordering::SeqCst);
    faults.fail_at_statement(n, sqlstate);
    let first = answer(app, request.again()).await;
    faults.calm();
    let refused = first.status == 503;
    if refused {
        assert_ne!(first.header("retry-after"), "", "{what}");
        let trace = world.bank.done().await - before;
        // A login looks the person up for its answer when the session has begun: all of it, then.
        let whole = row.path.ends_with("/login") && trace == expected;
        assert!(trace == 0 || whole, "{what}: refused, with a trace");
    } else {
        assert!(first.status < 300, "{what}: {}", first.text);
    }
    let again = answer(app, row.once_more(world, &request, &what)).await;
    assert!(again.status < 300, "{what}: {}", again.text);
    assert_eq!(world.bank.done().await - before, expected, "{what}");
    (faults.failures.load(Ordering::SeqCst) > failures, refused)
}

#[derive(Clone, Copy)]
struct Failure<'a> {
    faults: &'a Faults,
    n: i64,
    sqlstate: &'static str,
}

/// Every write, its first statement failing, its second ...
#[tokio::test(flavor = "multi_thread")]
async fn whichever_statement_fails_a_write_is_done_once_or_not_at_all() {
    let (bank, faults) = Bank::behind_a_proxy().await;
    let mut world = World::of(bank).await;
    let app = world.bank.app.clone();
    let (mut failed, mut refused) = (0, 0);
    for (which, row) in rows().iter().filter(|row| row.replays).enumerate() {
        let expected = world.events_of(row).await;
        let stride = 2_usize.div_ceil(scaled(1));
        for n in (1 + i64::try_from(which % stride).unwrap()..=6).step_by(stride) {
            // Every other statement, its neighbours' the others; one failure for each, another one for its neighbours.
            // TEST_SCALE=4 tries all of them everywhere.
            let turn = which + usize::try_from(n).unwrap();
            let mut struck = false;
            for sqlstate in FAILURES.iter().cycle().skip(turn).take(scaled(1).min(FAILURES.len())) {
                (row.ready)(&mut world).await;
                let failure = Failure { faults: &faults, n, sqlstate };
                let (failure, said_no) = with_a_failure(&world, row, &app, expected, failure).await;
                struck |= failure;
                failed += usize::from(failure);
                refused += usize::from(said_no);
            }
            if !struck {
                break;
            }
        }
    }
    did(failed, "statements failed");
    did(refused, "requests refused for it");
    assert!(failed > 100 && refused > 10, "{failed} statements failed, {refused} requests were refused");
    world.bank.close().await;
}

/// Nothing is in memory and nothing prepared: more statements, and each of them the first of its kind.
#[tokio::test(flavor = "multi_thread")]
async fn nor_does_it_matter_how_much_the_server_knew() {
    let (bank, faults) = Bank::behind_a_proxy().await;
    let through = bank.app.pool.connect_options().to_url_lossy().to_string();
    let mut world = World::of(bank).await;
    let mut failed = 0;
    let paths = ["/v1/accounts", "/v1/payments/transfer/internal"];
    for row in rows().iter().filter(|row| row.replays && paths.contains(&row.path)) {
        let expected = world.events_of(row).await;
        for n in 1..=24 {
            let sqlstate = FAILURES[usize::try_from(n).unwrap() % FAILURES.len()];
            let (app, _) = build(pool(&through), quiet()).await;
            let failure = Failure { faults: &faults, n, sqlstate };
            failed += usize::from(with_a_failure(&world, row, &app, expected, failure).await.0);
            app.close().await;
            app.pool.close().await;
        }
    }
    assert!(failed > 20, "{failed} statements failed");
    world.bank.close().await;
}

/// Control: a bank that moves the money, and then records it.
#[tokio::test(flavor = "multi_thread")]
async fn a_bank_that_writes_in_two_transactions_is_found_out() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await.current, bank.bola().await.current);
    let (straight, database) = bank.stop().await;
    let (through, faults) = in_front_of(&database.url).await;
    let options: PgConnectOptions = through.parse().unwrap();
    let options = options.options([("search_path", "journal,read,reference")]);
    let (sources, _) = bursar_api::sources::system();
    let mut halves = 0;
    for n in 1..=5 {
        let id = TransactionId::mint(&sources).to_string();
        let mut connection = options.connect().await.unwrap();
        faults.fail_at_statement(n, "40001");
        let paid = async {
            forge::move_money(&mut connection, &ada, &bola, 10).await?;
            forge::record(&mut connection, &id, &ada, &bola, 10).await
        };
        let paid = paid.await;
        faults.calm();
        let found = violations(&straight).await;
        if !found.is_empty() {
            assert!(paid.is_err());
            red(&found, "I2: ledger account");
            halves += 1;
            // The other half, so that the next one is found by itself.
            forge::record(&mut connection, &id, &ada, &bola, 10).await.unwrap();
        }
        connection.close().await.unwrap();
        none(&violations(&straight).await);
    }
    assert_eq!(halves, 2, "each of the second payment's two statements, and no other");
    straight.close().await;
    database.drop_now().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_cut_at_any_moment_lose_and_double_nothing() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let before = bank.events_of("payment.completed").await;
    let (stop, paid) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicI64::new(0)));
    let payers: Vec<_> = (0..8)
        .map(|n| {
            let (client, stop, paid) = (ada.client.clone(), Arc::clone(&stop), Arc::clone(&paid));
            let (source, destination) = (ada.current.clone(), bola.current.clone());
            tokio::spawn(async move {
                for i in 0.. {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    let key = format!("cut-{n}-{i}");
                    // Asked again until it is answered, as an app does; the key makes sure that it is paid once.
                    while client.pay(&source, &destination, 1, &key).await.status != 201 {}
                    paid.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    let mut cuts = 0;
    for n in 0..1_000_u64 {
        // As long as it takes for much to happen, which depends on the machine.
        if n >= 40 && cuts > 10 && paid.load(Ordering::Relaxed) > 100 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10 + 7 * (n % 5))).await;
        // Every session of the bank but ours, in the middle of whatever it does: also between COMMIT and its answer.
        let cut = sqlx::query(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
              WHERE datname = current_database() AND pid <> pg_backend_pid()
                AND (query LIKE '%head%' OR query = 'COMMIT')",
        );
        cuts += cut.fetch_all(&bank.pool).await.map_or(0, |rows| rows.len());
    }
    stop.store(true, Ordering::Relaxed);
    for payer in payers {
        payer.await.unwrap();
    }
    let paid = paid.load(Ordering::Relaxed);
    assert!(cuts > 10 && paid > 100, "too little happened to mean anything: {cuts} cuts, {paid} payments");
    assert_eq!(bank.events_of("payment.completed").await, before + paid);
    bank.close().await;
}
