//! Prometheus metrics: one recorder a process, read at `/metrics`.

use std::sync::OnceLock;
use std::time::Duration;

use axum::http::StatusCode;
use metrics::{counter, histogram};
use metrics_exporter_prometheus::{BuildError, PrometheusBuilder, PrometheusHandle};

/// Upper bounds of the request histogram, in seconds.
const SECONDS: [f64; 12] = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

/// How often samples are folded.
const FOLD: Duration = Duration::from_secs(5);

/// The process' recorder; the first call installs it.
///
/// # Errors
/// When somebody else installed another recorder before.
pub fn install() -> Result<PrometheusHandle, BuildError> {
    static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
    if let Some(handle) = HANDLE.get() {
        return Ok(handle.clone());
    }
    match PrometheusBuilder::new().set_buckets(&SECONDS)?.install_recorder() {
        Ok(handle) => {
            keep_up(handle.clone());
            Ok(HANDLE.get_or_init(|| handle).clone())
        }
        // Two servers in one process (tests) may race for it: whoever lost takes the winner's.
        Err(error) => HANDLE.get().cloned().ok_or(error),
    }
}

/// Histograms hold every sample until somebody folds them; a server that nobody scrapes must not grow.
fn keep_up(handle: PrometheusHandle) {
    let fold = move || loop {
        std::thread::sleep(FOLD);
        handle.run_upkeep();
    };
    if let Err(error) = std::thread::Builder::new().name("metrics".to_owned()).spawn(fold) {
        tracing::warn!(%error, "metrics are folded only when they are read");
    }
}

/// Counts a request. The route is the template, so that ids do not become labels.
pub(crate) fn request(method: &str, route: &str, status: StatusCode, elapsed: Duration) {
    let labels =
        [("method", method.to_owned()), ("route", route.to_owned()), ("status", status.as_str().to_owned())];
    histogram!("bursar_http_request_seconds", &labels).record(elapsed.as_secs_f64());
}

/// Counts a refusal or failure by its code.
pub(crate) fn problem(code: &'static str) {
    counter!("bursar_problems_total", "code" => code).increment(1);
}
