//! Where a JPEG or a PNG ends. A decoder makes the best of one that breaks off; the bank does not.

/// Scans of a progressive picture. Cameras make about ten; somebody who makes thousands of a few bytes each wants to
/// keep us busy.
const MOST_SCANS: usize = 100;

/// The length of the JPEG that `bytes` begin with, up to its end marker.
pub(super) fn jpeg_length(bytes: &[u8]) -> Option<usize> {
    let (mut place, mut scans) = (2, 0);
    loop {
        // Any number of fill bytes may stand in front of a marker.
        if *bytes.get(place)? != 0xff {
            return None;
        }
        let marker = *bytes.get(place + 1)?;
        match marker {
            0xff => place += 1,
            0xd9 => return Some(place + 2),
            0x01 | 0xd0..=0xd8 => place += 2,
            _ => {
                let segment =
                    usize::from(u16::from_be_bytes([*bytes.get(place + 2)?, *bytes.get(place + 3)?]));
                place += 2 + segment.max(2);
                if marker == 0xda {
                    scans += 1;
                    if scans > MOST_SCANS {
                        return None;
                    }
                    place = after_scan(bytes, place)?;
                }
            }
        }
    }
}

/// The first marker behind the coded data that begin at `place`: there 0xff is followed by zero or a restart marker.
fn after_scan(bytes: &[u8], place: usize) -> Option<usize> {
    let coded = bytes.get(place..)?;
    let ends = |pair: &[u8]| matches!(pair, [0xff, marker] if !matches!(marker, 0x00 | 0xd0..=0xd7));
    coded.windows(2).position(ends).map(|offset| place + offset)
}

/// The length of the PNG that `bytes` begin with, up to its last chunk.
pub(super) fn png_length(bytes: &[u8]) -> Option<usize> {
    let mut place = 8;
    loop {
        let head = bytes.get(place..place + 8)?;
        let (length, name) = head.split_at(4);
        let length = u32::from_be_bytes(length.try_into().ok()?);
        place = place.checked_add(usize::try_from(length).ok()?)?.checked_add(12)?;
        if place > bytes.len() {
            return None;
        }
        if name == b"IEND" {
            return Some(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jpeg_ends_at_its_marker_and_not_at_a_thumbnails() {
        let whole = [
            &b"\xff\xd8"[..],
            // A segment that holds a whole picture of its own.
            b"\xff\xe1\x00\x08\xff\xd8\xff\xd9xx",
            b"\xff\xda\x00\x02\x11\xff\x00\x22\xff\xd0\x33",
            b"\xff\xff\xd9",
        ]
        .concat();
        assert_eq!(jpeg_length(&whole), Some(whole.len()));
        assert_eq!(jpeg_length(&[&whole[..], b"PK\x03\x04"].concat()), Some(whole.len()));
        for cut in 2..whole.len() {
            assert_eq!(jpeg_length(&whole[..cut]), None, "{cut}");
        }
        let scans = [&b"\xff\xd8"[..], &b"\xff\xda\x00\x02".repeat(MOST_SCANS + 1), b"\xff\xd9"].concat();
        assert_eq!(jpeg_length(&scans), None);
    }

    #[test]
    fn a_png_ends_at_its_last_chunk() {
        let chunk = |name: &[u8], data: &[u8]| {
            let length = u32::try_from(data.len()).unwrap().to_be_bytes();
            [&length[..], name, data, b"crc!"].concat()
        };
        let whole = [&b"\x89PNG\r\n\x1a\n"[..], &chunk(b"IDAT", b"abc"), &chunk(b"IEND", b"")].concat();
        assert_eq!(png_length(&[&whole[..], b"<html>"].concat()), Some(whole.len()));
        for cut in 8..whole.len() {
            assert_eq!(png_length(&whole[..cut]), None, "{cut}");
        }
        assert_eq!(png_length(&[&whole[..8], b"\xff\xff\xff\xffIDAT"].concat()), None);
    }
}
