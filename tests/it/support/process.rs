//! The bank as a process of its own, to be killed. The test binary runs itself again as `bursar`.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Set in the child: the arguments of `bursar`, one a line.
const ARGUMENTS: &str = "TEST_BURSAR_ARGUMENTS";

/// Not a test: the door through which the child becomes `bursar`. Without the variable it does nothing.
#[test]
fn become_bursar() {
    if let Ok(arguments) = std::env::var(ARGUMENTS) {
        let arguments = std::iter::once("bursar".into()).chain(arguments.lines().map(Into::into));
        let code = bursar_api::cli::run(arguments);
        std::process::exit(i32::from(code != std::process::ExitCode::SUCCESS));
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

/// A server process.
pub struct Server {
    child: Child,
    pub address: SocketAddr,
}

impl Server {
    /// Starts a demo bank of six people on `data_dir` and waits until it is ready.
    pub async fn start(data_dir: &Path) -> Self {
        let address = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
        let (listen, data_dir) = (address.to_string(), data_dir.to_str().unwrap());
        let bank = ["--days", "0", "--customers", "0"];
        let mut command =
            bursar(&[&["demo", "--listen", &listen, "--data-dir", data_dir], bank.as_slice()].concat());
        let server = Self { child: command.stdout(Stdio::null()).spawn().unwrap(), address };
        server.ready().await;
        server
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
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
