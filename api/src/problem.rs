//! The one error body: RFC 9457 problem details.
//!
//! A handler answers `Result<_, Problem>` and uses `?`: whatever a use case or the store says becomes a problem. The body is written at the edge of the server, which knows
//! the route and the request id; see [`Problem::render`].

use std::collections::BTreeMap;

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use bursar_commands::journal::{NoSuchEvent, StoreError};
use bursar_commands::{CommandError, SubmitError};
use bursar_domain::kernel::Permission;
use bursar_domain::{Rejection, RejectionKind};
use serde_json::{Value, json};

/// What is wrong with one field.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
pub struct FieldError {
    /// JSON pointer (RFC 6901) into the body; for a query parameter, its name after a slash.
    pub pointer: String,
    /// Stable, UPPER_SNAKE.
    pub code: &'static str,
    /// For people.
    pub message: String,
}

/// Why a request was not carried out.
#[derive(Debug, Clone)]
pub struct Problem(Box<Parts>);

#[derive(Debug, Clone)]
struct Parts {
    status: StatusCode,
    code: &'static str,
    detail: String,
    members: Vec<(&'static str, Value)>,
    errors: Vec<FieldError>,
    /// Seconds.
    retry_after: Option<u64>,
}

/// The body, in the order people read it.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    r#type: String,
    title: &'static str,
    status: u16,
    detail: String,
    instance: String,
    code: &'static str,
    trace_id: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<FieldError>,
    #[serde(flatten)]
    members: BTreeMap<&'static str, Value>,
}

impl Problem {
    /// A problem with this status, code and explanation.
    #[must_use]
    pub fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self(Box::new(Parts {
            status,
            code,
            detail: detail.into(),
            members: Vec::new(),
            errors: Vec::new(),
            retry_after: None,
        }))
    }

    /// What a refusal of the domain looks like from outside.
    #[must_use]
    pub fn refused(reason: &dyn Rejection) -> Self {
        let mut problem = Self::new(status_of(reason.kind()), reason.code(), reason.to_string());
        problem.0.members = reason.members();
        let wait = problem.0.members.iter().find(|(name, _)| *name == "retryAfter");
        problem.0.retry_after = wait.and_then(|(_, seconds)| seconds.as_u64());
        problem
    }

    /// 400 with every field error there is.
    #[must_use]
    pub fn invalid(errors: Vec<FieldError>) -> Self {
        let mut problem = Self::new(StatusCode::BAD_REQUEST, "VALIDATION_FAILED", "the request is not valid");
        problem.0.errors = errors;
        problem
    }

    /// 400 for one thing.
    #[must_use]
    pub fn bad_request(pointer: impl Into<String>, code: &'static str, message: impl Into<String>) -> Self {
        Self::invalid(vec![FieldError { pointer: pointer.into(), code, message: message.into() }])
    }

    /// 401. One text for every reason, so that a token tells nothing about itself.
    #[must_use]
    pub fn unauthenticated() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED", "a valid access token is needed")
    }

    /// 403, naming what is missing.
    #[must_use]
    pub fn permission_denied(needed: Permission) -> Self {
        Self::new(StatusCode::FORBIDDEN, "PERMISSION_DENIED", format!("the permission {needed} is needed"))
            .with("permission", json!(needed))
    }

    /// 404 for something that is not there, or not the caller's.
    #[must_use]
    pub fn not_found(thing: &'static str) -> Self {
        Self::refused(&bursar_commands::NotFound(thing))
    }

    /// 429.
    #[must_use]
    pub fn throttled(retry_after: u64) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, "RATE_LIMITED", "too many requests").retry_after(retry_after)
    }

    /// 500. What happened is in the server's log, under the trace id.
    #[must_use]
    pub fn internal() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL_ERROR", "something went wrong on our side")
    }

    /// 503: nothing is wrong with the request, try again in `retry_after` seconds.
    #[must_use]
    pub fn unavailable(detail: &'static str, retry_after: u64) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "UNAVAILABLE", detail).retry_after(retry_after)
    }

    /// Adds an extension member.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: Value) -> Self {
        self.0.members.push((name, value));
        self
    }

    /// Says when to try again, in seconds.
    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.0.retry_after = Some(seconds);
        self
    }

    /// Its status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.0.status
    }

    /// Its code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.0.code
    }

    /// The response.
    ///
    /// `route` is the template of the route (`/v1/accounts/:accountNo`), never the path asked for: the body about a
    /// stranger's account must equal the body about an account that does not exist, byte for byte.
    #[must_use]
    pub fn render(self, route: &str, trace_id: &str) -> Response {
        let Parts { status, code, detail, members, errors, retry_after } = *self.0;
        let instance =
            if route.is_empty() { "/".to_owned() } else { route.replace('{', ":").replace('}', "") };
        let body = Written {
            r#type: format!("urn:bursar:problem:{}", code.to_ascii_lowercase().replace('_', "-")),
            title: status.canonical_reason().unwrap_or("Problem"),
            status: status.as_u16(),
            detail,
            instance,
            code,
            trace_id,
            errors,
            members: members.into_iter().collect(),
        };
        // Names and plain values: nothing in it can fail to be written.
        let body = serde_json::to_vec(&body).unwrap_or_default();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl IntoResponse for Problem {
    /// Only carries the problem to the edge, which calls [`Problem::render`].
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = self.0.status;
        response.extensions_mut().insert(self);
        response
    }
}

const fn status_of(kind: RejectionKind) -> StatusCode {
    match kind {
        RejectionKind::Invalid => StatusCode::BAD_REQUEST,
        RejectionKind::Unauthenticated => StatusCode::UNAUTHORIZED,
        RejectionKind::Forbidden => StatusCode::FORBIDDEN,
        RejectionKind::NotFound => StatusCode::NOT_FOUND,
        RejectionKind::Conflict => StatusCode::CONFLICT,
        RejectionKind::Stale => StatusCode::PRECONDITION_FAILED,
        RejectionKind::Unprocessable => StatusCode::UNPROCESSABLE_ENTITY,
        RejectionKind::Throttled => StatusCode::TOO_MANY_REQUESTS,
    }
}

impl From<SubmitError> for Problem {
    fn from(error: SubmitError) -> Self {
        match error {
            SubmitError::Refused(reason) => Self::refused(&*reason),
            SubmitError::KeyReused => Self::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "IDEMPOTENCY_KEY_REUSED",
                "the Idempotency-Key was used with another body",
            ),
            SubmitError::Busy => Self::unavailable("too many requests are waiting", 1),
            SubmitError::Unavailable => Self::unavailable("the bank cannot write at the moment", 2),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        // The text may name tables; it is for the log, not for the caller.
        tracing::error!(%error, "the store failed");
        Self::unavailable("the bank cannot read at the moment", 2)
    }
}

/// The database did not answer a query.
impl From<sqlx::Error> for Problem {
    fn from(error: sqlx::Error) -> Self {
        StoreError::from(error).into()
    }
}

impl From<NoSuchEvent> for Problem {
    fn from(error: NoSuchEvent) -> Self {
        tracing::error!(%error, "an answer cannot be made");
        Self::internal()
    }
}

impl From<CommandError> for Problem {
    fn from(error: CommandError) -> Self {
        match error {
            CommandError::Submit(error) => error.into(),
            CommandError::Store(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use bursar_domain::ledger::LedgerError;
    use http_body_util::BodyExt as _;

    use super::*;

    async fn body(problem: Problem) -> (StatusCode, Value, Response<()>) {
        let (parts, body) = problem.render("/v1/accounts/{accountNo}/balance", "trace-1").into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        (parts.status, serde_json::from_slice(&bytes).unwrap(), Response::from_parts(parts, ()))
    }

    #[tokio::test]
    async fn a_refusal_says_why_and_by_how_much() {
        let refused = LedgerError::InsufficientFunds {
            account: "1234567897".into(),
            available: 1200,
            currency: bursar_domain::Currency::NGN,
        };
        let (status, body, response) = body(Problem::refused(&refused)).await;
        assert_eq!(status, 422);
        assert_eq!(response.headers()[CONTENT_TYPE], "application/problem+json");
        assert_eq!(
            body,
            json!({
                "type": "urn:bursar:problem:insufficient-funds",
                "title": "Unprocessable Entity",
                "status": 422,
                "detail": "the available balance of 1234567897 is 1200 NGN (minor units)",
                "instance": "/v1/accounts/:accountNo/balance",
                "code": "INSUFFICIENT_FUNDS",
                "traceId": "trace-1",
                "availableBalance": 1200,
                "currency": "NGN",
            })
        );
    }

    #[tokio::test]
    async fn the_store_s_own_words_stay_inside() {
        let (status, body, response) = body(StoreError::Database(sqlx::Error::PoolTimedOut).into()).await;
        assert_eq!(status, 503);
        assert_eq!(response.headers()[RETRY_AFTER], "2");
        assert!(!body.to_string().contains("pool"));
    }

    #[tokio::test]
    async fn an_anonymous_caller_is_told_how_to_identify() {
        let (status, body, response) = body(Problem::unauthenticated()).await;
        assert_eq!((status, &body["code"]), (StatusCode::UNAUTHORIZED, &json!("UNAUTHENTICATED")));
        assert_eq!(response.headers()[WWW_AUTHENTICATE], "Bearer");
    }

    #[tokio::test]
    async fn every_field_error_is_listed() {
        let error =
            |pointer: &str| FieldError { pointer: pointer.into(), code: "REQUIRED", message: "x".into() };
        let (status, body, _) = body(Problem::invalid(vec![error("/a"), error("/b")])).await;
        assert_eq!((status, body["errors"].as_array().unwrap().len()), (StatusCode::BAD_REQUEST, 2));
    }
}
