//! Reading identity documents: a port, and a reader that reads what is written for machines.

use bursar_domain::Personal;
use bursar_domain::documents::{Extracted, ExtractedFrom, mrz};
use bursar_domain::kernel::FileType;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use jiff::civil::Date;

use crate::owned::CommandError;

/// A document to be read, and what its owner says is on it.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'a> {
    /// The file as it was handed in.
    pub content: &'a [u8],
    /// What it should be.
    pub file_type: FileType,
    /// The number on it.
    pub number: Option<&'a str>,
    /// Until when it is good.
    pub expiry_date: Option<Date>,
    /// The UTC day.
    pub today: Date,
}

/// Reads what is on a document. It does not say whether the document is genuine: staff do.
pub trait DocumentReader: Send + Sync {
    /// What is on it, and where that comes from.
    fn read<'a>(&'a self, document: Reading<'a>) -> BoxFuture<'a, Result<Extracted, CommandError>>;
}

/// Sees no pictures. It reads a machine-readable zone whose text is in the file: in a text chunk of a PNG, a comment of a
/// JPEG or a PDF, each line as a run of characters. Of any other file it repeats what its owner says, and says so.
#[derive(Debug, Clone, Copy)]
pub struct MrzReader;

impl DocumentReader for MrzReader {
    fn read<'a>(&'a self, document: Reading<'a>) -> BoxFuture<'a, Result<Extracted, CommandError>> {
        ready(Ok(read(document))).boxed()
    }
}

fn read(document: Reading<'_>) -> Extracted {
    match mrz::find(document.content, document.today) {
        Some(found) => Extracted {
            from: ExtractedFrom::Mrz,
            document_number: Some(Personal::new(found.document_number)),
            full_name: Some(Personal::new(found.full_name)),
            date_of_birth: Some(Personal::new(found.date_of_birth)),
            expiry_date: Some(found.expiry_date),
        },
        None => Extracted {
            from: ExtractedFrom::Submitted,
            document_number: document.number.map(|number| Personal::new(number.to_owned())),
            full_name: None,
            date_of_birth: None,
            expiry_date: document.expiry_date,
        },
    }
}
