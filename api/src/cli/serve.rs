//! `bursar serve`.

use std::net::SocketAddr;
use std::process::ExitCode;

use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use super::Outcome;
use crate::app::{self, App};
use crate::config::Config;
use crate::telemetry;
use crate::wiring;

/// Runs the bank until SIGINT or SIGTERM.
pub(super) async fn serve(config: Config) -> Outcome {
    let telemetry = telemetry::start(&config.telemetry)?;
    let wired = wiring::wire(&config).await?;
    let listener = listen(config.server.listen).await?;
    let app = App::build(config, wired.wiring).await?;
    println!("bursar listens on http://{}, {}", listener.local_addr()?, wired.database.whereabouts());
    app::serve(app, listener, stop_signal()?).await;
    wired.database.close().await;
    telemetry.stop();
    Ok(ExitCode::SUCCESS)
}

/// Takes the address, or says which one it was and what to do about it.
pub(crate) async fn listen(address: SocketAddr) -> Result<TcpListener, String> {
    let taken =
        |error| format!("cannot listen on {address}: {error}; choose another with --listen ADDRESS:PORT");
    TcpListener::bind(address).await.map_err(taken)
}

/// Ready when somebody wants us to stop.
pub(crate) fn stop_signal() -> std::io::Result<impl Future<Output = ()> + Send> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}
