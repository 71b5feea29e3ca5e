//! Somebody who pays through the journal of a server, without HTTP in between: for races at size.

use std::sync::Arc;

use bursar_api::app::App;
use bursar_commands::journal::Holding;
use bursar_commands::payments::{self, Known, Transfer};
use bursar_commands::{CommandError, Committed, Context, Owned, accounts, users};
use bursar_domain::{Amount, Currency, Metadata};
use futures_util::future::join_all;
use tokio::sync::Barrier;

/// A caller with a current account.
#[derive(Clone)]
pub struct Payer {
    app: App,
    account: Owned<Holding>,
}

impl Payer {
    /// One of the demo's customers at a server.
    pub async fn at(app: &App, email: &str) -> Self {
        let user = users::by_email(&app.journal, &app.keys, email).await.unwrap().expect(email);
        let sql = "SELECT aggregate_id FROM events WHERE event_type = 'account.opened'
                      AND payload#>>'{opened,account_type}' = 'CURRENT' AND payload#>>'{opened,terms,owner}' = $1";
        let number: String =
            sqlx::query_scalar(sql).bind(user.to_string()).fetch_one(&app.pool).await.unwrap();
        let account = accounts::owned(&app.journal, user, &number.as_str().into()).await.unwrap();
        Self { app: app.clone(), account }
    }

    /// The number of their current account.
    pub fn number(&self) -> &str {
        self.account.number.as_str()
    }

    /// Pays somebody `amount` kobo; with a key, once.
    pub async fn pay(&self, to: &Self, amount: i64, key: Option<&str>) -> Result<Committed, CommandError> {
        let actor = self.account.owner().to_string();
        let hashed = |key| self.app.keys.idempotency(&actor, "POST", "/", key, &amount.to_be_bytes());
        let context = Context {
            metadata: Metadata::by(actor.as_str(), key.unwrap_or_default()),
            idempotency: key.map(hashed),
            ..Context::default()
        };
        let payee = to.account.number.clone();
        let known = Known::default();
        payments::transfer_internal(&self.app.journal, context, &self.account, payee, known, kobo(amount))
            .await
    }
}

/// How many of `racers`, all at once, pay somebody `amount` kobo each; the others are refused with `refusal`, and for no
/// other reason.
pub async fn race(racers: &[Payer], payee: &Payer, amount: i64, refusal: &'static str) -> usize {
    let barrier = Arc::new(Barrier::new(racers.len()));
    let tries = racers.iter().map(|racer| {
        let (racer, payee, barrier) = (racer.clone(), payee.clone(), Arc::clone(&barrier));
        tokio::spawn(async move {
            barrier.wait().await;
            match racer.pay(&payee, amount, None).await {
                Ok(_) => true,
                Err(error) if error.code() == Some(refusal) => false,
                Err(error) => panic!("{error}"),
            }
        })
    });
    join_all(tries).await.into_iter().map(Result::unwrap).filter(|paid| *paid).count()
}

fn kobo(amount: i64) -> Transfer {
    let amount = Amount::try_from(amount).unwrap();
    Transfer { amount, currency: Currency::NGN, narration: None, reference: Some("RACE".to_owned()) }
}

/// The transaction of a payment.
pub fn transaction(committed: &Committed) -> &str {
    &committed.events[0].stream.id
}
