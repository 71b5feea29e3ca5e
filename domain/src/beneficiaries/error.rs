//! Why a command to a list of beneficiaries is refused.

use crate::kernel::BeneficiaryId;

crate::rejections! {
    /// Refusals of a list.
    pub enum BeneficiariesError {
        /// Nobody of that id is in it.
        Unknown: NotFound "NOT_FOUND" = "no such beneficiary",
        /// They are in it.
        Kept {
            /// As whom.
            beneficiary_id: BeneficiaryId => "beneficiaryId",
        }: Conflict "BENEFICIARY_EXISTS" = "this payee is kept as {beneficiary_id} already",
        /// The list has its most.
        Full {
            /// `beneficiaries`.
            limit: &'static str => "limit",
            /// How many.
            allowed: usize => "allowed",
        }: Unprocessable "LIMIT_EXCEEDED" = "a person keeps at most {allowed} {limit}",
    }
}
