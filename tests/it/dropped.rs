//! Callers that go away.

use std::time::Duration;

use crate::support::Bank;
use crate::support::client::transfer;

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
