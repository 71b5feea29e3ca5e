//! Successful answers.

use aws_lc_rs::digest::{SHA256, digest};
use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, LOCATION};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use bursar_commands::Committed;
use serde::Serialize;

use crate::problem::Problem;

const POSITION: HeaderName = HeaderName::from_static("bursar-position");
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// A body and the headers that go with it.
#[derive(Debug)]
pub struct Answer<T> {
    status: StatusCode,
    headers: HeaderMap,
    /// The aggregate's version and the entity tags the client has; `Some` when the answer is to carry one.
    tagged: Option<(i64, Option<String>)>,
    body: T,
}

impl<T> Answer<T> {
    /// 200.
    #[must_use]
    pub fn ok(body: T) -> Self {
        Self { status: StatusCode::OK, headers: HeaderMap::new(), tagged: None, body }
    }

    /// Says at which position a unit of work was recorded, and whether this repeats it.
    #[must_use]
    pub fn at(mut self, committed: &Committed) -> Self {
        self.headers.insert(POSITION, HeaderValue::from(committed.position));
        if committed.replayed {
            self.headers.insert(REPLAYED, HeaderValue::from_static("true"));
        }
        self
    }

    /// 201 with the place of what was made.
    #[must_use]
    pub fn created(mut self, location: &str) -> Self {
        self.status = StatusCode::CREATED;
        if let Ok(location) = HeaderValue::from_str(location) {
            self.headers.insert(LOCATION, location);
        }
        self
    }

    /// Carries an `ETag`, and is 304 without a body when the client has it already (`If-None-Match`). `version` is
    /// the aggregate's, which `If-Match` on a write refers to.
    #[must_use]
    pub fn tagged(mut self, version: i64, none_match: Option<String>) -> Self {
        self.tagged = Some((version, none_match));
        self
    }

    /// The same for every caller, and seldom another: clients may keep it for five minutes, and then ask with
    /// `If-None-Match` whether it is still current.
    #[must_use]
    pub fn lasting(mut self, none_match: Option<String>) -> Self {
        self.headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, max-age=300"));
        // Not an aggregate: there is no version that a write could refer to.
        self.tagged(0, none_match)
    }

    /// Never kept by anybody on the way: tokens.
    #[must_use]
    pub fn secret(mut self) -> Self {
        self.headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        self
    }
}

impl<T: Serialize> IntoResponse for Answer<T> {
    fn into_response(self) -> Response {
        let Self { status, mut headers, tagged, body } = self;
        let Ok(bytes) = serde_json::to_vec(&body) else {
            tracing::error!("an answer cannot be written as JSON");
            return Problem::internal().into_response();
        };
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some((version, has)) = tagged {
            let tag = entity_tag(version, &bytes);
            let known = has.is_some_and(|has| matches(&has, &tag));
            if let Ok(tag) = HeaderValue::from_str(&tag) {
                headers.insert(ETAG, tag);
            }
            if known {
                headers.remove(CONTENT_TYPE);
                return (StatusCode::NOT_MODIFIED, headers).into_response();
            }
        }
        let mut response = Response::new(Body::from(bytes));
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        response
    }
}

/// The version of the aggregate, which `If-Match` is checked against, and a hash of the representation, because an
/// account's balance changes without its contract.
fn entity_tag(version: i64, bytes: &[u8]) -> String {
    let hash = digest(&SHA256, bytes);
    let hex: String = hash.as_ref().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("\"{version}-{hex}\"")
}

/// Weak comparison (RFC 9110, 13.1.2).
fn matches(if_none_match: &str, tag: &str) -> bool {
    if_none_match.split(',').map(str::trim).any(|one| one == "*" || one.trim_start_matches("W/") == tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_has_it_gets_no_body() {
        let first = Answer::ok("x").tagged(3, None).into_response();
        let tag = first.headers()[ETAG].to_str().unwrap().to_owned();
        assert_eq!(first.status(), 200);
        assert!(tag.starts_with("\"3-"));
        let again = |has: String| Answer::ok("x").tagged(3, Some(has)).into_response().status();
        assert_eq!(again(tag.clone()), 304);
        assert_eq!(again(format!("\"other\", W/{tag}")), 304);
        assert_eq!(again("\"other\"".to_owned()), 200);
    }

    #[test]
    fn what_was_made_has_a_place() {
        let made = Answer::ok("x").created("/v1/accounts/1").into_response();
        assert_eq!(
            (made.status(), &made.headers()[LOCATION]),
            (StatusCode::CREATED, &HeaderValue::from_static("/v1/accounts/1"))
        );
    }
}
