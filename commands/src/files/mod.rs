//! Files that customers hand in. They are kept outside the log, by a name that tells nothing, encrypted with the key of
//! the person they belong to: when that person is erased, they are noise.
//!
//! ```text
//!   put: check --> encrypt --> store --> the unit whose event names the file claims it
//!   a file that no unit claims within a day (the unit was refused, the server died) is swept away
//! ```
//!
//! | file | what it holds |
//! |---|---|
//! | `objects` | the store: a directory, or an S3-compatible bucket |
//! | `picture`, `ends`, `pdf` | what is let in |
//! | `sweep` | the process that clears away what nobody claims |

mod ends;
mod objects;
mod pdf;
mod picture;
mod sweep;

use std::sync::Arc;

use bursar_domain::kernel::{FileError, FileId, FileType, StoredFile, UserId};
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;

use crate::keys::{hex, sha256};
use crate::owned::{CommandError, NotFound};
use crate::{Committed, Journal, SubmitError, Unit};

pub use objects::{Bucket, ObjectFiles, UnusableStore};
pub use picture::{Avatar, PictureLimits, Pictures};
pub use sweep::{SWEEP, SweepFiles, order};

/// The namespace in which files are claimed by the aggregate whose event names them.
const CLAIM: &str = "file";

/// The store did not do what it was asked; try again later. What it said is in the server's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the file store is not available")]
pub struct StoreDown;

impl From<StoreDown> for CommandError {
    fn from(_: StoreDown) -> Self {
        Self::unavailable()
    }
}

/// Keeps bytes under a name.
pub trait FileStore: Send + Sync {
    /// Keeps `bytes`; once it answers, they survive a crash.
    fn put(&self, id: FileId, bytes: Vec<u8>) -> BoxFuture<'_, Result<(), StoreDown>>;

    /// The bytes, if they are there.
    fn get(&self, id: FileId) -> BoxFuture<'_, Result<Option<Vec<u8>>, StoreDown>>;

    /// Keeps them no longer; that there are none is as good.
    fn delete(&self, id: FileId) -> BoxFuture<'_, Result<(), StoreDown>>;

    /// Everything there is, in any order.
    fn list(&self) -> BoxStream<'_, Result<FileId, StoreDown>>;
}

/// The files of a bank's customers.
#[derive(Clone)]
pub struct Files {
    store: Arc<dyn FileStore>,
    pictures: Pictures,
}

impl Files {
    /// Files in `store`; pictures within `limits`.
    #[must_use]
    pub fn new(store: Arc<dyn FileStore>, limits: PictureLimits) -> Self {
        Self { store, pictures: Pictures::new(limits) }
    }

    /// Looks into a document that should be a `file_type`. A picture comes back without anything that is no picture.
    ///
    /// # Errors
    /// [`FileError`].
    pub async fn check(&self, file_type: FileType, bytes: Vec<u8>) -> Result<Vec<u8>, CommandError> {
        match claimed(file_type, &bytes)? {
            FileType::Pdf => pdf::check(&bytes).map(|()| bytes).map_err(CommandError::refused),
            FileType::Jpg | FileType::Png => self.pictures.clean(file_type, bytes).await,
        }
    }

    /// Makes an avatar of a picture that should be a `file_type`.
    ///
    /// # Errors
    /// [`FileError`].
    pub async fn avatar(&self, file_type: FileType, bytes: Vec<u8>) -> Result<Avatar, CommandError> {
        match claimed(file_type, &bytes)? {
            FileType::Pdf => Err(CommandError::refused(FileError::NoPicture)),
            FileType::Jpg | FileType::Png => self.pictures.avatar(file_type, bytes).await,
        }
    }

    /// Encrypts `bytes` for `owner` and stores them.
    ///
    /// # Errors
    /// When store or key cannot be reached.
    pub async fn put(
        &self,
        journal: &Journal,
        owner: UserId,
        file_type: FileType,
        bytes: Vec<u8>,
    ) -> Result<StoredFile, CommandError> {
        let id = FileId::mint(journal.sources());
        let sealed = journal.vault().seal(owner, &id.to_string(), &bytes).await?;
        let sha256 = hex(&sha256(&sealed));
        self.store.put(id, sealed).await?;
        Ok(StoredFile { id, file_type, sha256 })
    }

    /// What was put.
    ///
    /// # Errors
    /// `SUBJECT_ERASED` when its owner was; `NOT_FOUND` when it is gone; when store or key cannot be reached.
    pub async fn get(
        &self,
        journal: &Journal,
        owner: UserId,
        file: &StoredFile,
    ) -> Result<Vec<u8>, CommandError> {
        let sealed = self.store.get(file.id).await?;
        let sealed = sealed.ok_or_else(|| CommandError::refused(NotFound("file")))?;
        journal.vault().open(owner, &file.id.to_string(), &sealed).await
    }

    /// Submits a unit whose event names `files`. When it turns out not to, because it was refused or because it repeats
    /// a unit of before, they are of no use and go.
    pub(crate) async fn submit(
        &self,
        journal: &Journal,
        unit: Unit,
        holder: impl std::fmt::Display,
        files: &[&StoredFile],
    ) -> Result<Committed, CommandError> {
        let mut unit = unit;
        for file in files {
            unit = unit.claim(CLAIM, name_hash(file.id), &holder, "FILE_EXISTS");
        }
        let outcome = journal.submit(unit).await;
        let is_settled = match &outcome {
            Ok(committed) => !committed.replayed,
            // Nobody knows: the sweep will.
            Err(SubmitError::Unavailable) => true,
            Err(SubmitError::Refused(_) | SubmitError::KeyReused | SubmitError::Busy) => false,
        };
        if !is_settled {
            self.drop_unclaimed(journal, files).await;
        }
        Ok(outcome?)
    }

    /// Deletes those of `files` that nobody claims. What is left, because something does not answer, is swept.
    async fn drop_unclaimed(&self, journal: &Journal, files: &[&StoredFile]) {
        let hashes: Vec<_> = files.iter().map(|file| name_hash(file.id)).collect();
        let Ok(held) = journal.held(CLAIM, &hashes).await else { return };
        for (file, _) in files.iter().zip(&hashes).filter(|(_, hash)| !held.contains(*hash)) {
            let _ = self.store.delete(file.id).await;
        }
    }
}

/// `unit`, after which nobody holds the file: the sweep takes it away.
pub(crate) fn let_go(unit: Unit, file: &StoredFile, holder: impl std::fmt::Display) -> Unit {
    unit.release(CLAIM, name_hash(file.id), holder)
}

/// What `bytes` begin as, when that is what they should be.
fn claimed(expected: FileType, bytes: &[u8]) -> Result<FileType, CommandError> {
    FileType::of(bytes)
        .filter(|file_type| *file_type == expected)
        .ok_or_else(|| CommandError::refused(FileError::WrongType { expected }))
}

/// What a file is claimed by. Its name tells nothing, so neither does this.
fn name_hash(id: FileId) -> [u8; 32] {
    sha256(id.to_string().as_bytes())
}
