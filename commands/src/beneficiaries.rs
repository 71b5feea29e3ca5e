//! Keeping whom a customer pays.

use bursar_domain::Personal;
use bursar_domain::beneficiaries::{BeneficiariesCommand, Beneficiary, Payee};
use bursar_domain::kernel::{BeneficiaryId, UserId};

use crate::owned::{CommandError, NotFound};
use crate::{Committed, Context, Journal, Unit};

/// Somebody a customer wants to keep.
#[derive(Debug, Clone)]
pub struct NewBeneficiary {
    /// Whom it pays.
    pub payee: Payee,
    /// The payee's name.
    pub name: Option<String>,
    /// The name of the bank or biller.
    pub institution: Option<String>,
    /// What the customer calls it.
    pub nickname: Option<String>,
    /// Whether it comes first.
    pub is_favorite: bool,
}

impl NewBeneficiary {
    /// The entry, with an id of its own.
    pub(crate) fn entry(self, journal: &Journal) -> Box<Beneficiary> {
        Box::new(Beneficiary {
            id: BeneficiaryId::mint(journal.sources()),
            payee: self.payee,
            name: self.name.map(Personal::new),
            institution: self.institution,
            nickname: self.nickname.map(Personal::new),
            is_favorite: self.is_favorite,
        })
    }
}

/// Adds somebody to `owner`'s list.
///
/// # Errors
/// `NOT_FOUND` for an account of this bank that does not exist, `BENEFICIARY_EXISTS`, `LIMIT_EXCEEDED`.
pub async fn add(
    journal: &Journal,
    context: Context,
    owner: UserId,
    new: NewBeneficiary,
) -> Result<Committed, CommandError> {
    if let Payee::Internal { account_number } = &new.payee
        && journal.ledger_account(account_number).await?.is_none()
    {
        return Err(CommandError::refused(NotFound("account")));
    }
    let unit = Unit::new(context).step(owner, BeneficiariesCommand::Add(new.entry(journal)));
    Ok(journal.submit(unit).await?)
}

/// Takes somebody out of `owner`'s list.
///
/// # Errors
/// `NOT_FOUND`.
pub async fn remove(
    journal: &Journal,
    context: Context,
    owner: UserId,
    id: BeneficiaryId,
) -> Result<Committed, CommandError> {
    let unit = Unit::new(context).step(owner, BeneficiariesCommand::Remove { id });
    Ok(journal.submit(unit).await?)
}
