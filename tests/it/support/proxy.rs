//! A way to Postgres that breaks on demand: forwards the wire protocol and cuts connections where it is told to.
//!
//! It understands as much of the protocol (version 3) as it needs: where a client's message begins, whether it says
//! BEGIN or COMMIT, and whether the client then waits for an answer.

use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::OwnedWriteHalf;
use tokio::net::{TcpListener, TcpStream, UnixStream};

/// What happens to connections.
#[derive(Default)]
pub struct Faults {
    /// Cuts at so many COMMITs: sent to the server, carried out, and never answered.
    unanswered_commits: AtomicI64,
    /// Cuts at so many COMMITs: never sent to the server.
    swallowed_commits: AtomicI64,
    /// Cuts instead of forwarding the message at which this reaches zero.
    messages_left: AtomicI64,
    /// Connections cut so far.
    pub cuts: AtomicUsize,
    /// Round trips of each batch the journal committed.
    pub batches: Mutex<Vec<usize>>,
}

impl Faults {
    pub fn leave_commits_unanswered(&self, count: i64) {
        self.unanswered_commits.store(count, Ordering::SeqCst);
    }

    pub fn swallow_commits(&self, count: i64) {
        self.swallowed_commits.store(count, Ordering::SeqCst);
    }

    /// Cuts the connection that sends the `n`th message from now, before the server sees it.
    pub fn cut_at_message(&self, n: i64) {
        self.messages_left.store(n, Ordering::SeqCst);
    }

    fn take(counter: &AtomicI64) -> bool {
        counter
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| (left > 0).then_some(left - 1))
            .is_ok()
    }

    /// Whether this message is the one.
    fn strikes(&self) -> bool {
        Self::take(&self.messages_left) && self.messages_left.load(Ordering::SeqCst) == 0
    }
}

/// A proxy in front of the server behind `url` (a Unix socket); answers the URL that goes through it.
pub async fn in_front_of(url: &str) -> (String, Arc<Faults>) {
    let options: sqlx::postgres::PgConnectOptions = url.parse().unwrap();
    let socket = options.get_socket().unwrap().join(format!(".s.PGSQL.{}", options.get_port()));
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let through = format!(
        "postgres://{}@127.0.0.1:{port}/{}?sslmode=disable",
        options.get_username(),
        options.get_database().unwrap(),
    );
    let faults = Arc::new(Faults::default());
    tokio::spawn(accept(listener, socket, Arc::clone(&faults)));
    (through, faults)
}

async fn accept(listener: TcpListener, socket: PathBuf, faults: Arc<Faults>) {
    while let Ok((client, _)) = listener.accept().await {
        let Ok(server) = UnixStream::connect(&socket).await else { continue };
        tokio::spawn(forward(client, server, Arc::clone(&faults)));
    }
}

/// Forwards both ways until one side closes or a fault strikes; dropping both ends is the cut.
async fn forward(client: TcpStream, server: UnixStream, faults: Arc<Faults>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let backward = tokio::spawn(async move {
        // Ends with either side.
        let _ = tokio::io::copy(&mut from_server, &mut to_client).await;
    });
    // The first message has no type byte.
    let Some(startup) = message(&mut from_client, false).await else { return backward.abort() };
    if to_server.write_all(&startup).await.is_err() {
        return backward.abort();
    }
    // None outside of a batch; other connections have transactions too, but lock nothing as they begin.
    let mut round_trips = None;
    while let Some(message) = message(&mut from_client, true).await {
        let says = |sql: &[u8]| message[0] == b'Q' && message[5..].starts_with(sql);
        if says(b"BEGIN; SELECT") {
            round_trips = Some(0);
        }
        // A simple query and a Sync are what the client waits for an answer to.
        round_trips = round_trips.map(|n| n + usize::from(matches!(message[0], b'Q' | b'S')));
        if says(b"COMMIT") {
            faults.batches.lock().unwrap().extend(round_trips.take());
        }
        if faults.strikes() {
            faults.cuts.fetch_add(1, Ordering::SeqCst);
            return backward.abort();
        }
        if says(b"COMMIT") {
            if Faults::take(&faults.unanswered_commits) {
                faults.cuts.fetch_add(1, Ordering::SeqCst);
                backward.abort();
                return commit_in_silence(to_server, message).await;
            }
            if Faults::take(&faults.swallowed_commits) {
                faults.cuts.fetch_add(1, Ordering::SeqCst);
                return backward.abort();
            }
        }
        if to_server.write_all(&message).await.is_err() {
            break;
        }
    }
    backward.abort();
}

/// The server gets the COMMIT and time to carry it out; nobody hears of it.
async fn commit_in_silence(mut to_server: OwnedWriteHalf, message: Vec<u8>) {
    let _ = to_server.write_all(&message).await;
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
}

/// One message of the protocol, whole.
async fn message(from: &mut tokio::net::tcp::OwnedReadHalf, typed: bool) -> Option<Vec<u8>> {
    let head = if typed { 5 } else { 4 };
    let mut bytes = vec![0; head];
    from.read_exact(&mut bytes).await.ok()?;
    let length = u32::from_be_bytes(bytes[head - 4..].try_into().ok()?);
    bytes.resize(head + usize::try_from(length).ok()? - 4, 0);
    from.read_exact(&mut bytes[head..]).await.ok()?;
    Some(bytes)
}
