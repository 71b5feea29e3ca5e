//! Clients that pay one after another, each as fast as it is answered.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bursar_commands::Context;
use bursar_commands::journal::Idempotency;
use bursar_commands::payments::{self, Known, Transfer};
use bursar_domain::{Amount, Currency, Metadata};
use bursar_projections::Projections;
use hdrhistogram::Histogram;
use tokio::task::JoinSet;

use super::Error;
use super::bank::{ACCOUNTS, Bank};

/// Who is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Anybody.
    Uniform,
    /// One merchant.
    Hot,
}

impl Shape {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Hot => "hot",
        }
    }

    /// Payer and payee of a client's `n`th payment, as indexes of accounts.
    pub(super) fn pair(self, client: usize, n: usize) -> (usize, usize) {
        // The last account is the merchant; a stride coprime to the rest visits all the others.
        let payer = (client * 31 + n * 7) % (ACCOUNTS - 1);
        match self {
            Self::Uniform => (payer, (payer + 1 + (client + n * 13) % (ACCOUNTS - 2)) % (ACCOUNTS - 1)),
            Self::Hot => (payer, ACCOUNTS - 1),
        }
    }
}

/// What came of it.
pub(super) struct Measured {
    pub(super) clients: usize,
    pub(super) shape: Shape,
    /// Microseconds.
    pub(super) latency: Histogram<u64>,
    pub(super) elapsed: Duration,
}

impl Measured {
    /// Committed transfers a second.
    pub(super) fn rate(&self) -> f64 {
        self.latency.len() as f64 / self.elapsed.as_secs_f64()
    }
}

/// Latencies up to a minute in microseconds, three digits.
pub(super) fn histogram() -> Result<Histogram<u64>, Error> {
    Ok(Histogram::new_with_bounds(1, 60_000_000, 3)?)
}

/// What all clients measured.
pub(super) async fn gather(
    mut clients: JoinSet<Result<Histogram<u64>, Error>>,
) -> Result<Histogram<u64>, Error> {
    let mut all = histogram()?;
    while let Some(one) = clients.join_next().await {
        all.add(one??)?;
    }
    Ok(all)
}

/// Pays through the journal; with projections, the clock stops when they have caught up.
pub(super) async fn journal(
    bank: &Bank,
    clients: usize,
    shape: Shape,
    seconds: Duration,
    projections: Option<&Projections>,
) -> Result<Measured, Error> {
    let started = Instant::now();
    let mut tasks = JoinSet::new();
    for client in 0..clients {
        let (journal, accounts, sources) =
            (bank.journal.clone(), Arc::clone(&bank.accounts), bank.sources.clone());
        tasks.spawn(async move {
            let mut latency = histogram()?;
            let known = Known { name: Some("Bench Payer".to_owned()), save: false };
            let mut n = 0;
            while started.elapsed() < seconds {
                let (payer, payee) = shape.pair(client, n);
                let mut key = [0_u8; 16];
                sources.entropy.fill(&mut key);
                let context = Context {
                    metadata: Metadata::by("usr_bench", compact(client, n)),
                    idempotency: Some(Idempotency { key, fingerprint: key }),
                    ..Context::default()
                };
                let (source, payee) = (&accounts[payer], accounts[payee].number.clone());
                let asked = Instant::now();
                payments::transfer_internal(&journal, context, source, payee, known.clone(), one_kobo()?)
                    .await?;
                latency.record(u64::try_from(asked.elapsed().as_micros())?)?;
                n += 1;
            }
            Ok::<_, Error>(latency)
        });
    }
    let latency = gather(tasks).await?;
    if let Some(projections) = projections {
        bank.caught_up(projections).await?;
    }
    Ok(Measured { clients, shape, latency, elapsed: started.elapsed() })
}

fn one_kobo() -> Result<Transfer, Error> {
    Ok(Transfer {
        amount: Amount::try_from(1)?,
        currency: Currency::NGN,
        narration: Some("bench".to_owned()),
        reference: Some("BENCH".to_owned()),
    })
}

fn compact(client: usize, n: usize) -> bursar_domain::kernel::Text {
    format!("bench-{client}-{n}").as_str().into()
}
