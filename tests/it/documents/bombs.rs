//! T51: what is uploaded to a server takes a bounded room in it, whatever it claims to be.

use futures_util::future::join_all;
use image::ImageFormat;
use serde_json::json;

use super::{COMPLIANCE, PDF, body, bomb, picture};
use crate::support::chance::{did, scaled};
use crate::support::process::Server;
use crate::support::{Scratch, person_at};

/// What a server may need for uploads, whatever they are.
const ROOM: i64 = 256 * 1024;
/// As many at a time.
const AT_ONCE: usize = 4;

/// KiB that the process has held at most.
fn most_held(server: &Server) -> i64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "just torture"]
async fn what_is_uploaded_takes_a_bounded_room() {
    let scratch = Scratch::new("bombs");
    let server = Server::start(scratch.path()).await;
    let ada = person_at(server.address, "ada@example.com").await;
    let png = picture(40, 30, ImageFormat::Png);
    let html = b"<html><script>alert(1)</script></html>".as_slice();
    let large = body(&picture(5_000, 5_000, ImageFormat::Png), "PNG");
    let before = most_held(&server);
    let bad = [
        body(&bomb(30_000, 30_000), "PNG"),
        body(&bomb(0x7fff_ffff, 0x7fff_ffff), "PNG"),
        body(&bomb(u32::from(u16::MAX), 1_000), "JPG"),
        body(&picture(6_000, 6_000, ImageFormat::Png), "PNG"),
        body(&[PDF, html].concat(), "PDF"),
        body(&[b"GIF89a".as_slice(), &png].concat(), "PNG"),
        body(&png[..png.len() / 2], "PNG"),
        body(&vec![b'%'; 7 * 1024 * 1024], "PDF"),
        body(&vec![0; 9 * 1024 * 1024], "PNG"),
        json!({"documentType": "A", "fileContent": "!".repeat(7 * 1024 * 1024), "fileType": "PNG"}),
    ];
    let mut uploads = 0;
    for _ in 0..scaled(1) {
        for one in &bad {
            let answers = join_all((0..AT_ONCE).map(|_| ada.client.post(COMPLIANCE, one))).await;
            for answer in answers {
                assert!([400, 413, 422].contains(&answer.status), "{}", answer.text);
            }
            uploads += AT_ONCE;
        }
    }
    // The largest that is taken, as many at a time.
    for answer in join_all((0..AT_ONCE).map(|_| ada.client.post(COMPLIANCE, &large))).await {
        answer.is(201);
    }
    did(uploads, "hostile uploads");
    let took = most_held(&server) - before;
    println!("{took} KiB at most");
    assert!(took < ROOM, "uploads took {took} KiB");
    assert_eq!(server.stop().await, 0);
}
