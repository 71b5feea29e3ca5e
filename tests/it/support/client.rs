//! An app that talks to the bank.

use std::net::SocketAddr;

use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

/// The password of the demo's people.
pub const PASSWORD: &str = "bursar-demo-2026";

/// A caller, with or without a token.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    token: Option<String>,
}

/// What came back.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
    /// Null when the body is not JSON.
    pub body: Value,
}

impl Answer {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    #[track_caller]
    pub fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }

    /// A problem with this status and code, and with every member that a problem has.
    #[track_caller]
    pub fn problem(self, status: u16, code: &str) -> Self {
        assert_eq!((self.status, self.body["code"].as_str()), (status, Some(code)), "{}", self.text);
        assert_eq!(self.header("content-type"), "application/problem+json");
        assert_eq!(self.body["status"], status);
        for member in ["type", "title", "detail", "instance"] {
            assert!(
                self.body[member].as_str().is_some_and(|text| !text.is_empty()),
                "{member}: {}",
                self.text
            );
        }
        assert_eq!(self.body["traceId"], self.header("x-request-id"));
        self
    }

    /// A text of the body.
    #[track_caller]
    pub fn text_at(&self, member: &str) -> &str {
        self.body[member].as_str().unwrap_or_else(|| panic!("no text {member} in {}", self.text))
    }

    /// A whole number of the body.
    #[track_caller]
    pub fn number_at(&self, member: &str) -> i64 {
        self.body[member].as_i64().unwrap_or_else(|| panic!("no number {member} in {}", self.text))
    }

    /// A list of the body.
    #[track_caller]
    pub fn list_at(&self, member: &str) -> &[Value] {
        self.body[member].as_array().unwrap_or_else(|| panic!("no list {member} in {}", self.text))
    }

    /// The pointers of the field errors of a 400.
    #[track_caller]
    pub fn pointers(&self) -> Vec<&str> {
        assert_eq!(self.status, 400, "{}", self.text);
        let errors = self.body["errors"].as_array().expect("field errors");
        errors.iter().map(|error| error["pointer"].as_str().unwrap()).collect()
    }
}

/// A request before it is sent.
pub struct Request(reqwest::RequestBuilder);

impl Request {
    pub fn key(self, key: &str) -> Self {
        self.header("Idempotency-Key", key)
    }

    pub fn header(self, name: &str, value: &str) -> Self {
        Self(self.0.header(name, value))
    }

    /// A header that need not be text.
    pub fn header_value(self, name: &str, value: HeaderValue) -> Self {
        Self(self.0.header(name, value))
    }

    pub fn json(self, body: &Value) -> Self {
        Self(self.0.json(body))
    }

    pub fn raw(self, content_type: &str, body: impl Into<reqwest::Body>) -> Self {
        Self(self.0.header("content-type", content_type).body(body))
    }

    /// The same once more, byte by byte.
    pub fn again(&self) -> Self {
        Self(self.0.try_clone().expect("the body is not a stream"))
    }

    /// For a router instead of a network.
    pub fn into_http(self) -> axum::http::Request<axum::body::Body> {
        let request: axum::http::Request<reqwest::Body> = self.0.build().unwrap().try_into().unwrap();
        request.map(axum::body::Body::new)
    }

    pub async fn send(self) -> Answer {
        self.try_send().await.expect("an answer")
    }

    /// None when the connection breaks before the whole answer is there.
    pub async fn try_send(self) -> Option<Answer> {
        let answer = self.0.send().await.ok()?;
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        let is_stream = headers.get("content-type").is_some_and(|media| media == "text/event-stream");
        // A stream has no end: its first frame is the answer.
        let text = if is_stream { first_of(answer).await? } else { answer.text().await.ok()? };
        Some(Answer { status, headers, body: serde_json::from_str(&text).unwrap_or_default(), text })
    }
}

async fn first_of(mut stream: reqwest::Response) -> Option<String> {
    String::from_utf8(stream.chunk().await.ok()??.to_vec()).ok()
}

impl Client {
    pub fn new(address: SocketAddr) -> Self {
        Self { http: reqwest::Client::new(), base: format!("http://{address}"), token: None }
    }

    pub fn with_token(&self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self.clone() }
    }

    pub fn without_token(&self) -> Self {
        Self { token: None, ..self.clone() }
    }

    /// The same caller at another server.
    pub fn at(&self, address: SocketAddr) -> Self {
        Self { base: format!("http://{address}"), ..self.clone() }
    }

    pub fn token(&self) -> &str {
        self.token.as_deref().expect("not logged in")
    }

    pub async fn login(&self, email: &str) -> Self {
        let session = self.session(email, "test-device").await;
        self.with_token(session["accessToken"].as_str().unwrap())
    }

    /// A whole login answer.
    pub async fn session(&self, email: &str, device: &str) -> Value {
        self.try_session(email, device).await.is(200).body
    }

    /// A login, whatever comes of it.
    pub async fn try_session(&self, email: &str, device: &str) -> Answer {
        let body = json!({
            "username": email,
            "password": PASSWORD,
            "deviceInfo": {"deviceId": device, "deviceType": "DESKTOP"},
        });
        self.request(Method::POST, "/v1/users/password/login").json(&body).send().await
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    pub fn request(&self, method: Method, path: &str) -> Request {
        let request = self.http.request(method, format!("{}{path}", self.base));
        Request(match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        })
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.request(Method::GET, path).send().await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.request(Method::POST, path).json(body).send().await
    }

    pub async fn put(&self, path: &str, body: &Value) -> Answer {
        self.request(Method::PUT, path).json(body).send().await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.request(Method::DELETE, path).send().await
    }

    pub async fn post_with_key(&self, path: &str, key: &str, body: &Value) -> Answer {
        self.request(Method::POST, path).key(key).json(body).send().await
    }

    /// Pays `amount` kobo from one account to another.
    pub async fn pay(&self, source: &str, destination: &str, amount: i64, key: &str) -> Answer {
        self.try_pay(source, destination, amount, key).await.expect("an answer")
    }

    /// As [`pay`](Self::pay); none when the server is gone before the whole answer is there.
    pub async fn try_pay(&self, source: &str, destination: &str, amount: i64, key: &str) -> Option<Answer> {
        let request = self.request(Method::POST, "/v1/payments/transfer/internal").key(key);
        request.json(&transfer(source, destination, amount)).try_send().await
    }

    /// Ledger balance in kobo.
    pub async fn balance(&self, account: &str) -> i64 {
        let answer = self.get(&format!("/v1/accounts/{account}/balance")).await.is(200);
        answer.body["ledgerBalance"].as_i64().unwrap()
    }
}

pub fn transfer(source: &str, destination: &str, amount: i64) -> Value {
    json!({
        "sourceAccount": source,
        "destinationAccount": destination,
        "destinationName": "Bola Adeyemi",
        "amount": amount,
        "currency": "NGN",
        "narration": "Lunch",
        "reference": "LUNCH",
    })
}
