//! The bank as a process of its own, to be killed. The test binary runs itself again as `bursar`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use super::MASTER_KEY;

/// Set in the child: the arguments of `bursar`, one a line.
const ARGUMENTS: &str = "TEST_BURSAR_ARGUMENTS";

/// Not a test: the door through which the child becomes `bursar`. Without the variable it does nothing.
#[test]
fn become_bursar() {
    if let Ok(arguments) = std::env::var(ARGUMENTS) {
        let arguments = std::iter::once("bursar".into()).chain(arguments.lines().map(Into::into));
        let code = bursar_api::cli::run(arguments);
        // An exit code does not tell its number; it only compares.
        let number = (0..=u8::MAX).find(|number| code == ExitCode::from(*number)).unwrap();
        std::process::exit(number.into());
    }
}

/// A command line of `bursar` in a process of its own.
pub fn bursar(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "support::process::become_bursar", "--nocapture", "--quiet"])
        .env(ARGUMENTS, arguments.join("\n"))
        .env_remove("DATABASE_URL")
        .stdin(Stdio::null());
    command
}

/// How a command line ended.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// Runs a command line to its end.
pub async fn run(mut command: Command) -> Ended {
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    // The test harness of the child speaks first.
    let out = out.split_once("running 1 test\n").map_or(&*out, |(_, out)| out).to_owned();
    Ended { code: output.status.code().unwrap(), out, err: String::from_utf8(output.stderr).unwrap() }
}

/// A directory of a test's own, where an ordinary user's Postgres can get at it too.
pub fn directory(name: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("bursar-test-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

/// Nobody listens there yet.
fn free_address() -> SocketAddr {
    std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap()
}

/// A server process.
pub struct Server {
    child: Child,
    pub address: SocketAddr,
}

impl Server {
    /// Starts a demo bank of six people on `data_dir` and waits until it is ready. Unless the directory has a master key,
    /// it is that of every test bank, so that the test can read what the server wrote.
    pub async fn start(data_dir: &Path) -> Self {
        let key = data_dir.join("master.key");
        if !key.exists() {
            std::fs::create_dir_all(data_dir).unwrap();
            std::fs::write(key, MASTER_KEY).unwrap();
        }
        Self::start_with(data_dir, |_| {}).await
    }

    /// As [`start`](Self::start), with something changed about the process; it makes a master key of its own.
    pub async fn start_with(data_dir: &Path, change: impl FnOnce(&mut Command)) -> Self {
        let (address, data_dir) = (free_address(), data_dir.to_str().unwrap());
        let bank = ["--days", "0", "--customers", "0"];
        let place = ["demo", "--listen", &address.to_string(), "--data-dir", data_dir];
        Self::spawn(address, bursar(&[&place, bank.as_slice()].concat()), change).await
    }

    /// One server of a test bank that is in the database at `url`, and waits until it is ready.
    pub async fn serve(url: &str, data_dir: &Path) -> Self {
        let (address, data_dir) = (free_address(), data_dir.to_str().unwrap());
        let listen = address.to_string();
        let place =
            ["serve", "--sandbox", "--listen", &listen, "--data-dir", data_dir, "--database-url", url];
        Self::spawn(address, bursar(&place), |command| {
            command.env("BURSAR_MASTER_KEY", MASTER_KEY).env("BURSAR_LIMITS_ENABLED", "false");
        })
        .await
    }

    async fn spawn(address: SocketAddr, mut command: Command, change: impl FnOnce(&mut Command)) -> Self {
        // Nobody is logged out meanwhile, however long it takes.
        command.stdout(Stdio::null()).env("BURSAR_AUTH_ACCESS_SECONDS", "86400");
        change(&mut command);
        let server = Self { child: command.spawn().unwrap(), address };
        server.ready().await;
        server
    }

    /// Its number.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// SIGTERM: it may finish what it does. Answers its exit code.
    pub async fn stop(mut self) -> i32 {
        let sent = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let patience = Instant::now() + Duration::from_secs(60);
        while Instant::now() < patience {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code().expect("it was killed");
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("it does not stop");
    }

    async fn ready(&self) {
        let deadline = Instant::now() + Duration::from_secs(60);
        let url = format!("http://{}/readyz", self.address);
        while Instant::now() < deadline {
            if reqwest::get(&url).await.is_ok_and(|answer| answer.status().is_success()) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("the server is not ready after a minute");
    }

    /// SIGKILL: no goodbye.
    pub fn kill(self) {
        drop(self);
    }
}

impl Drop for Server {
    /// A test that fails leaves no server behind. One that has ended already is only waited for.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
