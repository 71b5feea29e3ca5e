//! T8: an app hangs up at every byte of a request that moves money. Nothing is half done, and asking again does it once.

use axum::body::to_bytes;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::ratchet::{Row, World, rows};
use crate::support::chance::{did, scaled};
use crate::support::client::Request;
use crate::support::inside::answer;
use crate::support::{Bank, quiet};

/// What moves money, each in its own way.
const MONEY: [&str; 8] = [
    "/v1/payments/transfer/internal",
    "/v1/payments/transfer/self",
    "/v1/payments/transfer/external",
    "/v1/payments/transfer/mwallet",
    "/v1/payments/bills",
    "/v1/payments/fund/via/mwallet",
    "/v1/staff/accounts/{accountNo}/deposit",
    "/v1/transactions/{transactionId}/reverse",
];

/// The request as it goes over the wire.
async fn wire(request: Request) -> Vec<u8> {
    let (parts, body) = request.into_http().into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    let path = parts.uri.path_and_query().unwrap();
    let mut text =
        format!("{} {path} HTTP/1.1\r\nhost: bank\r\ncontent-length: {}\r\n", parts.method, body.len());
    for (name, value) in parts.headers.iter().filter(|(name, _)| *name != "content-length") {
        text.push_str(&format!("{name}: {}\r\n", value.to_str().unwrap()));
    }
    [text.as_bytes(), b"\r\n", &body].concat()
}

async fn cut_everywhere(world: &mut World, row: &Row, stride: usize) -> usize {
    let expected = world.events_of(row).await;
    let mut cuts = 0;
    let mut at = 0;
    loop {
        (row.ready)(world).await;
        // Ada pays all of it.
        let paid_in = json!({"amount": 1_000_000, "currency": "NGN"});
        let path = format!("/v1/staff/accounts/{}/deposit", world.ada.current);
        world.teller.client.post(&path, &paid_in).await.is(201);
        let before = world.bank.done().await;
        let key = format!("hang-{at:05}");
        let request = row.good_request(world).key(&key);
        let bytes = wire(request.again()).await;
        let whole = bytes.len();
        let mut app = TcpStream::connect(world.bank.address).await.unwrap();
        app.write_all(&bytes[..at.min(whole)]).await.unwrap();
        drop(app);
        if at < whole {
            assert_eq!(world.bank.done().await, before, "{row}: {at} of {whole} bytes did something");
        }
        cuts += 1;
        let again = answer(&world.bank.app, row.once_more(world, &request, &key)).await;
        assert!(again.status < 300, "{row}, cut at {at}: {}", again.text);
        assert_eq!(world.bank.done().await - before, expected, "{row}, cut at {at}");
        if at >= whole {
            return cuts;
        }
        at = (at + stride).min(whole);
    }
}

/// `TEST_SCALE=64` cuts at every byte.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "just torture"]
async fn an_app_that_hangs_up_anywhere_has_paid_once_or_not_at_all() {
    let mut world = World::of(Bank::configured(quiet()).await).await;
    let stride = 64_usize.div_ceil(scaled(1));
    let mut cuts = 0;
    for path in MONEY {
        let all = rows();
        let row = all.iter().find(|row| row.path == path && row.method == "POST").expect(path);
        cuts += cut_everywhere(&mut world, row, stride).await;
    }
    did(cuts, "requests cut off");
    world.bank.caught_up().await;
    world.bank.close().await;
}
