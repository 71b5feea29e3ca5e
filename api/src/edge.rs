//! The one middleware: everything that happens to a request before its handler and to a response after it.
//!
//! Request id, span, time limit, panics, the body of problems, rate limit headers, metrics. One function instead of a
//! stack of layers, because each layer costs a boxed future on a path that should serve tens of thousands a second.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::http::{Extensions, HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use bursar_domain::kernel::{Sources, UserId, uuid_v7};
use futures_util::FutureExt as _;
use tracing::Instrument as _;

use crate::app::App;
use crate::auth::Caller;
use crate::limits::{Quota, Verdict};
use crate::metrics;
use crate::problem::Problem;

/// Names the request in logs, problems and event metadata.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Longest request id accepted.
const LONGEST_ID: usize = 128;

/// What belongs to one request: shared by the edge and the extractors.
#[derive(Debug, Clone)]
pub struct Scope(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    request_id: String,
    started: Instant,
    address: IpAddr,
    quota: OnceLock<Quota>,
    staff: OnceLock<UserId>,
}

impl Scope {
    fn new(request_id: String, address: IpAddr) -> Self {
        let (started, quota, staff) = (Instant::now(), OnceLock::new(), OnceLock::new());
        Self(Arc::new(Inner { request_id, started, address, quota, staff }))
    }

    /// The scope of a request. Outside the edge (in unit tests of extractors) an empty one.
    #[must_use]
    pub fn of(extensions: &Extensions) -> Self {
        let scope = extensions.get::<Self>().cloned();
        scope.unwrap_or_else(|| Self::new(String::new(), IpAddr::V4(Ipv4Addr::UNSPECIFIED)))
    }

    /// `X-Request-Id`, the caller's or ours.
    #[must_use]
    pub fn request_id(&self) -> &str {
        &self.0.request_id
    }

    /// When the request arrived.
    #[must_use]
    pub fn started(&self) -> Instant {
        self.0.started
    }

    /// Where it came from, proxies we trust aside.
    #[must_use]
    pub fn address(&self) -> IpAddr {
        self.0.address
    }

    /// Remembers a caller who may look at what is not theirs, for the line in the log.
    pub fn asked_by(&self, caller: &Caller) {
        if caller.is_staff() {
            // A request has one caller.
            let _ = self.0.staff.set(caller.user());
        }
    }

    /// Remembers what a limit said, for the headers.
    ///
    /// # Errors
    /// 429.
    pub fn limit(&self, verdict: Verdict) -> Result<(), Problem> {
        if let Some(quota) = verdict.quota {
            // Of several limits the first one asked is shown.
            let _ = self.0.quota.set(quota);
        }
        verdict.refused.map_or(Ok(()), Err)
    }
}

/// Wraps every route.
pub async fn edge(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let address = address(&request, &app.config.server.trusted_proxies);
    let scope = Scope::new(request_id(request.headers(), app.journal.sources()), address);
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or("", MatchedPath::as_str);
    request.extensions_mut().insert(scope.clone());
    let span = tracing::info_span!(
        "request",
        method = method.as_str(),
        route,
        traceId = scope.request_id(),
        status = tracing::field::Empty,
        staff = tracing::field::Empty,
        path = tracing::field::Empty,
    );
    let uri = request.uri().clone();
    let patience = Duration::from_secs(app.config.server.request_seconds);
    let response = answer(request, next, patience).instrument(span.clone()).await;
    let response = finish(response, route, &scope);
    let elapsed = scope.started().elapsed();
    metrics::request(method.as_str(), route, response.status(), elapsed);
    if !span.is_disabled() {
        span.record("status", response.status().as_u16());
        // Reading leaves no event: whom and what staff looked at stands here.
        if let Some(staff) = scope.0.staff.get() {
            span.record("staff", tracing::field::display(staff));
            span.record("path", uri.path());
        }
        span.in_scope(|| {
            tracing::info!(latency_us = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX), "answered")
        });
    }
    response
}

/// The handler's answer, or what is said instead when it panics or takes too long.
async fn answer(request: Request, next: Next, patience: Duration) -> Response {
    let handler = AssertUnwindSafe(next.run(request)).catch_unwind();
    match tokio::time::timeout(patience, handler).await {
        Ok(Ok(response)) => response,
        Ok(Err(_panic)) => {
            // The panic hook has printed where; the payload may hold what the caller sent.
            tracing::error!("a handler panicked");
            Problem::internal().into_response()
        }
        Err(_elapsed) => Problem::unavailable("the request took too long", 1).into_response(),
    }
}

/// Writes the body of a problem and the headers every response has.
fn finish(mut response: Response, route: &str, scope: &Scope) -> Response {
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        metrics::problem(problem.code());
        let mut rendered = problem.render(route, scope.request_id());
        rendered.headers_mut().extend(std::mem::take(response.headers_mut()));
        response = rendered;
    }
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(scope.request_id()) {
        headers.insert(REQUEST_ID, id);
    }
    if let Some(quota) = scope.0.quota.get() {
        quota.write(headers);
    }
    response
}

/// The caller's `X-Request-Id` when it is printable and short, else a fresh one.
fn request_id(headers: &HeaderMap, sources: &Sources) -> String {
    headers
        .get(REQUEST_ID)
        .and_then(|id| id.to_str().ok())
        .filter(|id| (1..=LONGEST_ID).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_graphic()))
        .map_or_else(|| uuid_v7(sources).as_simple().to_string(), str::to_owned)
}

/// The peer, or what the nearest proxy that we do not trust is said to have come from.
fn address(request: &Request, trusted: &[IpAddr]) -> IpAddr {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let peer = peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |ConnectInfo(address)| address.ip());
    if trusted.is_empty() || !trusted.contains(&peer) {
        return peer;
    }
    let hops = request.headers().get_all("x-forwarded-for").into_iter();
    let hops: Vec<&str> = hops.filter_map(|value| value.to_str().ok()).flat_map(|v| v.split(',')).collect();
    let mut nearest = peer;
    for hop in hops.iter().rev() {
        let Ok(address) = hop.trim().parse() else { break };
        nearest = address;
        if !trusted.contains(&nearest) {
            break;
        }
    }
    nearest
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn from(peer: &str, forwarded: &str) -> Request {
        let mut request =
            Request::builder().header("x-forwarded-for", forwarded).body(Body::empty()).unwrap();
        request.extensions_mut().insert(ConnectInfo(SocketAddr::new(peer.parse().unwrap(), 1)));
        request
    }

    #[test]
    fn only_a_trusted_proxy_is_believed() {
        let proxy: IpAddr = "10.0.0.1".parse().unwrap();
        let spoofed = from("10.0.0.1", "1.1.1.1, 203.0.113.9");
        assert_eq!(address(&spoofed, &[]), proxy);
        assert_eq!(address(&spoofed, &[proxy]), "203.0.113.9".parse::<IpAddr>().unwrap());
        let stranger = from("198.51.100.7", "1.1.1.1");
        assert_eq!(address(&stranger, &[proxy]), "198.51.100.7".parse::<IpAddr>().unwrap());
    }

    #[test]
    fn a_request_id_is_echoed_only_when_it_is_harmless() {
        let (sources, _) = crate::sources::system();
        let mut headers = HeaderMap::new();
        headers.insert(REQUEST_ID, "order-17".parse().unwrap());
        assert_eq!(request_id(&headers, &sources), "order-17");
        headers.insert(REQUEST_ID, "two words".parse().unwrap());
        assert_eq!(request_id(&headers, &sources).len(), 32);
        headers.insert(REQUEST_ID, "x".repeat(129).parse().unwrap());
        assert_eq!(request_id(&headers, &sources).len(), 32);
    }
}
