//! How a dispute looks from outside. Sums in minor units.

use bursar_domain::Recorded;
use bursar_domain::disputes::{DisputeStatus, Opened};
use bursar_projections::disputes::DisputeRow;
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::paging::Pagination;

/// How long a decision usually takes.
const RESOLUTION_TIME: &str = "5 to 10 working days";

/// A dispute.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DisputeInfo {
    dispute_id: String,
    transaction_id: String,
    /// What was wrong: `UNAUTHORIZED`, `FRAUD`, `DUPLICATE` ...
    dispute_reason: &'static str,
    dispute_amount: i64,
    currency: String,
    description: Option<String>,
    /// `PENDING`, `UNDER_REVIEW`, `WON`, `LOST` or `WITHDRAWN`.
    dispute_status: &'static str,
    submitted_at: Timestamp,
    /// In words.
    estimated_resolution_time: &'static str,
    /// A number to quote to the bank.
    dispute_reference: String,
}

/// A dispute that was submitted.
#[derive(Debug, Serialize, ToSchema)]
pub struct DisputeResult {
    /// `SUCCESS`.
    status: &'static str,
    #[serde(flatten)]
    dispute: DisputeInfo,
    message: &'static str,
}

/// Everything about a dispute.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DisputeDetails {
    #[serde(flatten)]
    dispute: DisputeInfo,
    supporting_documents: Vec<String>,
    contact_phone: Option<String>,
    contact_email: Option<String>,
    /// What was said about it last: by staff, or by the payer who took it back.
    note: Option<String>,
    /// The transaction that gave the money back.
    refund_transaction_id: Option<String>,
    updated_at: Timestamp,
}

/// Disputes.
#[derive(Debug, Serialize, ToSchema)]
pub struct DisputeList {
    pub(super) disputes: Vec<DisputeDetails>,
    pub(super) pagination: Pagination,
}

/// Where a dispute has moved.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// `SUCCESS`.
    pub(super) status: &'static str,
    pub(super) dispute_id: String,
    /// `UNDER_REVIEW`, `WON`, `LOST` or `WITHDRAWN`.
    pub(super) dispute_status: &'static str,
    pub(super) note: Option<String>,
    /// The transaction that gave the money back, when it was won.
    pub(super) refund_transaction_id: Option<String>,
    pub(super) refunded_amount: Option<i64>,
    pub(super) updated_at: Timestamp,
    pub(super) message: &'static str,
}

impl DisputeResult {
    pub(super) fn of(recorded: &Recorded, opened: &Opened) -> Self {
        let dispute = DisputeInfo {
            dispute_id: recorded.stream.id.to_string(),
            transaction_id: opened.transaction_id.to_string(),
            dispute_reason: opened.reason.as_str(),
            dispute_amount: opened.amount.minor(),
            currency: opened.currency.to_string(),
            description: opened.description.clone(),
            dispute_status: DisputeStatus::Pending.as_str(),
            submitted_at: recorded.recorded_at,
            estimated_resolution_time: RESOLUTION_TIME,
            dispute_reference: opened.reference.clone(),
        };
        Self { status: "SUCCESS", dispute, message: "Dispute submitted" }
    }
}

impl From<DisputeRow> for DisputeDetails {
    fn from(row: DisputeRow) -> Self {
        Self {
            dispute: DisputeInfo {
                dispute_id: row.dispute_id.to_string(),
                transaction_id: row.transaction_id.to_string(),
                dispute_reason: row.reason.as_str(),
                dispute_amount: row.amount,
                currency: row.currency.to_string(),
                description: row.description,
                dispute_status: row.status.as_str(),
                submitted_at: row.submitted_at,
                estimated_resolution_time: RESOLUTION_TIME,
                dispute_reference: row.reference,
            },
            supporting_documents: row.supporting_documents,
            contact_phone: row.contact_phone,
            contact_email: row.contact_email,
            note: row.note,
            refund_transaction_id: row.refunded_by.map(|id| id.to_string()),
            updated_at: row.updated_at,
        }
    }
}
