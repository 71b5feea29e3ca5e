//! Finding a transaction, and in what role the caller is part of it.

use bursar_domain::kernel::{TransactionId, UserId};
use bursar_domain::payments::{Completed, Party, Payment};

use crate::Journal;
use crate::owned::{CommandError, NotFound};

/// A transaction, and whose side whoever asks is on.
#[derive(Debug, Clone)]
pub struct Involved {
    /// Its id.
    pub id: TransactionId,
    /// How it stands.
    pub payment: Payment,
    /// How it was made.
    pub completed: Completed,
    /// The side of whoever asks.
    pub party: Party,
}

/// The transaction, for the customer `caller` who paid or was paid. Who moves money between accounts of their own is
/// its payer.
///
/// # Errors
/// `NOT_FOUND` when it does not exist or the caller is no part of it; the two cannot be told apart.
pub async fn involved(
    journal: &Journal,
    caller: UserId,
    id: TransactionId,
) -> Result<Involved, CommandError> {
    let found = any(journal, id).await?;
    let paid = &found.completed;
    let pays = paid.payer == Some(caller) || journal.owned_account(caller, &paid.source).await?.is_some();
    if pays {
        return Ok(Involved { party: Party::Payer, ..found });
    }
    match journal.owned_account(caller, &paid.destination).await? {
        Some(_) => Ok(Involved { party: Party::Payee, ..found }),
        None => Err(unknown()),
    }
}

/// Staff: the transaction, whoever's it is.
///
/// # Errors
/// `NOT_FOUND`.
pub async fn any(journal: &Journal, id: TransactionId) -> Result<Involved, CommandError> {
    let (payment, _) = journal.load::<Payment>(&id.to_string()).await?;
    let completed = payment.made().ok_or_else(unknown)?.completed.clone();
    Ok(Involved { id, payment, completed, party: Party::Staff })
}

fn unknown() -> CommandError {
    CommandError::refused(NotFound("transaction"))
}
