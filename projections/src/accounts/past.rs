//! Accounts as they were, and how their numbers came about.

use bursar_domain::codec::Codec;
use bursar_domain::{AccountNumber, Event, Kind};
use sqlx::PgPool;

use super::{Account, Accounts};
use crate::past::{Explanation, Of, Trace, each};
use crate::read_model::ReadModel as _;
use crate::statement_entries::{self, AsOf};

bursar_domain::spelled! {
    /// A number of an account, minor units.
    pub enum AccountField {
        /// Everything posted so far.
        LedgerBalance = "ledgerBalance",
        /// What a debit may take.
        AvailableBalance = "availableBalance",
        /// Reserved, and not available.
        Holds = "holds",
    }
}

/// The account as it was at a past moment. Before it was opened nothing is in it, but what another bank said that it was taken
/// over with. Whether it is its holder's first is as it is now.
///
/// # Errors
/// When the database cannot be read.
pub async fn as_of(pool: &PgPool, codec: &Codec, now: &Account, as_of: AsOf) -> sqlx::Result<Account> {
    let number = &now.account_number;
    let (mut model, mut version) = (Accounts::default(), now.version);
    each(pool, codec, Of::Stream(Kind::Account, number.as_str()), Some(as_of), |event| {
        version = event.sequence;
        model.fold(event)
    })
    .await?;
    let mut row = model.row(number).unwrap_or_else(|| Account {
        available_balance: now.overdraft_limit.saturating_sub(now.minimum_balance),
        ..now.clone()
    });
    // Its balance was written down with each entry: nobody has to read them all.
    let held = statement_entries::balance(pool, number, as_of).await?;
    let mut standing = row.standing();
    standing.available_balance = standing.available_balance.saturating_add(held.ledger);
    each(pool, codec, Of::Funding(number), Some(as_of), |event| match &event.event {
        Event::Payment(payment) => match payment.movement().and_then(|moved| moved.hold) {
            Some((account, change)) if account == number => standing.hold(account, change, event),
            _ => Ok(()),
        },
        _ => Ok(()),
    })
    .await?;
    row.stand(standing);
    (row.ledger_balance, row.last_transaction_at) = (held.ledger, held.last_entry_at);
    (row.is_default, row.version) = (now.is_default, version);
    Ok(row)
}

/// How a number of an account came about: the last `limit` events that changed it. None when there is no such account.
///
/// # Errors
/// When the database cannot be read.
pub async fn explain(
    pool: &PgPool,
    codec: &Codec,
    number: &AccountNumber,
    field: AccountField,
    as_of: Option<AsOf>,
    limit: usize,
) -> sqlx::Result<Option<Explanation>> {
    let (mut model, mut trace) = (Accounts::default(), Trace::new(limit));
    // What is available of an empty account: its overdraft, less what must stay in it.
    let mut terms = 0;
    each(pool, codec, Of::Account(number), as_of, |event| {
        model.fold_for(number, event)?;
        let Some((ledger, available)) = model.numbers(number) else { return Ok(()) };
        if event.stream.kind == Kind::Account && event.sequence == 1 {
            terms = available;
        }
        trace.take(
            event,
            Some(match field {
                AccountField::LedgerBalance => ledger,
                AccountField::AvailableBalance => available,
                AccountField::Holds => ledger.saturating_add(terms).saturating_sub(available),
            }),
        )
    })
    .await?;
    Ok(trace.finish())
}
