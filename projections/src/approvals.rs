//! What waits for somebody to decide, of whatever kind: one question over the read models of all that can wait.

use bursar_domain::kernel::UserId;
use jiff::Timestamp;
use sqlx::postgres::PgRow;
use sqlx::{PgPool, Row};

use crate::page::{Page, Paged};
use crate::row::parsed;

/// The read models behind [`waiting`].
pub const MODELS: &[&str] = &["cards", "closures", "compliance", "disputes", "documents", "loans", "users"];

bursar_domain::spelled! {
    /// What can wait for a decision, and for which.
    pub enum Stage {
        /// An application for a loan that nobody looks into.
        LoanPending = "LOAN_PENDING",
        /// An application for a loan that somebody looks into.
        LoanUnderReview = "LOAN_UNDER_REVIEW",
        /// A loan to be paid out.
        LoanApproved = "LOAN_APPROVED",
        /// An application to close an account.
        ClosurePending = "CLOSURE_PENDING",
        /// An account to be closed.
        ClosureApproved = "CLOSURE_APPROVED",
        /// A dispute that nobody looks into.
        DisputePending = "DISPUTE_PENDING",
        /// A dispute that somebody looks into.
        DisputeUnderReview = "DISPUTE_UNDER_REVIEW",
        /// A person to be erased.
        ErasurePending = "ERASURE_PENDING",
        /// A document that a customer has handed in.
        DocumentPending = "DOCUMENT_PENDING",
        /// Something that a customer says about themselves.
        RecordPending = "RECORD_PENDING",
        /// A card of the bank's own that its holder should have by now.
        CardPending = "CARD_PENDING",
    }
}

/// Something that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// For which decision.
    pub stage: Stage,
    /// Its id; the person's for an erasure.
    pub id: String,
    /// Whom it concerns.
    pub user_id: UserId,
    /// Their name.
    pub name: String,
    /// The account it is about.
    pub account_number: Option<String>,
    /// How much, minor units of `currency`.
    pub amount: Option<i64>,
    /// ISO 4217.
    pub currency: Option<String>,
    /// What it is, in a few words.
    pub what: String,
    /// The member of staff who took the step before, where one must not take both.
    pub by: Option<String>,
    /// When it was submitted.
    pub since: Timestamp,
}

/// Everything that waits, of every kind. Each branch is an index range of its own.
const ALL: &str = "
    SELECT 'LOAN_' || status AS stage, loan_id AS id, owner, account_number, amount, currency,
           product_name || ', ' || tenure || ' months' AS what, NULL::text AS by, submitted_at AS since
      FROM loans WHERE status IN ('PENDING', 'UNDER_REVIEW', 'APPROVED')
    UNION ALL
    SELECT 'CLOSURE_' || status, closure_id, owner, account_number, NULL, NULL, reason, decided_by, submitted_at
      FROM closures WHERE status IN ('PENDING', 'APPROVED')
    UNION ALL
    SELECT 'DISPUTE_' || status, dispute_id, owner, NULL, amount, currency, reason, NULL, submitted_at
      FROM disputes WHERE status IN ('PENDING', 'UNDER_REVIEW')
    UNION ALL
    SELECT 'ERASURE_PENDING', user_id, user_id, NULL, NULL, NULL, 'Erase what is personal', erasure_requested_by,
           erasure_requested_at
      FROM users WHERE erasure_requested_at IS NOT NULL
    UNION ALL
    SELECT 'DOCUMENT_PENDING', document_id, owner, NULL, NULL, NULL, document_type, NULL, uploaded_at
      FROM documents WHERE status = 'PENDING'
    UNION ALL
    SELECT 'RECORD_PENDING', record_id, owner, NULL, NULL, NULL, kind, NULL, created_at
      FROM compliance_records WHERE status = 'PENDING'
    UNION ALL
    SELECT 'CARD_PENDING', card_id, owner, linked_account, NULL, NULL, brand || ' ' || coalesce(form, ''), NULL, linked_at
      FROM cards WHERE status = 'PENDING'";

/// One page of what waits for one of `stages`, oldest first.
///
/// # Errors
/// When the database cannot be read.
pub async fn waiting(pool: &PgPool, stages: &[Stage], page: Page) -> sqlx::Result<Paged<Waiting>> {
    let stages: Vec<&str> = stages.iter().map(|stage| stage.as_str()).collect();
    let count = format!("SELECT count(*) FROM ({ALL}) w WHERE w.stage = ANY($1)");
    let total = sqlx::query_scalar(&count).bind(&stages).fetch_one(pool).await?;
    let list = format!(
        "SELECT w.*, u.first_name || ' ' || u.last_name AS name
           FROM ({ALL}) w JOIN users u ON u.user_id = w.owner
          WHERE w.stage = ANY($1) ORDER BY w.since, w.id LIMIT $2 OFFSET $3"
    );
    let list = sqlx::query(&list).bind(&stages).bind(page.limit()).bind(page.offset());
    let rows = list.fetch_all(pool).await?;
    Ok(Paged { items: rows.iter().map(read).collect::<sqlx::Result<_>>()?, total })
}

fn read(row: &PgRow) -> sqlx::Result<Waiting> {
    Ok(Waiting {
        stage: parsed(row.try_get("stage")?)?,
        id: row.try_get("id")?,
        user_id: parsed(row.try_get("owner")?)?,
        name: row.try_get("name")?,
        account_number: row.try_get("account_number")?,
        amount: row.try_get("amount")?,
        currency: row.try_get("currency")?,
        what: row.try_get("what")?,
        by: row.try_get("by")?,
        since: row.try_get::<jiff_sqlx::Timestamp, _>("since")?.to_jiff(),
    })
}
