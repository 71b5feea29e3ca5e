//! Whether a PDF is a document and nothing else. It is not rendered here: staff download it, as an attachment.

use bursar_domain::kernel::FileError;

/// Bytes behind the end marker: a line break, and what some printers add.
const MOST_BEHIND: usize = 32;
/// How far from the end a ZIP archive keeps its directory: its comment has at most 65,535 bytes.
const ZIP_TAIL: usize = 65_535 + 22;
/// Names of what runs or hides. Longer than what compressed data hold by chance.
const ACTIVE: [&[u8]; 3] = [b"/JavaScript", b"/EmbeddedFile", b"/Launch"];

/// # Errors
/// [`FileError::Damaged`] without an end; [`FileError::Active`] when it is another file too, or holds programs or files.
pub(super) fn check(bytes: &[u8]) -> Result<(), FileError> {
    let end = last(bytes, b"%%EOF").ok_or(FileError::Damaged)?;
    let behind = bytes.get(end + 5..).unwrap_or_default();
    if behind.len() > MOST_BEHIND {
        return Err(FileError::Active);
    }
    let tail = bytes.get(bytes.len().saturating_sub(ZIP_TAIL)..).unwrap_or_default();
    let head = bytes.get(..bytes.len().min(1_024)).unwrap_or_default().to_ascii_lowercase();
    let is_other = contains(tail, b"PK\x05\x06") || contains(&head, b"<html") || contains(&head, b"<script");
    if is_other || ACTIVE.iter().any(|name| contains(bytes, name)) {
        return Err(FileError::Active);
    }
    Ok(())
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

fn last(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).rposition(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_taken_and_what_is_more_is_not() {
        let with = |inside: &str, behind: &str| {
            check(format!("%PDF-1.7\n{inside}\ntrailer <</Root 1 0 R>>\n%%EOF{behind}").as_bytes())
        };
        assert_eq!(with("1 0 obj <</Type /Catalog>> endobj", "\n"), Ok(()));
        // Saved again: an end for each version.
        assert_eq!(with("%%EOF\n2 0 obj <</Type /Catalog>> endobj", "\r\n"), Ok(()));
        assert_eq!(check(b"%PDF-1.7\n1 0 obj"), Err(FileError::Damaged));
        assert_eq!(with("", &"x".repeat(33)), Err(FileError::Active));
        for inside in [
            "<</S /JavaScript /JS (app.alert(1))>>",
            "<</S /Launch /F (calc.exe)>>",
            "<</Type /EmbeddedFile>>",
            "<HTML><body>",
            "<script>alert(1)</script>",
            "PK\u{5}\u{6}",
        ] {
            assert_eq!(with(inside, ""), Err(FileError::Active), "{inside}");
        }
    }
}
