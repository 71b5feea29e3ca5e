//! Standing instructions as they were, and how their numbers came about.

use bursar_domain::Kind;
use bursar_domain::codec::Codec;
use bursar_domain::kernel::MandateId;
use sqlx::PgPool;

use super::{ExecutionRow, MandateRow, Mandates};
use crate::past::{Explanation, Of, Trace, each};
use crate::read_model::ReadModel as _;
use crate::row::ERASED;
use crate::statement_entries::AsOf;

bursar_domain::spelled! {
    /// A number of a mandate.
    pub enum MandateField {
        /// Payments made.
        ExecutionCount = "executionCount",
        /// Their sum, minor units.
        TotalAmountExecuted = "totalAmountExecuted",
        /// Days that failed.
        FailureCount = "failureCount",
    }
}

impl MandateRow {
    /// The number that a field is.
    #[must_use]
    pub const fn number(&self, field: MandateField) -> i64 {
        match field {
            MandateField::ExecutionCount => self.execution_count,
            MandateField::TotalAmountExecuted => self.total_executed,
            MandateField::FailureCount => self.failure_count,
        }
    }
}

/// A mandate as it was at a past moment, with what had become of its last `days` days, the latest first; none before it was
/// given. A payee who was erased since has no name in the past either.
///
/// # Errors
/// When the database cannot be read.
pub async fn as_of(
    pool: &PgPool,
    codec: &Codec,
    now: &MandateRow,
    as_of: AsOf,
    days: usize,
) -> sqlx::Result<Option<(MandateRow, Vec<ExecutionRow>)>> {
    let (mut model, id) = (Mandates::default(), now.mandate_id);
    let stream = id.to_string();
    each(pool, codec, Of::Stream(Kind::Mandate, &stream), Some(as_of), |event| model.fold(event)).await?;
    let Some(mut row) = model.rows.get(&id, &id).cloned() else { return Ok(None) };
    if now.beneficiary_name.as_deref() == Some(ERASED) {
        row.erase(row.last_position);
    }
    let mut executions: Vec<ExecutionRow> = model.executions.rows(&id).cloned().collect();
    executions.sort_by_key(|execution| std::cmp::Reverse(execution.due));
    executions.truncate(days);
    Ok(Some((row, executions)))
}

/// How a number of a mandate came about: the last `limit` events that changed it. None when there is no such mandate.
///
/// # Errors
/// When the database cannot be read.
pub async fn explain(
    pool: &PgPool,
    codec: &Codec,
    id: MandateId,
    field: MandateField,
    as_of: Option<AsOf>,
    limit: usize,
) -> sqlx::Result<Option<Explanation>> {
    let (mut model, mut trace) = (Mandates::default(), Trace::new(limit));
    let stream = id.to_string();
    each(pool, codec, Of::Stream(Kind::Mandate, &stream), as_of, |event| {
        model.fold(event)?;
        trace.take(event, model.rows.get(&id, &id).map(|row| row.number(field)))
    })
    .await?;
    Ok(trace.finish())
}
