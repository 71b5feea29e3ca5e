//! What a token allows.

crate::spelled! {
    /// A permission, spelled in tokens as in the interface (`READ_ACCOUNT`).
    pub enum Permission {
        /// Read one's own accounts, cards, loans, payments, mandates, billers, transactions.
        ReadAccount = "READ_ACCOUNT",
        /// Write to one's own payments, transactions, mandates, cards, loans, accounts.
        WriteTransactions = "WRITE_TRANSACTIONS",
        /// One's own profile, compliance records, devices, communities, messages.
        ManageProfile = "MANAGE_PROFILE",
        /// Only finish a login with a second factor.
        MfaVerify = "MFA_VERIFY",
        /// Staff: review loan applications.
        LoanReview = "LOAN_REVIEW",
        /// Staff: approve loans.
        LoanApprove = "LOAN_APPROVE",
        /// Staff: disburse loans.
        LoanDisburse = "LOAN_DISBURSE",
        /// Staff: resolve disputes.
        DisputeResolve = "DISPUTE_RESOLVE",
        /// Staff: verify documents and compliance records.
        KycVerify = "KYC_VERIFY",
        /// Staff: deposit, withdraw, freeze, unfreeze, close accounts.
        AccountOps = "ACCOUNT_OPS",
        /// Staff: activate cards.
        CardOps = "CARD_OPS",
        /// Staff: activate and revoke devices.
        DeviceOps = "DEVICE_OPS",
        /// Staff: define products.
        ProductAdmin = "PRODUCT_ADMIN",
        /// Staff: read the event log and its proofs.
        AuditRead = "AUDIT_READ",
        /// Staff: rebuild read models.
        OpsRebuild = "OPS_REBUILD",
        /// Staff: erase a person.
        PiiErase = "PII_ERASE",
        /// Staff: say who outside the bank is told what happens in it.
        WebhookAdmin = "WEBHOOK_ADMIN",
        /// Staff: grant staff permissions.
        StaffAdmin = "STAFF_ADMIN",
    }
}

impl Permission {
    /// What every customer has over their own resources.
    pub const CUSTOMER: &'static [Self] = &[Self::ReadAccount, Self::WriteTransactions, Self::ManageProfile];

    /// Whether it is for staff: given and taken back, one by one.
    #[must_use]
    pub fn is_staff(self) -> bool {
        !Self::CUSTOMER.contains(&self) && self != Self::MfaVerify
    }
}
