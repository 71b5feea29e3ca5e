//! T52: a program that knows nothing of the bank but its OpenAPI document asks whatever the document allows, and much that it does
//! not. No answer is a fault of the server's, and each is one that the document promises.

use std::path::PathBuf;
use std::process::Command;

use super::scratch;
use crate::support::Scratch;
use crate::support::chance::{did, scaled};
use crate::support::client::Client;
use crate::support::process::Server;

/// For each of the two who ask; `TEST_SCALE=20` is ten minutes.
const SECONDS: usize = 30;

/// Schemathesis, installed once into a virtual environment of its own: never in CI, where no index of packages may be asked.
fn schemathesis() -> PathBuf {
    let home = scratch().join("schemathesis");
    let program = home.join("bin/schemathesis");
    if !program.exists() {
        let made = Command::new("python3").args(["-m", "venv"]).arg(&home).status().expect("python3");
        assert!(made.success(), "python3 -m venv");
        let pip =
            Command::new(home.join("bin/pip")).args(["install", "--quiet", "schemathesis>=4,<5"]).status();
        assert!(pip.unwrap().success(), "pip install schemathesis");
    }
    program
}

/// 503 is an answer, to who asks for a position of the log that nobody has written.
const SETTINGS: &str = r#"
[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", "503"]
"#;

/// Whatever ends a session or moves the clock would end the conversation; a stream has no end.
const NOT_ASKED: &str = "^/v1/sandbox/clock|^/v1/events/stream|/logout|/revoke|password";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "just torture"]
async fn whatever_is_asked_the_answer_is_one_that_the_document_promises() {
    let data = Scratch::new("asked");
    let limits_off = |command: &mut Command| {
        command.env("BURSAR_LIMITS_ENABLED", "false");
    };
    let server = Server::start_with(data.path(), limits_off).await;
    let settings = data.path().join("schemathesis.toml");
    std::fs::write(&settings, SETTINGS).unwrap();
    let seed = std::env::var("TEST_SEED").unwrap_or_else(|_| "7".to_owned());
    println!("TEST_SEED={seed}");
    for who in ["ada@example.com", "approver@example.com"] {
        let client = Client::new(server.address).login(who).await;
        let mut asks = Command::new(schemathesis());
        asks.arg("--config-file").arg(&settings).args(["run", &client.url("/openapi.json"), "--no-color"]);
        asks.args(["-H", &format!("Authorization: Bearer {}", client.token()), "--continue-on-failure"]);
        asks.args(["--checks", CHECKS, "--exclude-path-regex", NOT_ASKED, "--phases", "coverage,fuzzing"]);
        asks.args([
            "--max-time",
            &(SECONDS * scaled(1)).to_string(),
            "--seed",
            &seed,
            "--request-timeout",
            "30",
        ]);
        asks.args(["--warnings", "off"]).current_dir(data.path());
        let ended = tokio::task::spawn_blocking(move || asks.output()).await.unwrap().unwrap();
        let said = String::from_utf8_lossy(&ended.stdout).into_owned();
        let generated = said.lines().find_map(|line| line.trim().split_once(" generated"));
        let count = generated.map_or(0, |(count, _)| count.replace(',', "").parse().unwrap_or(0));
        did(count, "requests");
        assert!(
            ended.status.success() && count > 100,
            "{who}: {said}{}",
            String::from_utf8_lossy(&ended.stderr)
        );
    }
    assert_eq!(server.stop().await, 0);
}

const CHECKS: &str =
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance";
