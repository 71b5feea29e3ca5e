//! A whole statement as a document: `camt.053.001.08` for accounting software, CSV for a spreadsheet.
//!
//! It is sent while it is read, a few hundred entries at a time, so that a year of a busy account costs the server no
//! more memory than a day of a quiet one. Should the database fail on the way, the connection is cut: no client takes
//! half a statement for a whole one.

use std::error::Error;
use std::io;

use axum::body::Body;
use bursar_projections::accounts::Account;
use bursar_projections::statement_entries::{
    EntryFilter, Place, StatementEntry, StatementRange, WholeStatement,
};
use futures_util::stream::{TryStreamExt as _, try_unfold};
use jiff::Timestamp;

use super::csv;
use crate::answer::{Streamed, fingerprint};
use crate::app::App;
use crate::iso20022::camt053;
use crate::problem::Problem;
use crate::request::Conditions;

/// What a whole statement can be written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// ISO 20022.
    Camt053,
    /// RFC 4180.
    Csv,
}

impl Form {
    /// Its `Content-Type`.
    const fn media(self) -> &'static str {
        match self {
            Self::Camt053 => "application/xml",
            Self::Csv => "text/csv; charset=utf-8; header=present",
        }
    }
}

/// The statement of an account over a range, as a document.
///
/// # Errors
/// 503.
pub(super) async fn download(
    app: &App,
    account: Account,
    range: StatementRange,
    filter: EntryFilter,
    form: Form,
    wants: Conditions,
) -> Result<Streamed, Problem> {
    let filtered = format!("{filter:?}");
    let whole = WholeStatement::begin(&app.pool, &account.account_number, range, filter).await?;
    let created_at = app.journal.sources().clock.now();
    let document = Document { form, created_at, from: range.from, account, whole };
    let content = document.content(&filtered);
    Ok(Streamed {
        media: form.media(),
        version: document.account.version,
        none_match: wants.none_match,
        body: document.body(app.clone(), fingerprint(content.as_bytes(), 16)),
        content: content.into_bytes(),
    })
}

/// A statement about to be written.
struct Document {
    form: Form,
    created_at: Timestamp,
    from: Timestamp,
    account: Account,
    whole: WholeStatement,
}

/// What is written next.
enum Step {
    Head,
    Part(Option<Place>),
    Tail,
    Done,
}

impl Document {
    /// Everything that the document depends on but the moment it is written at. Entries are only ever appended:
    /// those of a range up to a position are always the same.
    fn content(&self, filtered: &str) -> String {
        let Self { form, from, account, whole, .. } = self;
        let (number, name, currency) = (&account.account_number, &account.account_name, account.currency);
        format!(
            "{} {form:?} {number} {name:?} {currency} {from} {} {filtered} {} {} {}",
            env!("CARGO_PKG_VERSION"),
            whole.until,
            whole.position,
            whole.opening_balance,
            whole.closing_balance,
        )
    }

    /// The document in parts; `id` names it.
    fn body(self, app: App, id: String) -> Body {
        let parts = try_unfold((self, app, id, Step::Head), |(document, app, id, step)| async move {
            let (bytes, next) = match step {
                Step::Head => (document.head(&id)?, Step::Part(None)),
                Step::Part(after) => {
                    let (entries, place) = document.whole.part(&app.pool, after).await?;
                    let next = place.map_or(Step::Tail, |place| Step::Part(Some(place)));
                    (document.entries(&entries)?, next)
                }
                Step::Tail => (document.tail()?, Step::Done),
                Step::Done => return Ok::<_, Box<dyn Error + Send + Sync>>(None),
            };
            Ok(Some((bytes, (document, app, id, next))))
        });
        Body::from_stream(parts.inspect_err(|error| tracing::error!(%error, "a statement broke off")))
    }

    fn head(&self, id: &str) -> io::Result<Vec<u8>> {
        match self.form {
            Form::Csv => csv::head(),
            Form::Camt053 => camt053::head(&camt053::Statement {
                id,
                created_at: self.created_at,
                from: self.from,
                // What has not happened yet is not in it.
                until: self.whole.until.min(self.created_at).max(self.from),
                account: &self.account.account_number,
                name: &self.account.account_name,
                currency: self.account.currency,
                opening: self.whole.opening_balance,
                closing: self.whole.closing_balance,
                credits: self.whole.credits,
                debits: self.whole.debits,
            }),
        }
    }

    fn entries(&self, entries: &[StatementEntry]) -> io::Result<Vec<u8>> {
        match self.form {
            Form::Csv => csv::entries(entries),
            Form::Camt053 => camt053::entries(self.account.currency, entries),
        }
    }

    fn tail(&self) -> io::Result<Vec<u8>> {
        match self.form {
            Form::Csv => Ok(Vec::new()),
            Form::Camt053 => camt053::tail(),
        }
    }
}
