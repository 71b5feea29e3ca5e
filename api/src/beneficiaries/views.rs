//! How beneficiaries look from outside, one shape for each way to pay them.

use bursar_domain::beneficiaries::{Beneficiary, Payee};
use bursar_domain::{Personal, Recorded};
use bursar_projections::beneficiaries::BeneficiaryRow;
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::paging::Pagination;

/// Those of one kind whom the caller keeps.
#[derive(Debug, Serialize, ToSchema)]
pub struct BeneficiaryList<T: ToSchema> {
    pub(super) beneficiaries: Vec<T>,
    pub(super) pagination: Pagination,
}

/// What every beneficiary has.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeptAs {
    beneficiary_id: String,
    nickname: Option<String>,
    is_favorite: bool,
    /// When they were last paid.
    last_used: Option<Timestamp>,
}

/// An account of this bank.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InternalBeneficiary {
    #[serde(flatten)]
    kept: KeptAs,
    account_number: String,
    account_name: Option<String>,
    /// Transfers to them since they were added.
    transfer_count: i64,
}

/// An account of another bank.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExternalBeneficiary {
    #[serde(flatten)]
    kept: KeptAs,
    account_number: String,
    account_name: Option<String>,
    bank_code: Option<String>,
    bank_name: Option<String>,
    /// Transfers to them since they were added.
    transfer_count: i64,
}

/// A customer of a biller.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BillsBeneficiary {
    #[serde(flatten)]
    kept: KeptAs,
    biller_id: Option<String>,
    biller_name: Option<String>,
    account_number: String,
    customer_name: Option<String>,
    /// Payments to them since they were added.
    payment_count: i64,
}

/// A mobile wallet.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WalletBeneficiary {
    #[serde(flatten)]
    kept: KeptAs,
    phone_number: String,
    wallet_provider: Option<String>,
    /// Transfers to them since they were added.
    transfer_count: i64,
}

/// A beneficiary that was added. Which of the fields it has depends on its kind.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AddedBeneficiary {
    pub(super) beneficiary_id: String,
    /// `CREATED`.
    status: &'static str,
    #[serde(flatten)]
    payee: PayeeFields,
    nickname: Option<String>,
    /// `EXTERNAL`, `INTERNAL`, `BILLS` or `MWALLET`.
    transfer_type: &'static str,
    is_favorite: bool,
    created_at: Timestamp,
    message: &'static str,
}

/// Whom it pays.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PayeeFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    account_number: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    account_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bank_code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bank_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    biller_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    biller_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    customer_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phone_number: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wallet_provider: Option<String>,
}

/// A beneficiary that was removed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RemovedBeneficiary {
    /// `SUCCESS`.
    pub(super) status: &'static str,
    pub(super) beneficiary_id: String,
    pub(super) deleted_at: Timestamp,
    pub(super) message: &'static str,
}

impl From<&BeneficiaryRow> for KeptAs {
    fn from(row: &BeneficiaryRow) -> Self {
        Self {
            beneficiary_id: row.beneficiary_id.to_string(),
            nickname: row.nickname.clone(),
            is_favorite: row.is_favorite,
            last_used: row.last_used_at,
        }
    }
}

impl From<BeneficiaryRow> for InternalBeneficiary {
    fn from(row: BeneficiaryRow) -> Self {
        Self {
            kept: KeptAs::from(&row),
            account_number: row.number,
            account_name: row.name,
            transfer_count: row.payment_count,
        }
    }
}

impl From<BeneficiaryRow> for ExternalBeneficiary {
    fn from(row: BeneficiaryRow) -> Self {
        Self {
            kept: KeptAs::from(&row),
            account_number: row.number,
            account_name: row.name,
            bank_code: row.institution,
            bank_name: row.institution_name,
            transfer_count: row.payment_count,
        }
    }
}

impl From<BeneficiaryRow> for BillsBeneficiary {
    fn from(row: BeneficiaryRow) -> Self {
        Self {
            kept: KeptAs::from(&row),
            biller_id: row.institution,
            biller_name: row.institution_name,
            account_number: row.number,
            customer_name: row.name,
            payment_count: row.payment_count,
        }
    }
}

impl From<BeneficiaryRow> for WalletBeneficiary {
    fn from(row: BeneficiaryRow) -> Self {
        Self {
            kept: KeptAs::from(&row),
            phone_number: row.number,
            wallet_provider: row.institution,
            transfer_count: row.payment_count,
        }
    }
}

impl AddedBeneficiary {
    pub(super) fn of(recorded: &Recorded, added: &Beneficiary) -> Self {
        let text = |text: &Option<Personal<String>>| text.as_ref().and_then(Personal::get).cloned();
        Self {
            beneficiary_id: added.id.to_string(),
            status: "CREATED",
            payee: PayeeFields::of(added, text(&added.name)),
            nickname: text(&added.nickname),
            transfer_type: added.payee.kind().as_str(),
            is_favorite: added.is_favorite,
            created_at: recorded.recorded_at,
            message: "Beneficiary added",
        }
    }
}

impl PayeeFields {
    fn of(added: &Beneficiary, name: Option<String>) -> Self {
        let number = Some(added.payee.number().to_owned());
        let institution = added.payee.institution().map(str::to_owned);
        let institution_name = added.institution.clone();
        match &added.payee {
            Payee::Internal { .. } => Self { account_number: number, account_name: name, ..Self::default() },
            Payee::External { .. } => Self {
                account_number: number,
                account_name: name,
                bank_code: institution,
                bank_name: institution_name,
                ..Self::default()
            },
            Payee::Biller { .. } => Self {
                account_number: number,
                customer_name: name,
                biller_id: institution,
                biller_name: institution_name,
                ..Self::default()
            },
            Payee::Wallet { .. } => {
                Self { phone_number: number, wallet_provider: institution, ..Self::default() }
            }
        }
    }
}
