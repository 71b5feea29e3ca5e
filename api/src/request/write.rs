//! The extractors of writes.

use std::marker::PhantomData;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::HeaderMap;
use axum::http::header::IF_MATCH;
use axum::http::request::Parts;
use bursar_commands::Context;
use bursar_domain::Metadata;

use super::body;
use super::fields::Field;
use crate::app::App;
use crate::auth::{Caller, Grant, permit};
use crate::edge::Scope;
use crate::problem::Problem;

/// Longest `Idempotency-Key`.
const LONGEST_KEY: usize = 255;

/// A write by a caller with the permission `P`.
pub struct Write<P, T> {
    /// Who asks.
    pub caller: Caller,
    /// What for, checked.
    pub body: T,
    /// Actor, request id and idempotency key for the unit of work.
    pub context: Context,
    grant: PhantomData<P>,
}

impl<P: Grant, T: Field> FromRequest<App> for Write<P, T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let caller = app.auth.authenticate(request.headers()).await?;
        let scope = Scope::of(request.extensions());
        scope.asked_by(&caller);
        scope.limit(app.limits.write(caller.user(), scope.started()))?;
        permit::<P>(&caller)?;
        let Submission { body, sent } = Submission::from_request(request, app).await?;
        if P::MONEY && app.config.server.require_idempotency_key && sent.key.is_none() {
            let message = "writes that move money need an Idempotency-Key";
            return Err(Problem::bad_request("/Idempotency-Key", "REQUIRED", message));
        }
        let context = sent.context(app, caller.actor());
        Ok(Self { caller, body, context, grant: PhantomData })
    }
}

/// A write as it was sent, before anybody asked who sent it.
pub struct Submission<T> {
    /// What for, checked.
    pub body: T,
    /// The rest of the request.
    pub sent: Sent,
}

/// What a unit of work needs to know of its request.
pub struct Sent {
    /// Request id, address, limits.
    pub scope: Scope,
    /// The request's headers.
    pub headers: HeaderMap,
    method: &'static str,
    path: String,
    key: Option<String>,
    expected_version: Option<i64>,
    /// Everything that says what is asked for: the body, and in front of it the query where there is one.
    asked: Bytes,
    raw: Bytes,
}

impl Sent {
    fn new(parts: Parts, key: Option<String>, raw: Bytes) -> Self {
        Self {
            scope: Scope::of(&parts.extensions),
            method: match parts.method.as_str() {
                "PUT" => "PUT",
                "PATCH" => "PATCH",
                "DELETE" => "DELETE",
                _ => "POST",
            },
            path: parts.uri.path().to_owned(),
            asked: match parts.uri.query() {
                Some(query) => [query.as_bytes(), b"\0", &raw].concat().into(),
                None => raw.clone(),
            },
            expected_version: if_match(&parts.headers),
            headers: parts.headers,
            key,
            raw,
        }
    }

    /// The context of a unit of work that `actor` asks for.
    #[must_use]
    pub fn context(&self, app: &App, actor: &str) -> Context {
        self.scoped(app, actor, actor)
    }

    /// The context when nobody is known to ask yet; idempotency keys are kept apart by `scope`, which is not stored.
    #[must_use]
    pub fn anonymous(&self, app: &App, scope: &str) -> Context {
        self.scoped(app, "", scope)
    }

    /// The body, byte for byte.
    #[must_use]
    pub fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// The context when the request has a key of its own, which `scope` keeps apart; the header's is passed over.
    #[must_use]
    pub fn keyed(&self, app: &App, scope: &str, key: &str) -> Context {
        let mut context = self.scoped(app, "", scope);
        context.idempotency = Some(app.keys.idempotency(scope, self.method, &self.path, key, &self.asked));
        context
    }

    fn scoped(&self, app: &App, actor: &str, scope: &str) -> Context {
        let hashed = |key: &String| app.keys.idempotency(scope, self.method, &self.path, key, &self.asked);
        Context {
            metadata: Metadata::by(actor, self.scope.request_id()),
            idempotency: self.key.as_ref().map(hashed),
            expected_version: self.expected_version,
        }
    }
}

impl<T: Field> FromRequest<App> for Submission<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let (parts, stream) = request.into_parts();
        let key = idempotency_key(&parts.headers)?;
        let server = &app.config.server;
        let most = if T::HOLDS_FILE { server.file_body_bytes } else { server.body_bytes };
        let raw = body::read(&parts, stream, most, T::ASKS_FOR_NOTHING).await?;
        let body = body::parse(&raw)?;
        Ok(Self { body, sent: Sent::new(parts, key, raw) })
    }
}

/// The version in front of an entity tag of ours. Any other tag is one that no aggregate has.
fn if_match(headers: &HeaderMap) -> Option<i64> {
    const NEVER: i64 = -1;
    let tag = headers.get(IF_MATCH)?.to_str().unwrap_or_default().trim();
    if tag == "*" {
        return None;
    }
    Some(tag.trim_matches('"').split('-').next().and_then(|version| version.parse().ok()).unwrap_or(NEVER))
}

/// The `Idempotency-Key`, if there is one.
///
/// # Errors
/// 400, unless it is 1 to 255 printable ASCII characters.
pub fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let wrong = || {
        let message = "expected 1 to 255 printable ASCII characters";
        Problem::bad_request("/Idempotency-Key", "MALFORMED", message)
    };
    let key = value.to_str().map_err(|_| wrong())?;
    let printable = key.bytes().all(|b| (b' '..=b'~').contains(&b));
    if printable && (1..=LONGEST_KEY).contains(&key.len()) { Ok(Some(key.to_owned())) } else { Err(wrong()) }
}
