//! Prometheus metrics: one recorder a process, read at `/metrics`.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use metrics::{counter, histogram};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};

/// Upper bounds of the request histogram, in seconds.
const SECONDS: [f64; 12] = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

/// Upper bounds of the histogram of units in a batch.
const UNITS: [f64; 10] = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 300.0, 400.0];

/// How often samples are folded.
const FOLD: Duration = Duration::from_secs(5);

/// The process' recorder; the first call installs it.
///
/// # Errors
/// When somebody else installed another recorder before.
pub fn install() -> Result<PrometheusHandle, BuildError> {
    // Two servers in one process (tests) ask at once: the second waits for the first.
    static HANDLE: Mutex<Option<PrometheusHandle>> = Mutex::new(None);
    let mut installed = HANDLE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(handle) = &*installed {
        return Ok(handle.clone());
    }
    let units = Matcher::Full("bursar_journal_batch_units".to_owned());
    let recorder = PrometheusBuilder::new().set_buckets(&SECONDS)?.set_buckets_for_metric(units, &UNITS)?;
    let handle = recorder.install_recorder()?;
    keep_up(handle.clone());
    Ok(installed.insert(handle).clone())
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
