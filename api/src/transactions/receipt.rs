//! Receipts: what a transaction was, for whoever paid or was paid, to be kept or printed.

use std::fmt;
use std::sync::LazyLock;

use askama::Template;
use aws_lc_rs::digest::{SHA256, digest};
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bursar_domain::kernel::{TransactionId, UserId};
use bursar_domain::payments::PaymentKind;
use bursar_domain::{AccountNumber, Currency};
use bursar_projections::accounts;
use bursar_projections::transactions::{Transaction, TransactionStatus};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::read::transaction;
use super::views::Sided;
use crate::answer::{Answer, Streamed};
use crate::app::App;
use crate::audit::{InclusionProof, inclusion};
use crate::auth::{Allowed, ReadAccount};
use crate::openapi::{ChoiceProblems, ReadHeaders, ReadProblems};
use crate::problem::Problem;
use crate::request::{Accept, Conditions, InPath, Representation};

/// A receipt, for the side of the caller. Sums in minor units.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    transaction_id: String,
    /// As on the transaction.
    #[serde(rename = "type")]
    #[schema(value_type = String)]
    kind: PaymentKind,
    /// As on the transaction.
    #[schema(value_type = String)]
    status: TransactionStatus,
    amount: i64,
    /// What the bank took beside the amount, or gave back in a reversal.
    fee: i64,
    /// Amount and fee.
    total_amount: i64,
    currency: String,
    from: ReceiptParty,
    to: ReceiptParty,
    narration: Option<String>,
    reference: String,
    processed_at: Timestamp,
    /// When it arrived outside.
    settled_at: Option<Timestamp>,
    /// When it came back.
    returned_at: Option<Timestamp>,
    /// Why it came back, in the rail's words.
    return_reason: Option<String>,
    /// The transaction that this one undoes or refunds.
    original_transaction_id: Option<String>,
    /// The transaction that undid this one.
    reversed_by: Option<String>,
    /// Where the bank's log holds it.
    log_position: i64,
    /// Proof that the log holds it there: a checkpoint signed by the bank, and the way to it. Null for about a second.
    proof: Option<InclusionProof>,
}

/// One side of a receipt.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReceiptParty {
    /// The holder's name, as far as the caller may know it.
    name: Option<String>,
    /// Null for the bank itself.
    account_number: Option<String>,
    /// Name or code of the bank, biller or wallet provider, when it is not this bank.
    institution: Option<String>,
}

/// How a receipt can be had.
#[derive(Debug, Clone, Copy)]
pub(super) enum Format {
    Json,
    Html,
}

impl Representation for Format {
    const ALL: &'static [(&'static str, Self)] =
        &[("application/json", Self::Json), ("text/html", Self::Html)];
}

/// Reads the receipt of a transaction that the caller paid or was paid by: JSON, or with `Accept: text/html` a page
/// to be printed.
#[utoipa::path(
    get, path = "/v1/transactions/{transactionId}/receipt", tag = "Transactions",
    params(InPath<TransactionId>, ReadHeaders),
    responses(
        (status = 200, description = "The receipt.", content(
            (Receipt = "application/json"), (String = "text/html"),
        )),
        ReadProblems, ChoiceProblems,
    )
)]
pub(super) async fn read_receipt(
    State(app): State<App>,
    caller: Allowed<ReadAccount>,
    wants: Conditions,
    Accept(format): Accept<Format>,
    id: InPath<TransactionId>,
) -> Result<Response, Problem> {
    let row = transaction(&app, &caller, &wants, id, &["accounts", "transactions"]).await?;
    let (version, currency) = (row.version, row.currency);
    let receipt = receipt(&app, row, caller.user()).await?;
    match format {
        // It will say more as soon as the log is sealed.
        Format::Json if receipt.proof.is_none() => Ok(Answer::ok(receipt).chosen().into_response()),
        Format::Json => Ok(Answer::ok(receipt).tagged(version, wants.none_match).chosen().into_response()),
        Format::Html => page(&receipt, currency, version, wants.none_match),
    }
}

async fn receipt(app: &App, row: Transaction, reader: UserId) -> Result<Receipt, Problem> {
    let sided = Sided::of(&row, reader);
    // Who was paid wants to know by whom; who is paid is named as the payer knows them.
    let payer_name = holder(app, &row.source_account).await?;
    let payee_name = if row.payee == Some(reader) {
        holder(app, &row.destination_account).await?
    } else {
        sided.destination_name
    };
    let institution = row.institution_name.or(row.institution);
    let party = |account: &AccountNumber, name, account_number| ReceiptParty {
        name,
        account_number,
        institution: institution.clone().filter(|_| account.is_internal()),
    };
    Ok(Receipt {
        transaction_id: row.transaction_id.to_string(),
        kind: row.kind,
        status: sided.status,
        amount: row.amount,
        fee: sided.fee,
        total_amount: match row.kind {
            // Paid out less its fees.
            PaymentKind::LoanDisbursement => row.amount.saturating_sub(sided.fee),
            _ => row.amount.saturating_add(sided.fee),
        },
        currency: row.currency.to_string(),
        from: party(&row.source_account, payer_name, sided.source),
        to: party(&row.destination_account, payee_name, sided.destination),
        narration: row.narration,
        reference: row.reference,
        processed_at: row.recorded_at,
        settled_at: row.settled_at,
        returned_at: row.returned_at,
        return_reason: row.return_reason,
        original_transaction_id: row.undoes.map(|id| id.to_string()),
        reversed_by: row.reversed_by.map(|id| id.to_string()),
        log_position: row.position,
        proof: inclusion(app, row.position).await?,
    })
}

/// The name on a customer's account.
async fn holder(app: &App, account: &AccountNumber) -> Result<Option<String>, Problem> {
    if account.is_internal() {
        return Ok(None);
    }
    let found = accounts::find(&app.pool, account).await?;
    Ok(found.map(|account| account.account_name))
}

const STYLE: &str = include_str!("../../templates/receipt.css");

/// The page may use its one style and nothing else: no script, no other resource, no frame around it.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let style = BASE64.encode(digest(&SHA256, STYLE.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
});

/// A receipt to be printed.
#[derive(Template)]
#[template(path = "receipt.html")]
struct ReceiptPage<'a> {
    receipt: &'a Receipt,
    currency: Currency,
    style: &'static str,
}

impl ReceiptPage<'_> {
    fn money(&self, minor: &i64) -> String {
        format!("{} {}", grouped(&self.currency.decimal((*minor).into())), self.currency)
    }

    /// To the second.
    fn moment(&self, at: &Timestamp) -> String {
        at.strftime("%Y-%m-%d %H:%M:%S").to_string()
    }

    const fn status(&self) -> &'static str {
        match self.receipt.status {
            TransactionStatus::Success => "Successful",
            TransactionStatus::Settled => "Arrived",
            TransactionStatus::Returned => "Came back",
            TransactionStatus::Reversed => "Undone",
            TransactionStatus::Disputed => "Disputed",
        }
    }

    fn fee_label(&self) -> &'static str {
        if self.receipt.kind == PaymentKind::Reversal { "Fee given back" } else { "Fee" }
    }
}

/// `1234567.89` as `1,234,567.89`.
fn grouped(decimal: &str) -> String {
    let (whole, fraction) = decimal.split_at(decimal.find('.').unwrap_or(decimal.len()));
    let mut text = String::with_capacity(decimal.len() + whole.len() / 3);
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + fraction
}

fn page(
    receipt: &Receipt,
    currency: Currency,
    version: i64,
    none_match: Option<String>,
) -> Result<Response, Problem> {
    let html = ReceiptPage { receipt, currency, style: STYLE }.render().map_err(|error| {
        tracing::error!(%error, "a receipt cannot be written as HTML");
        Problem::internal()
    })?;
    let (content, body) = (html.clone().into_bytes(), Body::from(html));
    let media = "text/html; charset=utf-8";
    let mut response = Streamed { media, version, content, none_match, body }.into_response();
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::from_str(&POLICY) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    // A page stays behind on a computer that others use too.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

impl fmt::Display for ReceiptParty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [&self.name, &self.account_number, &self.institution];
        let known: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
        f.write_str(if known.is_empty() { "The bank" } else { "" })?;
        f.write_str(&known.join(" · "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_sums_are_readable() {
        for (decimal, readable) in [
            ("0.05", "0.05"),
            ("999.00", "999.00"),
            ("1000.00", "1,000.00"),
            ("1234567", "1,234,567"),
            ("10000000000000.00", "10,000,000,000,000.00"),
        ] {
            assert_eq!(grouped(decimal), readable);
        }
    }
}
