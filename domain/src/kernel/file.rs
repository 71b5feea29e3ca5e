//! Files that customers hand in: what the log says about bytes that are kept elsewhere.

use serde::{Deserialize, Serialize};

use super::FileId;

/// The most bytes a file may have.
pub const LARGEST_FILE: usize = 5 * 1024 * 1024;

crate::spelled! {
    /// What a file is, as its first bytes say.
    pub enum FileType {
        /// Portable Document Format (ISO 32000).
        Pdf = "PDF",
        /// JPEG (ISO/IEC 10918).
        Jpg = "JPG",
        /// Portable Network Graphics (ISO/IEC 15948).
        Png = "PNG",
    }
}

impl FileType {
    /// What `bytes` begin as; none when it is nothing that the bank takes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        // PDF readers look for the header in the first 1,024 bytes. Whoever puts something in front means another reader.
        [(Self::Pdf, &b"%PDF-"[..]), (Self::Jpg, b"\xff\xd8\xff"), (Self::Png, b"\x89PNG\r\n\x1a\n")]
            .into_iter()
            .find_map(|(file_type, magic)| bytes.starts_with(magic).then_some(file_type))
    }

    /// Its media type.
    #[must_use]
    pub const fn media(self) -> &'static str {
        match self {
            Self::Pdf => "application/pdf",
            Self::Jpg => "image/jpeg",
            Self::Png => "image/png",
        }
    }

    /// What its name ends with.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Pdf => "pdf",
            Self::Jpg => "jpg",
            Self::Png => "png",
        }
    }
}

crate::rejections! {
    /// Why a file is not taken.
    pub enum FileError {
        /// It is not what its owner says it is.
        WrongType {
            /// What they say.
            expected: FileType => "fileType",
        }: Unprocessable "FILE_TYPE_MISMATCH" = "the file is not a {expected}",
        /// Only a picture will do.
        NoPicture: Unprocessable "FILE_TYPE_MISMATCH" = "a picture is needed: JPG or PNG",
        /// It breaks off, or is not well-formed.
        Damaged: Unprocessable "FILE_DAMAGED" = "the file is damaged or incomplete",
        /// A picture that would take too much memory.
        TooManyPixels {
            /// The most pixels.
            allowed: u32 => "allowedPixels",
        }: Unprocessable "IMAGE_TOO_LARGE" = "the picture has more than {allowed} pixels",
        /// It holds programs, other files, or is another file at the same time.
        Active: Unprocessable "FILE_NOT_PLAIN" = "the file holds more than a document",
    }
}

/// A file in the store. The store has ciphertext only; who may read it is a question of the aggregate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredFile {
    /// What it is called there: nothing that its owner said.
    pub id: FileId,
    /// What it is.
    pub file_type: FileType,
    /// SHA-256 of the ciphertext, hex: what is in the store can be held against the log without the key, and tells
    /// nothing about the file once its owner is erased.
    pub sha256: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_say_what_a_file_is() {
        assert_eq!(FileType::of(b"%PDF-1.7\n"), Some(FileType::Pdf));
        assert_eq!(FileType::of(b"\xff\xd8\xff\xe0"), Some(FileType::Jpg));
        assert_eq!(FileType::of(b"\x89PNG\r\n\x1a\n\0"), Some(FileType::Png));
        for other in [&b""[..], b"%PD", b" %PDF-1.7", b"PK\x03\x04", b"<html>", b"GIF89a", b"\x89PNG\n"] {
            assert_eq!(FileType::of(other), None, "{other:?}");
        }
    }
}
