//! Connections: nobody holds one for nothing, and nobody is cut off who is at it.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::support::client::transfer;
use crate::support::{Bank, config};

/// How long the bank of these tests waits for the headers of a request.
const PATIENCE: Duration = Duration::from_secs(2);
const QUICK: &str = "GET /healthz HTTP/1.1\r\nhost: bank\r\n\r\n";

async fn impatient() -> Bank {
    let mut config = config();
    config.server.header_seconds = PATIENCE.as_secs();
    Bank::configured(config).await
}

/// The bytes that come until the connection ends; none when it does not.
async fn until_the_end(stream: &mut TcpStream) -> Option<String> {
    let mut all = Vec::new();
    let ended = tokio::time::timeout(PATIENCE * 5, stream.read_to_end(&mut all)).await;
    // That the other side has closed it in the middle of something is an end too.
    ended.ok().map(|_| String::from_utf8_lossy(&all).into_owned())
}

/// Says `first`, and then a letter every now and then; how long that went on, and what was answered.
async fn dawdles(address: SocketAddr, first: &str, drip: &str) -> (Duration, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(first.as_bytes()).await.unwrap();
    let began = Instant::now();
    let (mut reads, mut writes) = stream.into_split();
    let drip = drip.to_owned();
    let dripping = tokio::spawn(async move {
        while !drip.is_empty() && writes.write_all(drip.as_bytes()).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        // It stays open on our side.
        std::future::pending::<()>().await;
        drop(writes);
    });
    let mut all = Vec::new();
    let ended = tokio::time::timeout(PATIENCE * 5, reads.read_to_end(&mut all)).await;
    assert!(ended.is_ok(), "{first:?} holds a connection");
    dripping.abort();
    (began.elapsed(), String::from_utf8_lossy(&all).into_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn who_never_comes_to_the_end_of_the_headers_is_cut_off() {
    let bank = impatient().await;
    let kept = format!("{QUICK}GET /healthz HTTP/1.1\r\nx: ");
    for (first, drip, answered) in [
        ("", "", false),
        ("G", "", false),
        // As HTTP/2 begins.
        ("PRI * HTTP", "", false),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "", false),
        ("GET /healthz HTTP/1.1\r\nhost: bank\r\nx: ", "x", false),
        ("", "\r\n", false),
        // After a request that was answered.
        (QUICK, "", true),
        (&kept, "x", true),
    ] {
        let (took, said) = dawdles(bank.address, first, drip).await;
        assert!(took >= PATIENCE - Duration::from_millis(100), "{first:?}: {took:?}");
        assert_eq!(said.starts_with("HTTP/1.1 200"), answered, "{first:?}: {said}");
    }
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_at_it_is_not() {
    let bank = impatient().await;
    let ada = bank.ada().await;
    // Headers in pieces, and one request after another for longer than one of them may take.
    let mut stream = TcpStream::connect(bank.address).await.unwrap();
    let began = Instant::now();
    while began.elapsed() < PATIENCE * 2 {
        for piece in QUICK.as_bytes().chunks(20) {
            stream.write_all(piece).await.unwrap();
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let mut status = [0; 12];
        stream.read_exact(&mut status).await.unwrap();
        assert_eq!(status, *b"HTTP/1.1 200");
        let mut rest = vec![0; 65_536];
        let _ = stream.read(&mut rest).await.unwrap();
    }
    // A body may take as long as a request may.
    let body = transfer(&ada.current, &ada.savings, 5).to_string();
    let (begins, ends) = body.split_at(body.len() / 2);
    let mut stream = TcpStream::connect(bank.address).await.unwrap();
    stream.write_all(head(&ada, &body).as_bytes()).await.unwrap();
    stream.write_all(begins.as_bytes()).await.unwrap();
    tokio::time::sleep(PATIENCE * 2).await;
    stream.write_all(ends.as_bytes()).await.unwrap();
    let mut status = [0; 12];
    stream.read_exact(&mut status).await.unwrap();
    assert_eq!(status, *b"HTTP/1.1 201");
    bank.close().await;
}

fn head(person: &crate::support::Person, body: &str) -> String {
    format!(
        "POST /v1/payments/transfer/self HTTP/1.1\r\nhost: bank\r\nauthorization: Bearer {}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        person.client.token(),
        body.len()
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stops_answers_what_is_under_way_and_nothing_else() {
    let bank = Bank::open().await;
    let (ada, address) = (bank.ada().await, bank.address);
    let body = transfer(&ada.current, &ada.savings, 5).to_string();
    let (begins, ends) = body.split_at(body.len() / 2);
    let mut under_way = TcpStream::connect(address).await.unwrap();
    under_way.write_all(head(&ada, &body).as_bytes()).await.unwrap();
    under_way.write_all(begins.as_bytes()).await.unwrap();
    let mut idle = TcpStream::connect(address).await.unwrap();
    idle.write_all(QUICK.as_bytes()).await.unwrap();
    let mut silent = TcpStream::connect(address).await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;

    let stopping = tokio::spawn(bank.stop());
    assert!(until_the_end(&mut idle).await.unwrap().starts_with("HTTP/1.1 200"));
    assert_eq!(until_the_end(&mut silent).await.as_deref(), Some(""));
    assert!(TcpStream::connect(address).await.is_err(), "nobody else is let in");
    assert!(!stopping.is_finished());
    under_way.write_all(ends.as_bytes()).await.unwrap();
    let answer = until_the_end(&mut under_way).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    let (pool, database) = stopping.await.unwrap();
    pool.close().await;
    database.drop_now().await.unwrap();
}
