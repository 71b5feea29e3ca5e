//! What a list of beneficiaries can be asked.

use super::Beneficiary;
use crate::kernel::BeneficiaryId;

/// Commands to a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BeneficiariesCommand {
    /// Add somebody; refused when they are in it.
    Add(Box<Beneficiary>),
    /// Add somebody who was just paid, unless they are in it or the list is full.
    Keep(Box<Beneficiary>),
    /// Take somebody out.
    Remove {
        /// Whom.
        id: BeneficiaryId,
    },
}
