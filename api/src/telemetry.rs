//! Logs and traces of the process.

use std::io::IsTerminal as _;

use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{ExporterBuildError, Protocol, SpanExporter, WithExportConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::{SubscriberInitExt as _, TryInitError};
use tracing_subscriber::{EnvFilter, Layer as _, fmt};

use crate::config;

/// Why logging could not be set up.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum TelemetryError {
    #[error("telemetry.log: {0}")]
    Filter(#[from] tracing_subscriber::filter::ParseError),
    #[error("telemetry.otlp_endpoint: {0}")]
    Exporter(#[from] ExporterBuildError),
    #[error(transparent)]
    Installed(#[from] TryInitError),
}

/// Sends what is left when it is dropped; keep it until the process ends.
#[must_use = "traces stop when it is dropped"]
#[derive(Debug, Default)]
pub struct Telemetry(Option<SdkTracerProvider>);

impl Telemetry {
    /// Sends what is left.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.0.take().map(|provider| provider.shutdown()) {
            tracing::warn!(%error, "the last traces were not sent");
        }
    }
}

/// Starts logging to standard error, and tracing to a collector when one is configured.
///
/// # Errors
/// [`TelemetryError`], also when it was started before.
pub fn start(settings: &config::Telemetry) -> Result<Telemetry, TelemetryError> {
    let filter = EnvFilter::try_new(&settings.log)?;
    let lines = fmt::layer().with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal());
    let lines = if settings.json { lines.json().with_span_list(false).boxed() } else { lines.boxed() };
    let provider = settings.otlp_endpoint.as_deref().map(exporter).transpose()?;
    let spans = provider
        .as_ref()
        .map(|provider| tracing_opentelemetry::layer().with_tracer(provider.tracer("bursar")));
    tracing_subscriber::registry().with(filter).with(spans).with(lines).try_init()?;
    Ok(Telemetry(provider))
}

fn exporter(endpoint: &str) -> Result<SdkTracerProvider, ExporterBuildError> {
    let exporter = SpanExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(endpoint)
        .build()?;
    let resource = Resource::builder().with_service_name("bursar").build();
    Ok(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build())
}
