//! Rows in the binary format of `COPY`, the cheapest way into a table: one buffer, no allocation a row, and
//! Postgres writes one log record for a page of rows instead of one for each.

use jiff::Timestamp;
use sqlx::PgConnection;

/// Signature, flags and the length of no extension.
const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// Microseconds from 1970, where jiff counts from, to 2000, where Postgres does.
const POSTGRES_EPOCH: i64 = 946_684_800_000_000;

/// Rows on their way into a table.
#[derive(Debug, Default)]
pub(crate) struct CopyRows {
    bytes: Vec<u8>,
    rows: usize,
}

impl CopyRows {
    /// How many rows wait.
    pub(crate) const fn len(&self) -> usize {
        self.rows
    }

    /// Begins a row; exactly `fields` fields must follow, in the order of the statement's columns.
    pub(crate) fn row(&mut self, fields: i16) -> &mut Self {
        if self.rows == 0 {
            self.bytes.extend_from_slice(HEADER);
        }
        self.rows += 1;
        self.bytes.extend_from_slice(&fields.to_be_bytes());
        self
    }

    pub(crate) fn int8(&mut self, value: i64) -> &mut Self {
        self.field(&value.to_be_bytes())
    }

    pub(crate) fn int2(&mut self, value: i16) -> &mut Self {
        self.field(&value.to_be_bytes())
    }

    pub(crate) fn timestamp(&mut self, value: Timestamp) -> &mut Self {
        self.int8(value.as_microsecond() - POSTGRES_EPOCH)
    }

    pub(crate) fn text(&mut self, value: &str) -> &mut Self {
        self.field(value.as_bytes())
    }

    pub(crate) fn optional_text(&mut self, value: Option<&str>) -> &mut Self {
        match value {
            Some(value) => self.text(value),
            None => {
                self.bytes.extend_from_slice(&(-1_i32).to_be_bytes());
                self
            }
        }
    }

    fn field(&mut self, value: &[u8]) -> &mut Self {
        // A field of 2 GiB cannot come out of the log (a JSON value has at most 1 GiB); Postgres would refuse it.
        let length = i32::try_from(value.len()).unwrap_or(i32::MAX);
        self.bytes.extend_from_slice(&length.to_be_bytes());
        self.bytes.extend_from_slice(value);
        self
    }

    /// Writes the rows by `statement` (`COPY table (columns) FROM STDIN (FORMAT binary)`) and forgets them.
    pub(crate) async fn send(&mut self, db: &mut PgConnection, statement: &str) -> sqlx::Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        self.bytes.extend_from_slice(&(-1_i16).to_be_bytes());
        let mut copy = db.copy_in_raw(statement).await?;
        copy.send(self.bytes.as_slice()).await?;
        copy.finish().await?;
        self.bytes.clear();
        self.rows = 0;
        Ok(())
    }
}
