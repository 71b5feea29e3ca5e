//! Callers that go away: T11, and clients that hang up.

use std::sync::Arc;
use std::time::Duration;

use bursar_api::app::App;
use bursar_api::database;
use bursar_domain::kernel::TransactionId;
use sqlx::{ConnectOptions, Connection};

use crate::ratchet::{Row, World, rows};
use crate::support::chance::scaled;
use crate::support::client::transfer;
use crate::support::inside::{answer, polled};
use crate::support::invariants::{none, pool_violations, red, violations};
use crate::support::proxy::Faults;
use crate::support::{Bank, build, forge, quiet};

/// More awaits than any handler has, with nothing warmed up.
const MOST_POLLS: usize = 200;

/// A usual run drops each operation at every third await, its neighbours at those between; TEST_SCALE=3 at all.
const STRIDE: usize = 3;

/// Drops the handler of `row` at one await of the server's, at a later one ... until it gets to its end, and asks again
/// each time. Answers how many awaits there were: each statement takes a moment, so that whoever waits does wait.
async fn dropped_everywhere(
    world: &mut World,
    (which, row): (usize, &Row),
    faults: &Faults,
    server: impl AsyncFn() -> App,
) -> usize {
    let expected = world.events_of(row).await;
    let stride = STRIDE.div_ceil(scaled(1));
    for polls in (1 + which % stride..MOST_POLLS).step_by(stride) {
        (row.ready)(world).await;
        let app = server().await;
        let before = world.bank.done().await;
        let key = format!("dropped-{polls}");
        faults.delay_statements(Duration::from_millis(1));
        let request = row.good_request(world).key(&key);
        let dropped = polled(answer(&app, request.again()), polls).await;
        faults.calm();
        // It may be on its way to the log. Whatever became of it, it is carried out once.
        let again = answer(&app, row.once_more(world, &request, &key)).await;
        assert!(again.status < 300, "{row} after {polls} polls: {}", again.text);
        assert_eq!(world.bank.done().await - before, expected, "{row} after {polls} polls");
        none(&pool_violations(&app.pool).await);
        if !Arc::ptr_eq(&app.written, &world.bank.app.written) {
            app.close().await;
            app.pool.close().await;
        }
        if let Some(answered) = dropped {
            assert_eq!(answered.status, again.status, "{row}");
            assert!(!row.replays || answered.text == again.text, "{row}: {} {}", answered.text, again.text);
            println!("{row}: {} awaits", polls - 1);
            return polls - 1;
        }
    }
    panic!("{row} has no end");
}

fn database_operations() -> Vec<Row> {
    rows().into_iter().filter(|row| row.replays || row.reads()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handler_that_is_dropped_at_any_await_has_done_all_or_nothing() {
    let (bank, faults) = Bank::behind_a_proxy().await;
    let mut world = World::of(bank).await;
    let mut awaits = 0;
    for (which, row) in database_operations().iter().enumerate() {
        let app = world.bank.app.clone();
        awaits += dropped_everywhere(&mut world, (which, row), &faults, async || app.clone()).await;
    }
    assert!(awaits > 30, "only {awaits} awaits");
    world.bank.close().await;
}

/// Nothing is known yet, and there is no connection: more awaits, and each of them the first of its kind.
#[tokio::test(flavor = "multi_thread")]
async fn a_handler_of_a_server_that_has_just_started_too() {
    let (bank, faults) = Bank::behind_a_proxy().await;
    let through = bank.app.pool.connect_options().to_url_lossy().to_string();
    let mut world = World::of(bank).await;
    let mut awaits = 0;
    for (which, row) in database_operations().iter().enumerate() {
        // One connection: no handler needs two at once.
        let server = async || {
            let pool = database::pool(through.parse().unwrap(), 1, Duration::from_secs(5));
            build(pool, quiet()).await.0
        };
        awaits += dropped_everywhere(&mut world, (which, row), &faults, server).await;
    }
    assert!(awaits > 60, "only {awaits} awaits");
    world.bank.close().await;
}

/// Control: what a transaction on a connection of the pool comes to. clippy refuses it outside tests.
#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_that_is_dropped_while_it_begins_is_found_in_its_pool() {
    let bank = Bank::open().await;
    let url = bank.url().parse().unwrap();
    let pool = database::pool(url, 3, Duration::from_secs(5));
    let mut found = Vec::new();
    // The answer may be there before it is waited for, and then there was nothing to drop.
    for polls in (1..10).cycle().take(900) {
        drop(polled(pool.begin(), polls).await);
        found = pool_violations(&pool).await;
        if !found.is_empty() {
            break;
        }
    }
    red(&found, "pool: a connection is inside somebody's transaction");
    pool.close().await;
    // A connection of one's own ends with whoever had it.
    let pool = database::pool(bank.url().parse().unwrap(), 3, Duration::from_secs(5));
    for polls in 1..30 {
        let begin = async {
            let mut own = pool.acquire().await.unwrap().detach();
            own.begin().await.unwrap().rollback().await.unwrap();
        };
        let _ = polled(begin, polls).await;
        none(&pool_violations(&pool).await);
    }
    pool.close().await;
    // Whoever gives nothing back is noticed too.
    let hasty = database::pool(bank.url().parse().unwrap(), 1, Duration::from_millis(100));
    let kept = hasty.acquire().await.unwrap();
    red(&pool_violations(&hasty).await, "pool: connection 1 cannot be had");
    drop(kept);
    bank.close().await;
}

/// Control: a handler that writes by itself, one thing after the other.
#[tokio::test(flavor = "multi_thread")]
async fn a_handler_that_writes_in_two_steps_is_found_out() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await.current, bank.bola().await.current);
    let (pool, database) = bank.stop().await;
    let (sources, _) = bursar_api::sources::system();
    let mut found = Vec::new();
    for polls in 1..20 {
        let id = TransactionId::mint(&sources).to_string();
        let handler = async {
            let mut connection = pool.acquire().await.unwrap();
            forge::move_money(&mut connection, &ada, &bola, 1).await.unwrap();
            forge::record(&mut connection, &id, &ada, &bola, 1).await.unwrap();
        };
        let _ = polled(handler, polls).await;
        if !violations(&pool).await.is_empty() {
            // The statement may have ended while the questions were asked, and only the last of them saw it.
            found = violations(&pool).await;
            break;
        }
    }
    red(&found, "I2: ledger account");
    pool.close().await;
    database.drop_now().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_hangs_up_has_paid_all_the_same() {
    use tokio::io::AsyncWriteExt;
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let before = bank.events_of("payment.completed").await;
    let body = transfer(&ada.current, &bola.current, 5).to_string();
    for n in 0..20 {
        let request = format!(
            "POST /v1/payments/transfer/internal HTTP/1.1\r\nhost: bank\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\nidempotency-key: hang-{n}\r\ncontent-length: {}\r\n\r\n{body}",
            ada.client.token(),
            body.len(),
        );
        let mut stream = tokio::net::TcpStream::connect(bank.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        // Sent whole, and gone before the answer.
        tokio::time::sleep(Duration::from_micros(200 * n)).await;
        drop(stream);
    }
    // Each is asked for again: it was carried out then, or is now; never twice.
    for n in 0..20 {
        ada.client.pay(&ada.current, &bola.current, 5, &format!("hang-{n}")).await;
    }
    assert_eq!(bank.events_of("payment.completed").await, before + 20);
    bank.close().await;
}
