//! A way to Postgres that breaks on demand: forwards the wire protocol and cuts connections where it is told to.
//!
//! It understands as much of the protocol (version 3) as it needs: where a client's message begins, whether it says
//! BEGIN or COMMIT, which messages are one statement, and whether the client then waits for an answer.

use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::OwnedWriteHalf;
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Whether the two ends reach each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Link {
    /// They do.
    #[default]
    Up,
    /// Nothing arrives, in either direction, and nobody is told.
    Silent,
    /// Every connection is reset, and so is whoever tries another one.
    Down,
}

/// What happens to connections.
#[derive(Default)]
pub struct Faults {
    /// The way between the two.
    link: watch::Sender<Link>,
    /// Cuts at so many COMMITs: sent to the server, carried out, and never answered.
    unanswered_commits: AtomicI64,
    /// Cuts at so many COMMITs: never sent to the server.
    swallowed_commits: AtomicI64,
    /// Cuts instead of forwarding the message at which this reaches zero.
    messages_left: AtomicI64,
    /// Lets the statement at which this reaches zero fail.
    statements_left: AtomicI64,
    /// How it fails.
    sqlstate: Mutex<&'static str>,
    /// Statements that failed so far.
    pub failures: AtomicUsize,
    /// Microseconds for which every COMMIT is held back.
    commit_delay: AtomicU64,
    /// Microseconds for which every statement is held back.
    statement_delay: AtomicU64,
    /// Connections cut so far.
    pub cuts: AtomicUsize,
    /// Round trips of each batch the journal committed.
    pub batches: Mutex<Vec<usize>>,
}

impl Faults {
    /// Lets the two ends reach each other, or not, until the next call.
    pub fn set(&self, link: Link) {
        self.link.send_replace(link);
    }

    async fn becomes(&self, is_so: impl FnMut(&Link) -> bool) {
        // The sender is our own.
        let _ = self.link.subscribe().wait_for(is_so).await;
    }

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

    /// Holds every COMMIT back for so long before the server sees it.
    pub fn delay_commits(&self, by: Duration) {
        self.commit_delay.store(u64::try_from(by.as_micros()).unwrap(), Ordering::SeqCst);
    }

    /// Lets the `n`th statement from now fail with this SQLSTATE; the server carries out nothing of it.
    pub fn fail_at_statement(&self, n: i64, sqlstate: &'static str) {
        *self.sqlstate.lock().unwrap() = sqlstate;
        self.statements_left.store(n, Ordering::SeqCst);
    }

    /// Holds every statement back for so long: whoever waits for an answer does wait.
    pub fn delay_statements(&self, by: Duration) {
        self.statement_delay.store(u64::try_from(by.as_micros()).unwrap(), Ordering::SeqCst);
    }

    /// Nothing more happens.
    pub fn calm(&self) {
        self.set(Link::Up);
        for armed in
            [&self.unanswered_commits, &self.swallowed_commits, &self.messages_left, &self.statements_left]
        {
            armed.store(0, Ordering::SeqCst);
        }
        for delay in [&self.commit_delay, &self.statement_delay] {
            delay.store(0, Ordering::SeqCst);
        }
    }

    fn take(counter: &AtomicI64) -> bool {
        counter
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| (left > 0).then_some(left - 1))
            .is_ok()
    }

    /// Whether this one is the one.
    fn strikes(counter: &AtomicI64) -> bool {
        Self::take(counter) && counter.load(Ordering::SeqCst) == 0
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
        if *faults.link.borrow() == Link::Down {
            continue;
        }
        let Ok(server) = UnixStream::connect(&socket).await else { continue };
        let faults = Arc::clone(&faults);
        tokio::spawn(async move {
            tokio::select! {
                () = forward(client, server, &faults) => {}
                () = faults.becomes(|link| *link == Link::Down) => {}
            }
        });
    }
}

/// Forwards both ways until one side closes or a fault strikes; dropping both ends is the cut.
async fn forward(client: TcpStream, server: UnixStream, faults: &Arc<Faults>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let answers = Arc::clone(faults);
    // Ends with this value.
    let mut backward = JoinSet::new();
    backward.spawn(async move {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(read @ 1..) = from_server.read(&mut buffer).await {
            answers.becomes(|link| *link != Link::Silent).await;
            if to_client.write_all(&buffer[..read]).await.is_err() {
                break;
            }
        }
    });
    // The first message has no type byte.
    let Some(startup) = message(&mut from_client, false).await else { return };
    if to_server.write_all(&startup).await.is_err() {
        return;
    }
    let mut inside_a_statement = false;
    // None outside of a batch; other connections have transactions too, but lock nothing as they begin.
    let mut round_trips = None;
    while let Some(mut sent) = message(&mut from_client, true).await {
        let says = |sql: &[u8]| sent[0] == b'Q' && sent[5..].starts_with(sql);
        if says(b"BEGIN; SELECT") {
            round_trips = Some(0);
        }
        round_trips = round_trips.map(|n| n + usize::from(ends_a_statement(&sent)));
        if says(b"COMMIT") {
            faults.batches.lock().unwrap().extend(round_trips.take());
        }
        if Faults::strikes(&faults.messages_left) {
            faults.cuts.fetch_add(1, Ordering::SeqCst);
            return;
        }
        let begins = !inside_a_statement && b"QPBDEC".contains(&sent[0]);
        if begins && Faults::strikes(&faults.statements_left) {
            faults.failures.fetch_add(1, Ordering::SeqCst);
            while !ends_a_statement(&sent) {
                let Some(next) = message(&mut from_client, true).await else { return };
                sent = next;
            }
            sent = failure(*faults.sqlstate.lock().unwrap());
        }
        inside_a_statement = (begins || inside_a_statement) && !ends_a_statement(&sent);
        if sent[0] == b'Q' && sent[5..].starts_with(b"COMMIT") {
            if Faults::take(&faults.unanswered_commits) {
                faults.cuts.fetch_add(1, Ordering::SeqCst);
                drop(backward);
                return commit_in_silence(to_server, sent).await;
            }
            if Faults::take(&faults.swallowed_commits) {
                faults.cuts.fetch_add(1, Ordering::SeqCst);
                return;
            }
            pause(&faults.commit_delay).await;
        }
        if ends_a_statement(&sent) {
            pause(&faults.statement_delay).await;
        }
        faults.becomes(|link| *link != Link::Silent).await;
        if to_server.write_all(&sent).await.is_err() {
            break;
        }
    }
}

async fn pause(micros: &AtomicU64) {
    let micros = micros.load(Ordering::SeqCst);
    if micros > 0 {
        tokio::time::sleep(Duration::from_micros(micros)).await;
    }
}

/// A query, or the Sync after the parts of a prepared one: the server answers up to here.
fn ends_a_statement(message: &[u8]) -> bool {
    matches!(message[0], b'Q' | b'S')
}

/// A query that fails, in the place of another: the same answer, and the same end of the transaction.
fn failure(sqlstate: &str) -> Vec<u8> {
    let sql = format!("DO $$BEGIN RAISE EXCEPTION 'injected' USING ERRCODE = '{sqlstate}'; END$$\0");
    let length = u32::try_from(sql.len() + 4).unwrap().to_be_bytes();
    [b"Q", length.as_slice(), sql.as_bytes()].concat()
}

/// The server gets the COMMIT and time to carry it out; nobody hears of it.
async fn commit_in_silence(mut to_server: OwnedWriteHalf, message: Vec<u8>) {
    let _ = to_server.write_all(&message).await;
    tokio::time::sleep(Duration::from_millis(5)).await;
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
