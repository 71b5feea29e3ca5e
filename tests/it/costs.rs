//! What a payment costs, in numbers that do not depend on the machine.

use bursar_commands::keys::due_key;
use bursar_commands::payments::{self, Known, Transfer};
use bursar_commands::{Context, accounts};
use bursar_domain::{Amount, Currency};
use futures_util::future::join_all;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::client::transfer;
use crate::support::{Bank, Person};

/// Allocations a payment, at most, those of the read models that follow among them. A number goes down whenever it can;
/// it goes up only for a reason, such as another read model.
const JOURNAL: u64 = 90;
const HTTP: u64 = 200;

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_of_payments_is_three_round_trips_whatever_its_size() {
    let (bank, faults) = Bank::behind_a_proxy().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let (ada, bola) = (&ada, &bola);
    let pay = |n: usize| async move {
        ada.client.pay(&ada.current, &bola.current, 1, &format!("round-trips-{n}")).await
    };
    // Statements are prepared and accounts remembered.
    pay(0).await.is(201);
    faults.batches.lock().unwrap().clear();
    for answer in join_all((1..=100).map(pay)).await {
        answer.is(201);
    }
    let batches = faults.batches.lock().unwrap().clone();
    // BEGIN with the lock, the append, COMMIT.
    assert!(batches.iter().all(|round_trips| *round_trips == 3), "{batches:?}");
    assert!((1..100).contains(&batches.len()), "payments share batches: {}", batches.len());
    bank.close().await;
}

/// Payments counted, in rounds of as many clients at once.
const ROUNDS: usize = 4;
const CLIENTS: usize = 50;
const TAKES: usize = 5;

/// Allocations a payment, of everything that happens meanwhile: the test's runtime has no other thread. The least of
/// several takes: the first prepares statements, remembers accounts and grows buffers, and on a busy machine one lasts
/// longer, so that what the bank does by the clock is counted too.
fn allocations(mut take: impl FnMut(usize)) -> u64 {
    let counted = (0..TAKES).map(|n| allocation_counter::measure(|| take(n)).count_total).min().unwrap();
    counted / (ROUNDS * CLIENTS) as u64
}

#[test]
fn a_payment_allocates_little() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (bank, ada, bola, mut connections) = runtime.block_on(async {
        let bank = Bank::open().await;
        let (ada, bola) = (bank.ada().await, bank.bola().await);
        let connections = join_all((0..CLIENTS).map(|_| TcpStream::connect(bank.address))).await;
        let connections = connections.into_iter().map(Result::unwrap).collect::<Vec<_>>();
        (bank, ada, bola, connections)
    });
    let journal = allocations(|take| runtime.block_on(through_the_journal(&bank, &ada, &bola, take)));
    let requests: Vec<_> = (0..TAKES).map(|take| requests(&ada, &bola, take)).collect();
    let http = allocations(|take| runtime.block_on(over_http(&mut connections, &requests[take])));
    println!("allocations a payment: {journal} through the journal, {http} over HTTP");
    assert!((10..=JOURNAL).contains(&journal), "{journal}");
    assert!((journal..=HTTP).contains(&http), "{http}");
    runtime.block_on(bank.close());
}

async fn through_the_journal(bank: &Bank, ada: &Person, bola: &Person, take: usize) {
    let holder = bank.user("ada@example.com").await;
    let source = accounts::owned(&bank.app.journal, holder, &ada.current.parse().unwrap()).await.unwrap();
    let pay = |round: usize, client: usize| {
        let idempotency = due_key(&format!("take {take}, {round} {client}"));
        let context = Context { idempotency: Some(idempotency), ..Context::default() };
        let payee = bola.current.parse().unwrap();
        let known = Known { name: Some("Bola".to_owned()), save: false };
        let transfer = Transfer {
            amount: Amount::try_from(1).unwrap(),
            currency: Currency::NGN,
            narration: Some("rent".to_owned()),
            reference: None,
        };
        payments::transfer_internal(&bank.app.journal, context, &source, payee, known, transfer)
    };
    for round in 0..ROUNDS {
        for paid in join_all((0..CLIENTS).map(|client| pay(round, client))).await {
            paid.unwrap();
        }
    }
}

/// What each client sends, written beforehand, so that the counting sees no client at work.
fn requests(ada: &Person, bola: &Person, take: usize) -> Vec<Vec<String>> {
    let body = transfer(&ada.current, &bola.current, 1).to_string();
    let token = ada.client.token();
    let request = |round: usize, client: usize| {
        format!(
            "POST /v1/payments/transfer/internal HTTP/1.1\r\nhost: bank\r\ncontent-type: application/json\r\n\
             authorization: Bearer {token}\r\nidempotency-key: {take}-{round}-{client}\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len(),
        )
    };
    (0..CLIENTS).map(|client| (0..ROUNDS).map(|round| request(round, client)).collect()).collect()
}

async fn over_http(connections: &mut [TcpStream], requests: &[Vec<String>]) {
    let clients = connections.iter_mut().zip(requests).map(|(connection, requests)| async move {
        let mut answer = [0; 4096];
        for request in requests {
            connection.write_all(request.as_bytes()).await.unwrap();
            let length = connection.read(&mut answer).await.unwrap();
            // The server writes head and body at once.
            assert!(answer[..length].starts_with(b"HTTP/1.1 201") && answer[..length].ends_with(b"}"));
        }
    });
    join_all(clients).await;
}

/// Pages that the last of so many payments with one reference touches, in the table and its indexes.
async fn pages_of_one_more(bank: &Bank, payment: &str, copies: i32) -> i64 {
    let copy = |ids: &str, count: i32| {
        format!(
            "INSERT INTO read.transactions
             SELECT (jsonb_populate_record(t, jsonb_build_object('transaction_id', '{ids}' || n))).*
               FROM read.transactions t, generate_series(1, {count}) n
              WHERE t.transaction_id = '{payment}'"
        )
    };
    sqlx::raw_sql(&copy("txn_many_", copies)).execute(&bank.pool).await.unwrap();
    let explain = format!("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {}", copy("txn_last_", 1));
    let plan: serde_json::Value = sqlx::query_scalar(&explain).fetch_one(&bank.pool).await.unwrap();
    let pages = |kind: &str| plan[0]["Plan"][kind].as_i64().unwrap();
    pages("Shared Hit Blocks") + pages("Shared Read Blocks")
}

#[tokio::test]
async fn a_reference_that_many_payments_have_costs_no_more_than_any_other() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let paid = ada.client.pay(&ada.current, &bola.current, 1, "rent").await.is(201);
    let payment = paid.text_at("transactionId");
    bank.caught_up().await;
    let pages = pages_of_one_more(&bank, payment, 50_000).await;
    assert!(pages < 60, "{pages} pages");
    // The control: in a hash index it is a chain of pages.
    let hash = "DROP INDEX read.transactions_by_reference;
                DELETE FROM read.transactions WHERE transaction_id LIKE 'txn\\_%\\_%';
                CREATE INDEX transactions_by_reference ON read.transactions USING hash (reference)";
    sqlx::raw_sql(hash).execute(&bank.pool).await.unwrap();
    let pages = pages_of_one_more(&bank, payment, 50_000).await;
    assert!(pages > 100, "{pages} pages");
    let (pool, database) = bank.stop().await;
    pool.close().await;
    database.drop_now().await.unwrap();
}
