//! A real browser without a window, driven over its DevTools protocol.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use super::Scratch;

/// How long anything may take to be seen. A loaded machine has time.
const PATIENCE: Duration = Duration::from_secs(30);

/// One page in a browser of its own; gone when it is dropped.
pub struct Browser {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    session: String,
    asked: u64,
    /// What the page complained about: exceptions, and what its policy refused.
    complaints: Vec<String>,
    process: Child,
    profile: Scratch,
}

/// Where a browser is.
fn program() -> PathBuf {
    let places = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let all = std::env::split_paths(&places).flat_map(|dir| names.map(|name| dir.join(name)));
    all.into_iter()
        .find(|path| path.exists())
        .expect("the console is tried in Chromium: apt-get install chromium")
}

impl Browser {
    /// Opens a browser.
    pub async fn open() -> Self {
        let profile = Scratch::new("browser");
        let mut process = Command::new(program())
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
            ])
            .args(["--disable-extensions", "--disable-background-networking", "--disable-component-update"])
            .args(["--hide-scrollbars", "--force-color-profile=srgb", "--remote-debugging-port=0"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let address = loop {
            let line = lines.next_line().await.unwrap().expect("the browser has not started");
            if let Some((_, address)) = line.split_once("DevTools listening on ") {
                break address.to_owned();
            }
        };
        // Whoever does not read what it says stops it.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        let (socket, _) = connect_async(&address).await.unwrap();
        let mut browser =
            Self { socket, session: String::new(), asked: 0, complaints: Vec::new(), process, profile };
        let page = browser.call("Target.createTarget", json!({"url": "about:blank"})).await;
        let attach = json!({"targetId": page["targetId"], "flatten": true});
        let attached = browser.call("Target.attachToTarget", attach).await;
        browser.session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({})).await;
        }
        browser.sized(1280, 800).await;
        browser
    }

    /// One method of the protocol.
    pub async fn call(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let mut request = json!({"id": self.asked, "method": method, "params": params});
        if !self.session.is_empty() {
            request["sessionId"] = json!(self.session);
        }
        self.socket.send(Message::text(request.to_string())).await.unwrap();
        loop {
            let message = tokio::time::timeout(PATIENCE, self.socket.next()).await;
            let message = message.unwrap_or_else(|_| panic!("{method}: no answer")).unwrap().unwrap();
            let Message::Text(text) = message else { continue };
            let mut answer: Value = serde_json::from_str(&text).unwrap();
            if answer["id"] == self.asked {
                assert!(answer.get("error").is_none(), "{method}: {text}");
                return answer["result"].take();
            }
            self.hear(&answer);
        }
    }

    fn hear(&mut self, event: &Value) {
        let params = &event["params"];
        match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => self.complaints.push(params.to_string()),
            // That the server refuses something is an answer, not a fault of the page.
            Some("Log.entryAdded")
                if params["entry"]["source"] != "network" && params["entry"]["level"] == "error" =>
            {
                self.complaints.push(params.to_string());
            }
            _ => {}
        }
    }

    /// What JavaScript comes to in the page.
    pub async fn eval(&mut self, script: &str) -> Value {
        let params = json!({"expression": script, "awaitPromise": true, "returnByValue": true});
        let mut answer = self.call("Runtime.evaluate", params).await;
        assert!(answer.get("exceptionDetails").is_none(), "{script}: {answer}");
        answer["result"]["value"].take()
    }

    /// Returns once `condition` is true in the page.
    pub async fn until(&mut self, condition: &str) {
        let began = Instant::now();
        while self.eval(&format!("Boolean({condition})")).await != true {
            if began.elapsed() > PATIENCE {
                let text = self.text().await;
                panic!("never: {condition}\n{text}\n{:?}", self.complaints);
            }
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    }

    /// Returns once the page shows these words.
    pub async fn sees(&mut self, words: &str) {
        self.until(&format!("document.body.innerText.includes({})", json!(words))).await;
    }

    /// Everything that is to be read on the page.
    pub async fn text(&mut self) -> String {
        self.eval("document.body.innerText").await.as_str().unwrap_or_default().to_owned()
    }

    /// Goes to an address and waits for its page.
    pub async fn go(&mut self, url: &str) {
        self.call("Page.navigate", json!({"url": url})).await;
        self.until("document.readyState === 'complete' && document.querySelector('main')").await;
    }

    /// Presses what `selector` finds, once it is there.
    pub async fn click(&mut self, selector: &str) {
        let found = format!("document.querySelector({})", json!(selector));
        self.until(&format!("{found} && !{found}.disabled")).await;
        self.eval(&format!("{found}.click()")).await;
    }

    /// Presses the button or follows the link that reads `words`, once it is there.
    pub async fn press(&mut self, words: &str) {
        let found = format!(
            "[...document.querySelectorAll('dialog button, button, a, summary')].find((one) => one.innerText.trim() === {} && !one.disabled && (!document.querySelector('dialog') || one.closest('dialog')))",
            json!(words)
        );
        self.until(&found).await;
        self.eval(&format!("{found}.click()")).await;
    }

    /// Puts the focus somewhere and writes there, as on a keyboard.
    pub async fn write(&mut self, selector: &str, text: &str) {
        let found = format!("document.querySelector({})", json!(selector));
        self.until(&found).await;
        self.eval(&format!("{found}.focus()")).await;
        self.call("Input.insertText", json!({"text": text})).await;
    }

    /// Presses keys, one after another: single letters, or `Enter`, `Tab`, `Escape`, `ArrowLeft`.
    pub async fn keys(&mut self, keys: &[&str]) {
        for key in keys {
            let (code, text) = match *key {
                "Enter" => (13, "\r"),
                "Tab" => (9, ""),
                "Escape" => (27, ""),
                "ArrowLeft" => (37, ""),
                letter => (0, letter),
            };
            let mut down = json!({"type": if text.is_empty() { "rawKeyDown" } else { "keyDown" }, "key": key, "windowsVirtualKeyCode": code});
            if !text.is_empty() {
                down["text"] = json!(text);
            }
            self.call("Input.dispatchKeyEvent", down).await;
            let up = json!({"type": "keyUp", "key": key, "windowsVirtualKeyCode": code});
            self.call("Input.dispatchKeyEvent", up).await;
        }
    }

    /// A window of this size.
    pub async fn sized(&mut self, width: u32, height: u32) {
        let mobile = width < 600;
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile});
        self.call("Emulation.setDeviceMetricsOverride", metrics).await;
    }

    /// What the system prefers: `light` or `dark`.
    pub async fn prefers(&mut self, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", json!({"features": features})).await;
    }

    /// Keeps a picture of the page, where `BURSAR_SCREENSHOTS` names a directory.
    pub async fn picture(&mut self, name: &str) {
        use base64::Engine as _;
        let Some(dir) = std::env::var_os("BURSAR_SCREENSHOTS") else { return };
        let shot = self
            .call("Page.captureScreenshot", json!({"format": "png", "captureBeyondViewport": true}))
            .await;
        let bytes = base64::engine::general_purpose::STANDARD.decode(shot["data"].as_str().unwrap()).unwrap();
        std::fs::write(PathBuf::from(dir).join(format!("{name}.png")), bytes).unwrap();
    }

    /// The page has complained about nothing; closes it.
    pub async fn close(mut self) {
        self.eval("0").await;
        assert_eq!(self.complaints, Vec::<String>::new());
        let _ = self.process.kill().await;
        // Not before: it writes there until it ends.
        drop(self.profile);
    }
}
