//! Files that have their name only when they are whole.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::BundleError;
use super::bundle::at;

/// A file that is being written: until it is finished it is called `.part`, and nobody takes it for a whole one.
pub(super) struct Whole {
    path: PathBuf,
    part: PathBuf,
    out: BufWriter<File>,
}

impl Whole {
    /// Begins the file that is to be called `path`, over what an interrupted try has left.
    ///
    /// # Errors
    /// [`BundleError::File`].
    pub(super) fn create(path: PathBuf) -> Result<Self, BundleError> {
        let mut part = path.clone().into_os_string();
        part.push(".part");
        let part = PathBuf::from(part);
        let out = BufWriter::new(File::create(&part).map_err(at(&part))?);
        Ok(Self { path, part, out })
    }

    /// Where it is for now.
    pub(super) fn part(&self) -> &Path {
        &self.part
    }

    /// Writes all of `bytes`.
    ///
    /// # Errors
    /// [`BundleError::File`].
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<(), BundleError> {
        self.out.write_all(bytes).map_err(at(&self.part))
    }

    /// It is whole: on the disk, and under its name.
    ///
    /// # Errors
    /// [`BundleError::File`].
    pub(super) fn finish(self) -> Result<PathBuf, BundleError> {
        let Self { path, part, out } = self;
        let file = out.into_inner().map_err(|e| at(&part)(e.into_error()))?;
        file.sync_all().map_err(at(&part))?;
        fs::rename(&part, &path).map_err(at(&path))?;
        Ok(path)
    }
}

impl Write for Whole {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
