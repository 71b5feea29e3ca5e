//! The same payments over HTTP: tokens, JSON, idempotency keys, one keep-alive connection a client.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bursar_commands::vault::unlock;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::Error;
use super::bank::{Bank, PASSWORD};
use super::load::{Measured, Shape, gather, histogram};
use crate::app::{self, App, Wiring};
use crate::config::Config;

/// The server under load, in this process, and what its clients know.
pub(super) struct Site {
    server: JoinHandle<()>,
    stop: oneshot::Sender<()>,
    address: SocketAddr,
    numbers: Arc<Vec<String>>,
    tokens: Arc<Vec<String>>,
}

impl Site {
    /// Closes the bank's journal and opens the same bank behind HTTP; logs everybody in.
    pub(super) async fn open(bank: Bank, config: &Config) -> Result<Self, Error> {
        bank.journal.close().await;
        let mut config = config.clone();
        config.limits.enabled = false;
        let wiring = Wiring {
            secrets: unlock(&bank.pool, &bank.master, &bank.sources).await?,
            pool: bank.pool,
            sources: bank.sources,
            clock: bank.clock,
            devices: None,
        };
        let app = App::build(config, wiring).await?;
        timeout(Duration::from_secs(600), caught_up(&app)).await??;
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let server = tokio::spawn(app::serve(app, listener, async {
            // A dropped sender means the same.
            let _ = stopped.await;
        }));
        let mut tokens = Vec::new();
        for login in &bank.logins {
            tokens.push(token(address, login).await?);
        }
        let numbers = bank.accounts.iter().map(|account| account.number.to_string()).collect();
        Ok(Self { server, stop, address, numbers: Arc::new(numbers), tokens: Arc::new(tokens) })
    }

    pub(super) async fn close(self) -> Result<(), Error> {
        // If it is gone already, the server has ended by itself and says why.
        let _ = self.stop.send(());
        Ok(self.server.await?)
    }
}

/// Waits until the log is sealed and looked at as far as it goes. A bank that is at work never has a million events to
/// catch up with.
async fn caught_up(app: &App) -> Result<(), Error> {
    let behind =
        "SELECT greatest(CASE WHEN $1 THEN head.position - coalesce((SELECT max(size) FROM seals), 0) END,
                                  CASE WHEN $2 THEN head.position - monitor.position END, 0) > 0
                    FROM head, monitor";
    let (seals, looks) = (app.config.audit.seal_millis > 0, app.config.audit.monitor_millis > 0);
    while sqlx::query_scalar(behind).bind(seals).bind(looks).fetch_one(&app.pool).await? {
        sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}

/// Pays over HTTP; anything but 201 ends the benchmark.
pub(super) async fn load(
    site: &Site,
    clients: usize,
    shape: Shape,
    seconds: Duration,
) -> Result<Measured, Error> {
    let started = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    let run = bursar_domain::kernel::uuid_v7(&crate::sources::system().0);
    for client in 0..clients {
        let mut connection = Connection::open(site.address).await?;
        let (numbers, tokens) = (Arc::clone(&site.numbers), Arc::clone(&site.tokens));
        tasks.spawn(async move {
            let mut latency = histogram()?;
            let mut n = 0;
            while started.elapsed() < seconds {
                let (payer, payee) = shape.pair(client, n);
                let body = format!(
                    r#"{{"sourceAccount":"{}","destinationAccount":"{}","destinationName":"Bench Payer","amount":1,"currency":"NGN","narration":"bench","reference":"BENCH","saveAsBeneficiary":false}}"#,
                    numbers[payer], numbers[payee],
                );
                let key = format!("{:?}-{run}-{client}-{n}", shape);
                let asked = Instant::now();
                let path = "/v1/payments/transfer/internal";
                let (status, answer) =
                    connection.post(path, Some(&tokens[payer % tokens.len()]), Some(&key), &body).await?;
                if status != 201 {
                    return Err(format!("status {status}: {}", String::from_utf8_lossy(&answer)).into());
                }
                latency.record(u64::try_from(asked.elapsed().as_micros())?)?;
                n += 1;
            }
            Ok::<_, Error>(latency)
        });
    }
    let latency = gather(tasks).await?;
    Ok(Measured { clients, shape, latency, elapsed: started.elapsed() })
}

async fn token(address: SocketAddr, login: &str) -> Result<String, Error> {
    let body = format!(
        r#"{{"username":"{login}","password":"{PASSWORD}","deviceInfo":{{"deviceId":"bench","deviceType":"DESKTOP"}}}}"#
    );
    let mut connection = Connection::open(address).await?;
    let (status, answer) = connection.post("/v1/users/password/login", None, None, &body).await?;
    let answer: serde_json::Value = serde_json::from_slice(&answer)?;
    match answer["accessToken"].as_str() {
        Some(token) if status == 200 => Ok(token.to_owned()),
        _ => Err(format!("login answered {status}: {answer}").into()),
    }
}

/// A keep-alive connection that does no more than a load generator needs, because it shares the machine's processors.
struct Connection {
    stream: TcpStream,
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl Connection {
    async fn open(address: SocketAddr) -> Result<Self, Error> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, request: Vec::new(), answer: Vec::new() })
    }

    async fn post(
        &mut self,
        path: &str,
        token: Option<&str>,
        key: Option<&str>,
        body: &str,
    ) -> Result<(u16, Vec<u8>), Error> {
        use std::io::Write as _;
        self.request.clear();
        write!(self.request, "POST {path} HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\n")?;
        if let Some(token) = token {
            write!(self.request, "authorization: Bearer {token}\r\n")?;
        }
        if let Some(key) = key {
            write!(self.request, "idempotency-key: {key}\r\n")?;
        }
        write!(self.request, "content-length: {}\r\n\r\n{body}", body.len())?;
        self.stream.write_all(&self.request).await?;
        self.answer.clear();
        loop {
            if self.stream.read_buf(&mut self.answer).await? == 0 {
                return Err("the server closed the connection".into());
            }
            if let Some((status, body)) = complete(&self.answer)? {
                return Ok((status, body.to_vec()));
            }
        }
    }
}

/// Status and body, once the whole answer is there.
fn complete(answer: &[u8]) -> Result<Option<(u16, &[u8])>, Error> {
    let mut headers = [httparse::EMPTY_HEADER; 32];
    let mut head = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(start) = head.parse(answer)? else { return Ok(None) };
    let length = head
        .headers
        .iter()
        .find(|header| header.name.eq_ignore_ascii_case("content-length"))
        .and_then(|header| std::str::from_utf8(header.value).ok()?.parse::<usize>().ok())
        .ok_or("an answer without a length")?;
    let status = head.code.ok_or("an answer without a status")?;
    Ok(answer.get(start..start + length).map(|body| (status, body)))
}
