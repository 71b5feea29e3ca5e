//! Tables as Apache Parquet: `TIMESTAMP(MICROS, UTC)`, `DECIMAL(38, 4)`, `JSON`, `STRING`; compressed with Snappy, which every
//! reader knows.

use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bursar_domain::Currency;
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, FixedLenByteArray, FixedLenByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;

use super::super::BundleError;
use super::super::whole::Whole;
use super::tables::{Cell, Kind, Sink, Table};

/// Decimal places of a sum: as many as any currency has.
const SCALE: u32 = 4;
/// Rows that are written together, and held in memory until then; fewer when their texts are long.
const ROWS: usize = 65_536;
/// Bytes of texts that are.
const BYTES: usize = 32 * 1024 * 1024;

/// A file of rows.
pub(super) struct Parquet {
    part: PathBuf,
    out: SerializedFileWriter<Whole>,
    columns: Vec<Buffer>,
    rows: usize,
    bytes: usize,
}

/// What waits of a column.
struct Buffer {
    optional: bool,
    values: Values,
    /// Whether there is a value, row by row: 1 or 0.
    levels: Vec<i16>,
}

enum Values {
    Whole(Vec<i64>),
    Text(Vec<ByteArray>),
    Decimal(Vec<FixedLenByteArray>),
}

impl Sink for Parquet {
    fn begin(dir: &Path, table: &'static Table) -> Result<Self, BundleError> {
        let whole = Whole::create(dir.join(format!("{}.parquet", table.name)))?;
        let part = whole.part().to_owned();
        let failed = failed(&part);
        let schema = Arc::new(parse_message_type(&schema(table)).map_err(&failed)?);
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let out = SerializedFileWriter::new(whole, schema, Arc::new(properties)).map_err(&failed)?;
        let columns = table.columns.iter().map(|column| Buffer {
            optional: column.optional,
            levels: Vec::new(),
            values: match column.kind {
                Kind::Whole | Kind::Time => Values::Whole(Vec::new()),
                Kind::Text | Kind::Json => Values::Text(Vec::new()),
                Kind::Decimal => Values::Decimal(Vec::new()),
            },
        });
        Ok(Self { part, out, columns: columns.collect(), rows: 0, bytes: 0 })
    }

    fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), BundleError> {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.levels.push(i16::from(!matches!(cell, Cell::Empty)));
            match (&mut column.values, cell) {
                (Values::Whole(values), Cell::Whole(number)) => values.push(*number),
                (Values::Whole(values), Cell::Time(at)) => values.push(at.as_microsecond()),
                (Values::Text(values), Cell::Text(text)) => {
                    self.bytes += text.len();
                    values.push(ByteArray::from(*text));
                }
                (Values::Decimal(values), Cell::Money(minor, currency)) => {
                    values.push(FixedLenByteArray::from(scaled(*minor, *currency).to_be_bytes().to_vec()));
                }
                (_, Cell::Empty) if column.optional => {}
                (_, cell) => {
                    let wrong = ParquetError::General(format!("{cell:?} does not fit its column"));
                    return Err(failed(&self.part)(wrong));
                }
            }
        }
        self.rows += 1;
        if self.rows >= ROWS || self.bytes >= BYTES {
            self.flush().map_err(failed(&self.part))
        } else {
            Ok(())
        }
    }

    fn finish(mut self) -> Result<PathBuf, BundleError> {
        let failed = failed(&self.part);
        self.flush().map_err(&failed)?;
        self.out.into_inner().map_err(&failed)?.finish()
    }
}

impl Parquet {
    /// Writes the rows that wait.
    fn flush(&mut self) -> Result<(), ParquetError> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut group = self.out.next_row_group()?;
        for column in &mut self.columns {
            let Some(mut out) = group.next_column()? else { break };
            column.write(&mut out)?;
            out.close()?;
        }
        group.close()?;
        (self.rows, self.bytes) = (0, 0);
        Ok(())
    }
}

impl Buffer {
    fn write(&mut self, out: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let levels = mem::take(&mut self.levels);
        let levels = self.optional.then_some(levels.as_slice());
        match &mut self.values {
            Values::Whole(values) => {
                out.typed::<Int64Type>().write_batch(&mem::take(values), levels, None)?;
            }
            Values::Text(values) => {
                out.typed::<ByteArrayType>().write_batch(&mem::take(values), levels, None)?;
            }
            Values::Decimal(values) => {
                out.typed::<FixedLenByteArrayType>().write_batch(&mem::take(values), levels, None)?;
            }
        }
        Ok(())
    }
}

/// Major units with as many places as any currency has.
pub(super) fn scaled(minor: i64, currency: Currency) -> i128 {
    i128::from(minor) * 10_i128.pow(SCALE.saturating_sub(u32::from(currency.minor_unit())))
}

fn schema(table: &Table) -> String {
    let columns = table.columns.iter().map(|column| {
        let repetition = if column.optional { "optional" } else { "required" };
        let (of, logical) = match column.kind {
            Kind::Whole => ("int64", String::new()),
            Kind::Time => ("int64", " (TIMESTAMP(MICROS,true))".to_owned()),
            Kind::Text => ("binary", " (STRING)".to_owned()),
            Kind::Json => ("binary", " (JSON)".to_owned()),
            Kind::Decimal => ("fixed_len_byte_array(16)", format!(" (DECIMAL(38,{SCALE}))")),
        };
        format!("  {repetition} {of} {}{logical};\n", column.name)
    });
    format!("message {} {{\n{}}}", table.name, columns.collect::<String>())
}

fn failed(path: &Path) -> impl Fn(ParquetError) -> BundleError + use<> {
    let path = path.display().to_string();
    move |error| BundleError::File { path: path.clone(), source: std::io::Error::other(error) }
}
