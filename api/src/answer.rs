//! Successful answers.

use aws_lc_rs::digest::{SHA256, digest};
use axum::body::Body;
use axum::http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, LOCATION, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use bursar_commands::Committed;
use bursar_commands::keys::hex;
use bursar_domain::kernel::StoredFile;
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

    /// 202 with the place where it can be seen how it goes on.
    #[must_use]
    pub fn accepted(mut self, location: &str) -> Self {
        self = self.created(location);
        self.status = StatusCode::ACCEPTED;
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

    /// One of several representations, chosen by `Accept`.
    #[must_use]
    pub fn chosen(mut self) -> Self {
        self.headers.insert(VARY, HeaderValue::from(ACCEPT));
        self
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
        if let Some((version, has)) = tagged {
            let tag = entity_tag(version, &bytes);
            if known(&mut headers, &tag, has.as_deref()) {
                return (StatusCode::NOT_MODIFIED, headers).into_response();
            }
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        (status, headers, Body::from(bytes)).into_response()
    }
}

/// 200 with a document that is not JSON, chosen by `Accept` and sent while it is made.
#[derive(Debug)]
pub struct Streamed {
    /// `Content-Type`.
    pub media: &'static str,
    /// The version of the aggregate.
    pub version: i64,
    /// Everything that the document depends on but the moment it is written at; any bytes.
    pub content: Vec<u8>,
    /// The entity tags the client has.
    pub none_match: Option<String>,
    /// The document.
    pub body: Body,
}

impl IntoResponse for Streamed {
    fn into_response(self) -> Response {
        let mut headers = HeaderMap::new();
        headers.insert(VARY, HeaderValue::from(ACCEPT));
        // Weak: the same content, written at another moment.
        let tag = format!("W/{}", entity_tag(self.version, &self.content));
        if known(&mut headers, &tag, self.none_match.as_deref()) {
            return (StatusCode::NOT_MODIFIED, headers).into_response();
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.media));
        (headers, self.body).into_response()
    }
}

/// A file that somebody handed in. Whatever it holds, a browser does nothing with it but what its type says, and nobody on
/// the way keeps it.
#[derive(Debug)]
pub struct FileAnswer {
    media: &'static str,
    disposition: String,
    tag: String,
    none_match: Option<String>,
    bytes: Vec<u8>,
}

impl FileAnswer {
    /// A picture, to be shown.
    #[must_use]
    pub fn shown(file: &StoredFile, bytes: Vec<u8>, none_match: Option<String>) -> Self {
        Self::new("inline".to_owned(), file, bytes, none_match)
    }

    /// A document, to be saved as `name`.
    #[must_use]
    pub fn attached(file: &StoredFile, name: &str, bytes: Vec<u8>, none_match: Option<String>) -> Self {
        let name = format!("attachment; filename=\"{name}.{}\"", file.file_type.extension());
        Self::new(name, file, bytes, none_match)
    }

    fn new(disposition: String, file: &StoredFile, bytes: Vec<u8>, none_match: Option<String>) -> Self {
        // A file never changes.
        Self {
            media: file.file_type.media(),
            disposition,
            tag: format!("\"{}\"", file.id),
            none_match,
            bytes,
        }
    }
}

impl IntoResponse for FileAnswer {
    fn into_response(self) -> Response {
        let mut headers = HeaderMap::new();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, max-age=300"));
        if known(&mut headers, &self.tag, self.none_match.as_deref()) {
            return (StatusCode::NOT_MODIFIED, headers).into_response();
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.media));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(
            CONTENT_SECURITY_POLICY,
            HeaderValue::from_static("default-src 'none'; sandbox; frame-ancestors 'none'"),
        );
        if let Ok(disposition) = HeaderValue::from_str(&self.disposition) {
            headers.insert(CONTENT_DISPOSITION, disposition);
        }
        (headers, self.bytes).into_response()
    }
}

/// Writes the entity tag of a representation, and tells whether the client has it already.
pub(crate) fn known(headers: &mut HeaderMap, tag: &str, none_match: Option<&str>) -> bool {
    if let Ok(tag) = HeaderValue::from_str(tag) {
        headers.insert(ETAG, tag);
    }
    none_match.is_some_and(|has| matches(has, tag))
}

/// The version of the aggregate, which `If-Match` is checked against, and a hash of the representation, because an
/// account's balance changes without its contract.
fn entity_tag(version: i64, bytes: &[u8]) -> String {
    format!("\"{version}-{}\"", fingerprint(bytes, 8))
}

/// The first `bytes` bytes of a SHA-256, in hexadecimal.
#[must_use]
pub fn fingerprint(of: &[u8], bytes: usize) -> String {
    let hash = digest(&SHA256, of);
    hex(hash.as_ref().get(..bytes).unwrap_or(hash.as_ref()))
}

/// Weak comparison (RFC 9110, 13.1.2).
fn matches(if_none_match: &str, tag: &str) -> bool {
    let tag = opaque(tag);
    if_none_match.split(',').map(str::trim).any(|one| one == "*" || opaque(one) == tag)
}

/// A tag without what says that it is weak.
fn opaque(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
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
    fn a_document_is_known_by_its_content_and_weakly() {
        let answer = |content: &[u8], has: Option<&str>| {
            let document = Streamed {
                media: "text/csv",
                version: 3,
                content: content.to_vec(),
                none_match: has.map(str::to_owned),
                body: Body::from("a,b"),
            };
            document.into_response()
        };
        let first = answer(b"one", None);
        let tag = first.headers()[ETAG].to_str().unwrap().to_owned();
        assert!(tag.starts_with("W/\"3-"), "{tag}");
        let (again, other) = (answer(b"one", Some(&tag)), answer(b"two", Some(&tag)));
        assert_eq!((again.status(), other.status()), (StatusCode::NOT_MODIFIED, StatusCode::OK));
        for response in [first, again, other] {
            assert_eq!(response.headers()[VARY], "accept");
        }
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
