//! Questions about transactions.

use bursar_domain::kernel::{TagId, TransactionId, UserId};
use bursar_domain::payments::PaymentKind;
use bursar_domain::{AccountNumber, Currency, Position};
use jiff::Timestamp;
use jiff_sqlx::ToSqlx;
use serde::Deserialize;
use sqlx::types::Json;
use sqlx::{PgPool, Postgres, QueryBuilder};

use super::TransactionStatus;
use crate::page::{Page, Paged, Sort, SortField, contains};

/// A payment; sums in minor units of `currency`. The field names are the table's columns.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Transaction {
    /// Its id.
    pub transaction_id: TransactionId,
    /// Position of the event that made it.
    pub position: Position,
    /// When it was made.
    pub recorded_at: Timestamp,
    /// Between whom.
    #[serde(rename = "type")]
    pub kind: PaymentKind,
    /// Who holds the account debited; none when it is the bank's own.
    pub payer: Option<UserId>,
    /// Who holds the account credited; none when it is the bank's own.
    pub payee: Option<UserId>,
    /// The account debited.
    pub source_account: AccountNumber,
    /// The account credited.
    pub destination_account: AccountNumber,
    /// How much.
    pub amount: i64,
    /// What the bank took for it beside the amount, or gave back in a reversal.
    pub fee: i64,
    /// ISO 4217.
    pub currency: Currency,
    /// The payer's reference.
    pub reference: String,
    /// What it was for, in the payer's words.
    pub narration: Option<String>,
    /// The payee's name as the payer gave it.
    pub destination_name: Option<String>,
    /// Code of the bank or biller, or the wallet provider, at the other end.
    pub institution: Option<String>,
    /// Name of that bank or biller.
    pub institution_name: Option<String>,
    /// Account, customer, phone or masked card number there.
    pub outside_number: Option<String>,
    /// The transaction that this one undoes or refunds.
    pub undoes: Option<TransactionId>,
    /// What has become of it.
    pub status: TransactionStatus,
    /// When it arrived outside.
    pub settled_at: Option<Timestamp>,
    /// When it came back.
    pub returned_at: Option<Timestamp>,
    /// Why it came back, in the rail's words.
    pub return_reason: Option<String>,
    /// The transaction that undid it.
    pub reversed_by: Option<TransactionId>,
    /// The open dispute.
    pub dispute_id: Option<String>,
    /// What was given back after disputes.
    pub refunded: i64,
    /// Events of the payment so far; 0 in lists.
    #[serde(skip)]
    pub version: i64,
}

/// What a list can be sorted by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TransactionSort {
    /// The order of the log.
    #[default]
    ProcessedAt,
    /// How much.
    Amount,
}

impl SortField for TransactionSort {
    const NAMES: &'static [(&'static str, Self)] =
        &[("processedAt", Self::ProcessedAt), ("amount", Self::Amount)];
}

/// Which transactions a list shows; everything that is `None` does not matter.
#[derive(Debug, Clone)]
pub struct TransactionFilter {
    /// Made at this time or later.
    pub from: Timestamp,
    /// Made before this time.
    pub to: Timestamp,
    /// Between these.
    pub kind: Option<PaymentKind>,
    /// Of which this has become.
    pub status: Option<TransactionStatus>,
    /// Carrying this tag of the reader's.
    pub tag: Option<TagId>,
    /// Debiting or crediting this account.
    pub account: Option<AccountNumber>,
    /// At least this much, minor units.
    pub min_amount: Option<i64>,
    /// At most this much, minor units.
    pub max_amount: Option<i64>,
    /// With this in reference, narration, or name or number at the other end; case does not matter.
    pub q: Option<String>,
}

/// The side of a transaction that a reader is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Payer,
    Payee,
}

/// One page of the transactions that debit or credit an account of `owner`'s.
///
/// # Errors
/// When the database cannot be read.
pub async fn of_owner(
    pool: &PgPool,
    owner: UserId,
    filter: &TransactionFilter,
    sort: Sort<TransactionSort>,
    page: Page,
) -> sqlx::Result<Paged<Transaction>> {
    let owner = owner.to_string();
    let mut count = QueryBuilder::new("SELECT (SELECT count(*) ");
    matching(&mut count, &owner, Side::Payer, filter);
    count.push(") + (SELECT count(*) ");
    matching(&mut count, &owner, Side::Payee, filter);
    let total = count.push(")").build_query_scalar().fetch_one(pool).await?;

    let mut list = listed("SELECT to_jsonb(t)", &owner, filter, sort, page);
    let items: Vec<Json<Transaction>> = list.build_query_scalar().fetch_all(pool).await?;
    Ok(Paged { items: items.into_iter().map(|Json(row)| row).collect(), total })
}

/// One page. Each side in its own order and no further than the page, which an index gives; then the two merged.
pub(super) fn listed<'a>(
    select: &str,
    owner: &str,
    filter: &TransactionFilter,
    sort: Sort<TransactionSort>,
    page: Page,
) -> QueryBuilder<'a, Postgres> {
    let order = order(sort);
    let reach = page.offset().saturating_add(page.limit());
    let mut list = QueryBuilder::new(format!("{select} FROM ("));
    for (side, before) in [(Side::Payer, "(SELECT t.* "), (Side::Payee, " UNION ALL (SELECT t.* ")] {
        list.push(before);
        matching(&mut list, owner, side, filter);
        list.push(&order).push(" LIMIT ").push_bind(reach).push(")");
    }
    list.push(") t").push(&order).push(" LIMIT ").push_bind(page.limit());
    list.push(" OFFSET ").push_bind(page.offset());
    list
}

/// The transaction, if it debits or credits an account of `owner`'s; whosever it is, when no owner is given.
///
/// # Errors
/// When the database cannot be read.
pub async fn find(
    pool: &PgPool,
    owner: Option<UserId>,
    id: TransactionId,
) -> sqlx::Result<Option<Transaction>> {
    let sql = "SELECT to_jsonb(t), (SELECT max(e.sequence) FROM events e
                                     WHERE e.aggregate_type = 'payment' AND e.aggregate_id = t.transaction_id)
               FROM transactions t WHERE transaction_id = $1 AND ($2::text IS NULL OR payer = $2 OR payee = $2)";
    let row = sqlx::query_as::<_, (Json<Transaction>, Option<i64>)>(sql);
    let row =
        row.bind(id.to_string()).bind(owner.map(|owner| owner.to_string())).fetch_optional(pool).await?;
    Ok(row.map(|(Json(row), version)| Transaction { version: version.unwrap_or(0), ..row }))
}

/// One page of everybody's transactions, newest first: those with this reference, or with this id.
///
/// # Errors
/// When the database cannot be read.
pub async fn search(pool: &PgPool, q: &str, page: Page) -> sqlx::Result<Paged<Transaction>> {
    let column = if q.parse::<TransactionId>().is_ok() { "transaction_id" } else { "reference" };
    let count = format!("SELECT count(*) FROM transactions WHERE {column} = $1");
    let total = sqlx::query_scalar(&count).bind(q).fetch_one(pool).await?;
    let list = format!(
        "SELECT to_jsonb(t) FROM transactions t WHERE {column} = $1
          ORDER BY recorded_at DESC, position DESC LIMIT $2 OFFSET $3"
    );
    let items = sqlx::query_scalar::<_, Json<Transaction>>(&list);
    let items = items.bind(q).bind(page.limit()).bind(page.offset()).fetch_all(pool).await?;
    Ok(Paged { items: items.into_iter().map(|Json(row)| row).collect(), total })
}

/// The bill that `payer` paid under this transaction id or reference; the newest of several.
///
/// # Errors
/// When the database cannot be read.
pub async fn find_bill(pool: &PgPool, payer: UserId, billing_ref: &str) -> sqlx::Result<Option<Transaction>> {
    let sql = "SELECT to_jsonb(t) FROM transactions t
                WHERE payer = $1 AND type = 'BILLS' AND (transaction_id = $2 OR reference = $2)
                ORDER BY recorded_at DESC, position DESC LIMIT 1";
    let row = sqlx::query_scalar::<_, Json<Transaction>>(sql);
    let row = row.bind(payer.to_string()).bind(billing_ref).fetch_optional(pool).await?;
    Ok(row.map(|Json(row)| row))
}

fn matching(query: &mut QueryBuilder<'_, Postgres>, owner: &str, side: Side, filter: &TransactionFilter) {
    match side {
        Side::Payer => query.push("FROM transactions t WHERE payer = ").push_bind(owner.to_owned()),
        // Who paid themselves is in the list once.
        Side::Payee => query
            .push("FROM transactions t WHERE payee = ")
            .push_bind(owner.to_owned())
            .push(" AND payer IS DISTINCT FROM payee"),
    };
    query.push(" AND recorded_at >= ").push_bind(filter.from.to_sqlx());
    query.push(" AND recorded_at < ").push_bind(filter.to.to_sqlx());
    if let Some(kind) = filter.kind {
        query.push(" AND type = ").push_bind(kind.as_str());
    }
    if let Some(status) = filter.status {
        query.push(match side {
            Side::Payer => " AND status = ",
            // A dispute is between the payer and the bank until it is decided.
            Side::Payee => " AND CASE status WHEN 'DISPUTED' THEN 'SUCCESS' ELSE status END = ",
        });
        query.push_bind(status.as_str());
    }
    if let Some(tag) = filter.tag {
        query.push(
            " AND transaction_id IN (SELECT g.transaction_id FROM tagged_transactions g WHERE g.owner = ",
        );
        query.push_bind(owner.to_owned()).push(" AND ").push_bind(tag.to_string()).push(" = ANY(g.tag_ids))");
    }
    if let Some(account) = &filter.account {
        query.push(" AND ").push_bind(account.to_string()).push(" IN (source_account, destination_account)");
    }
    if let Some(least) = filter.min_amount {
        query.push(" AND amount >= ").push_bind(least);
    }
    if let Some(most) = filter.max_amount {
        query.push(" AND amount <= ").push_bind(most);
    }
    if let Some(q) = &filter.q {
        query.push(match side {
            Side::Payer => {
                " AND concat_ws(' ', reference, narration, destination_name, institution_name, outside_number) ILIKE "
            }
            // What the payer calls the payee is the payer's business.
            Side::Payee => " AND concat_ws(' ', reference, narration, institution_name, outside_number) ILIKE ",
        });
        query.push_bind(contains(q));
    }
}

fn order(sort: Sort<TransactionSort>) -> String {
    let direction = sort.direction();
    let first = match sort.field {
        TransactionSort::ProcessedAt => String::new(),
        TransactionSort::Amount => format!("amount {direction}, "),
    };
    format!(" ORDER BY {first}recorded_at {direction}, position {direction}")
}
