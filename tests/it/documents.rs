//! What people hand in: pictures and documents, good ones and such that mean harm.

mod bombs;

use std::io::Cursor;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bursar_domain::kernel::{FileId, LARGEST_FILE};
use image::{DynamicImage, GenericImageView as _, ImageFormat, Rgb, RgbImage};
use serde_json::{Value, json};

use crate::support::client::Answer;
use crate::support::leaving::leaves;
use crate::support::{Bank, Person, files_of};

const COMPLIANCE: &str = "/v1/users/compliance/upload";
const IDENTIFICATION: &str = "/v1/users/identification/upload";
const AVATAR: &str = "/v1/users/profile/avatar";
pub const PDF: &[u8] = b"%PDF-1.7\n1 0 obj <</Type /Catalog>> endobj\ntrailer <</Root 1 0 R>>\n%%EOF\n";

/// A picture that is black, but for a white left upper corner.
pub fn picture(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
    let corner = |x: u32, y: u32| x < width / 4 && y < height / 4;
    let pixels = RgbImage::from_fn(width, height, |x, y| Rgb(if corner(x, y) { [255; 3] } else { [0; 3] }));
    let mut bytes = Cursor::new(Vec::new());
    DynamicImage::ImageRgb8(pixels).write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn body(content: &[u8], file_type: &str) -> Value {
    json!({"documentType": "UTILITY_BILL", "fileContent": STANDARD.encode(content), "fileType": file_type})
}

async fn upload(person: &Person, content: &[u8], file_type: &str) -> Answer {
    person.client.post(COMPLIANCE, &body(content, file_type)).await
}

/// The files of the bank, as they lie there.
fn stored(bank: &Bank) -> Vec<(FileId, Vec<u8>)> {
    let Ok(shards) = std::fs::read_dir(files_of(&bank.pool)) else { return Vec::new() };
    let files = shards.flat_map(|shard| std::fs::read_dir(shard.unwrap().path()).unwrap());
    let read = files.map(|file| {
        let file = file.unwrap();
        (file.file_name().into_string().unwrap().parse().unwrap(), std::fs::read(file.path()).unwrap())
    });
    read.collect()
}

async fn bytes(
    bank: &Bank,
    client: &crate::support::Client,
    path: &str,
) -> (reqwest::header::HeaderMap, Vec<u8>) {
    let url = format!("http://{}{path}", bank.address);
    let answer = reqwest::Client::new().get(url).bearer_auth(client.token()).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    (answer.headers().clone(), answer.bytes().await.unwrap().to_vec())
}

#[tokio::test]
async fn a_document_is_handed_in_looked_at_and_decided_about_by_somebody_else() {
    let bank = Bank::open().await;
    let (ada, teller) = (bank.ada().await, bank.teller().await);
    let uploaded = upload(&ada, PDF, "PDF").await.is(201);
    assert_eq!((uploaded.text_at("status"), uploaded.text_at("processingStatus")), ("UPLOADED", "PENDING"));
    assert_eq!(uploaded.number_at("fileSize"), i64::try_from(PDF.len()).unwrap());
    let id = uploaded.text_at("documentId").to_owned();
    assert_eq!(uploaded.header("location"), format!("/v1/users/documents/{id}"));
    bank.caught_up().await;
    let listed = teller.client.get("/v1/staff/documents?status=PENDING").await.is(200);
    assert_eq!(listed.list_at("documents")[0]["documentId"], json!(id));
    let path = format!("/v1/staff/documents/{id}");
    let (headers, content) = bytes(&bank, &teller.client, &format!("{path}/content")).await;
    assert_eq!(content, PDF);
    assert_eq!(headers["content-type"], "application/pdf");
    assert_eq!(headers["x-content-type-options"], "nosniff");
    assert_eq!(headers["content-disposition"], format!("attachment; filename=\"{id}.pdf\""));
    assert!(headers["cache-control"].to_str().unwrap().starts_with("private"));
    let rejected = teller.client.post(&format!("{path}/reject"), &json!({"reason": "Too old"})).await.is(200);
    assert_eq!((rejected.text_at("verificationStatus"), rejected.text_at("reason")), ("REJECTED", "Too old"));
    teller.client.post(&format!("{path}/verify"), &json!({})).await.problem(409, "INVALID_STATE");
    bank.caught_up().await;
    let own = ada.client.get(&format!("/v1/users/documents/{id}")).await.is(200);
    assert_eq!((own.text_at("verificationStatus"), own.text_at("reason")), ("REJECTED", "Too old"));
    // Not one's own.
    let tellers = upload(&teller, PDF, "PDF").await.is(201).text_at("documentId").to_owned();
    let verify = format!("/v1/staff/documents/{tellers}/verify");
    teller.client.post(&verify, &json!({})).await.problem(403, "OWN_DOCUMENT");
    bank.close().await;
}

#[tokio::test]
async fn an_identity_document_is_read_where_it_can_be_and_repeated_where_not() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let with = |content: &[u8], file_type: &str| {
        json!({
            "documentType": "PASSPORT", "documentNumber": "A01234567", "issuingCountry": "NG", "issueDate": "2020-02-01",
            "expiryDate": "2030-01-31", "fileContent": STANDARD.encode(content), "fileType": file_type,
            "documentSide": "FRONT",
        })
    };
    let plain =
        ada.client.post(IDENTIFICATION, &with(&picture(20, 10, ImageFormat::Jpeg), "JPG")).await.is(201);
    assert_eq!((plain.text_at("status"), plain.text_at("verificationStatus")), ("UPLOADED", "PENDING"));
    let expected = json!({
        "documentNumber": "A01234567", "fullName": null, "dateOfBirth": null, "expiryDate": "2030-01-31",
        "source": "SUBMITTED", "verified": false,
    });
    assert_eq!(plain.body["extractedData"], expected);
    let zone = "%MRZ\n%P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<\n%L898902C36UTO7408122F1204159ZE184226B<<<<<10\n";
    let readable = [b"%PDF-1.7\n", zone.as_bytes(), &PDF[9..]].concat();
    let read = ada.client.post(IDENTIFICATION, &with(&readable, "PDF")).await.is(201);
    let expected = json!({
        "documentNumber": "L898902C3", "fullName": "ANNA MARIA ERIKSSON", "dateOfBirth": "1974-08-12",
        "expiryDate": "2012-04-15", "source": "MRZ", "verified": false,
    });
    assert_eq!(read.body["extractedData"], expected);
    bank.close().await;
}

#[tokio::test]
async fn what_is_stored_is_ciphertext_by_a_name_of_the_banks() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let mut named = body(PDF, "PDF");
    named["documentName"] = json!("../../../../etc/passwd");
    let key = ada.client.post_with_key(COMPLIANCE, "upload 1", &named).await.is(201);
    let files = stored(&bank);
    assert_eq!(files.len(), 1);
    assert!(!files[0].1.windows(4).any(|window| window == b"%PDF"));
    assert_eq!(crate::support::secrets::tables_with(&bank, "1 0 obj <<").await, Vec::<String>::new());
    // A repeat stores nothing, and says the same.
    let again = ada.client.post_with_key(COMPLIANCE, "upload 1", &named).await.is(201);
    assert_eq!((&again.text, again.header("idempotent-replayed")), (&key.text, "true"));
    let other = ada.client.post_with_key(COMPLIANCE, "upload 1", &body(PDF, "PDF")).await;
    other.problem(422, "IDEMPOTENCY_KEY_REUSED");
    assert_eq!(stored(&bank).len(), 1);
    // Together, too.
    let racers = (0..6).map(|_| ada.client.post_with_key(COMPLIANCE, "upload 2", &named));
    let answers = futures_util::future::join_all(racers).await;
    assert!(answers.iter().all(|answer| answer.status == 201 && answer.text == answers[0].text));
    assert_eq!(stored(&bank).len(), 2);
    bank.close().await;
}

#[tokio::test]
async fn what_nothing_names_is_swept_away_and_nothing_else() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    upload(&ada, PDF, "PDF").await.is(201);
    let (first, second) = (picture(30, 20, ImageFormat::Png), picture(20, 30, ImageFormat::Png));
    for content in [first, second] {
        let body = json!({"fileContent": STANDARD.encode(content), "fileType": "PNG"});
        ada.client.post(AVATAR, &body).await.is(201);
    }
    // The pictures of before are let go, and a server has died between file and event.
    let orphan = FileId::mint(bank.app.journal.sources());
    let shard = files_of(&bank.pool).join(&orphan.to_string()[orphan.to_string().len() - 2..]);
    std::fs::create_dir_all(&shard).unwrap();
    std::fs::write(shard.join(orphan.to_string()), b"left behind").unwrap();
    std::fs::write(shard.join("somebody-elses.txt"), b"not ours").unwrap();
    let ours = || {
        let Ok(shards) = std::fs::read_dir(files_of(&bank.pool)) else { return 0 };
        shards.map(|shard| std::fs::read_dir(shard.unwrap().path()).unwrap().count()).sum::<usize>()
    };
    assert_eq!(ours(), 7);
    bank.later(60 * 60).await;
    assert_eq!(ours(), 7);
    bank.later(49 * 60 * 60).await;
    // The document, the picture and its thumbnail, and what is not ours.
    assert_eq!(ours(), 4);
    let ada = bank.ada().await;
    let avatar = ada.client.get(AVATAR).await.is(200);
    bytes(&bank, &ada.client, avatar.text_at("imageUrl")).await;
    bank.close().await;
}

#[tokio::test]
async fn only_what_a_file_says_it_is_gets_in() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let events = bank.events().await;
    let (png, jpg) = (picture(40, 30, ImageFormat::Png), picture(40, 30, ImageFormat::Jpeg));
    let html = b"<html><script>alert(1)</script></html>".to_vec();
    let zip = b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0".to_vec();
    let active = b"%PDF-1.7\n<</S /JavaScript /JS (app.alert(1))>>\n%%EOF".to_vec();
    for (content, file_type, code) in [
        (html.clone(), "PNG", "FILE_TYPE_MISMATCH"),
        (png.clone(), "JPG", "FILE_TYPE_MISMATCH"),
        (jpg.clone(), "PDF", "FILE_TYPE_MISMATCH"),
        ([b"GIF89a".as_slice(), &png].concat(), "PNG", "FILE_TYPE_MISMATCH"),
        ([b"\n".as_slice(), PDF].concat(), "PDF", "FILE_TYPE_MISMATCH"),
        (png[..png.len() - 5].to_vec(), "PNG", "FILE_DAMAGED"),
        (png[..png.len() / 2].to_vec(), "PNG", "FILE_DAMAGED"),
        (jpg[..jpg.len() - 2].to_vec(), "JPG", "FILE_DAMAGED"),
        (jpg[..jpg.len() / 2].to_vec(), "JPG", "FILE_DAMAGED"),
        (b"\xff\xd8\xff\xd9".to_vec(), "JPG", "FILE_DAMAGED"),
        (b"\x89PNG\r\n\x1a\n".to_vec(), "PNG", "FILE_DAMAGED"),
        (b"%PDF-1.7".to_vec(), "PDF", "FILE_DAMAGED"),
        ([PDF, &zip].concat(), "PDF", "FILE_NOT_PLAIN"),
        ([PDF, &html].concat(), "PDF", "FILE_NOT_PLAIN"),
        (active, "PDF", "FILE_NOT_PLAIN"),
    ] {
        let refused = upload(&ada, &content, file_type).await.problem(422, code);
        assert!(refused.text.len() < 1_000);
    }
    let garbage = json!({"documentType": "A", "fileContent": "not base64!", "fileType": "PNG"});
    assert_eq!(ada.client.post(COMPLIANCE, &garbage).await.pointers(), ["/fileContent"]);
    let kind = json!({"documentType": "A", "fileContent": "aGk=", "fileType": "EXE"});
    assert_eq!(ada.client.post(COMPLIANCE, &kind).await.pointers(), ["/fileType"]);
    let pdf = json!({"fileContent": STANDARD.encode(PDF), "fileType": "PDF"});
    ada.client.post(AVATAR, &pdf).await.problem(422, "FILE_TYPE_MISMATCH");
    assert_eq!((bank.events().await, stored(&bank).len()), (events, 0));
    bank.close().await;
}

/// The header of a picture that claims to be this large, and as little else as there can be.
fn bomb(width: u32, height: u32) -> Vec<u8> {
    let mut png = picture(1, 1, ImageFormat::Png);
    png[16..20].copy_from_slice(&width.to_be_bytes());
    png[20..24].copy_from_slice(&height.to_be_bytes());
    let crc = crc32(&png[12..29]);
    png[29..33].copy_from_slice(&crc.to_be_bytes());
    png
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |crc, byte| {
        (0..8).fold(
            crc ^ u32::from(*byte),
            |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 },
        )
    })
}

#[tokio::test]
async fn what_is_too_large_is_refused_before_it_takes_anything() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    for (width, height) in [(30_000, 30_000), (u32::from(u16::MAX), 1_000), (0x7fff_ffff, 0x7fff_ffff)] {
        let answer = upload(&ada, &bomb(width, height), "PNG").await;
        assert!(["IMAGE_TOO_LARGE", "FILE_DAMAGED"].contains(&answer.text_at("code")), "{}", answer.text);
        assert_eq!(answer.status, 422);
    }
    // A picture of one colour is small, and many pixels: 36 million.
    let black = picture(6_000, 6_000, ImageFormat::Png);
    assert!(black.len() < LARGEST_FILE);
    let large = upload(&ada, &black, "PNG").await.problem(422, "IMAGE_TOO_LARGE");
    assert_eq!(large.body["allowedPixels"], 25_000_000);
    let padded = |length: usize| [PDF, &vec![b' '; length - PDF.len() - 6], b"\n%%EOF"].concat();
    upload(&ada, &padded(LARGEST_FILE), "PDF").await.is(201);
    upload(&ada, &padded(LARGEST_FILE + 1), "PDF").await.problem(413, "TOO_LARGE");
    upload(&ada, &vec![0; 9 * 1024 * 1024], "PDF").await.problem(413, "TOO_LARGE");
    // No other body may be so large.
    let long = json!({"email": "a".repeat(1024 * 1024)});
    bank.client().post("/v1/users", &long).await.problem(413, "TOO_LARGE");
    bank.close().await;
}

/// A JPEG that says that it lies on its side, and says where it was taken.
fn sideways(jpg: &[u8]) -> Vec<u8> {
    let mut exif = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0".to_vec();
    exif.extend_from_slice(b"GPS 6.4541 N 3.3947 E");
    let length = u16::try_from(exif.len() + 2).unwrap().to_be_bytes();
    [&jpg[..2], b"\xff\xe1", &length, &exif, &jpg[2..]].concat()
}

#[tokio::test]
async fn an_avatar_is_upright_and_says_nothing_but_itself() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    ada.client.get(AVATAR).await.problem(404, "NOT_FOUND");
    let taken = [sideways(&picture(400, 200, ImageFormat::Jpeg)), b"PK\x03\x04<script>".to_vec()].concat();
    let body = json!({"fileContent": STANDARD.encode(&taken), "fileType": "JPG", "fileName": "../me.jpg"});
    let set = ada.client.post(AVATAR, &body).await.is(201);
    assert_eq!(set.number_at("fileSize"), i64::try_from(taken.len()).unwrap());
    assert_eq!(set.body["dimensions"], json!({"width": 200, "height": 400}));
    let read = ada.client.get(AVATAR).await.is(200);
    for member in ["avatarId", "status", "imageUrl", "thumbnailUrl", "uploadedAt", "fileSize", "dimensions"] {
        assert_eq!(read.body[member], set.body[member], "{member}");
    }
    let (headers, image) = bytes(&bank, &ada.client, set.text_at("imageUrl")).await;
    assert_eq!(
        (&headers["content-type"], &headers["x-content-type-options"]),
        (&"image/jpeg".parse().unwrap(), &"nosniff".parse().unwrap())
    );
    for gone in [&b"Exif"[..], b"GPS", b"<script>", b"PK\x03\x04"] {
        assert!(!image.windows(gone.len()).any(|window| window == gone));
    }
    let decoded = image::load_from_memory(&image).unwrap();
    assert_eq!(decoded.dimensions(), (200, 400));
    // Turned by a quarter: the corner is at the right.
    assert!(decoded.get_pixel(190, 10)[0] > 200 && decoded.get_pixel(10, 10)[0] < 50);
    let (_, small) = bytes(&bank, &ada.client, set.text_at("thumbnailUrl")).await;
    assert_eq!(image::load_from_memory(&small).unwrap().dimensions(), (64, 128));
    bola.client.get(set.text_at("imageUrl")).await.problem(404, "NOT_FOUND");
    let profile = ada.client.get("/v1/users/profile").await.is(200);
    assert_eq!(profile.body["avatar"]["imageUrl"], set.body["imageUrl"]);
    // The next one takes its place, and its address with it.
    let body = json!({"fileContent": STANDARD.encode(picture(10, 10, ImageFormat::Png)), "fileType": "PNG"});
    ada.client.post(AVATAR, &body).await.is(201);
    ada.client.get(set.text_at("imageUrl")).await.problem(404, "NOT_FOUND");
    bank.close().await;
}

#[tokio::test]
async fn an_erased_persons_files_are_noise() {
    let bank = Bank::open().await;
    let (chidi, teller, approver) = (bank.chidi().await, bank.teller().await, bank.approver().await);
    let id = upload(&chidi, PDF, "PDF").await.is(201).text_at("documentId").to_owned();
    leaves(&chidi, &bank.bola().await.current, (&teller.client, &approver.client)).await;
    let erase = format!("/v1/staff/subjects/{}/erase", crate::ratchet::people::id_of(&chidi).await);
    let reason = json!({"reason": "They asked for it"});
    let first = approver.client.post(&erase, &reason).await;
    assert_eq!(first.status, 200, "{}", first.text);
    let agreeing = bank.user("teller@example.com").await;
    let all = [bursar_domain::kernel::Permission::PiiErase];
    let session = bank.session(agreeing, &all).await;
    bank.client().with_token(&bank.token(agreeing, session, &all, 0)).post(&erase, &reason).await.is(200);
    let content = teller.client.get(&format!("/v1/staff/documents/{id}/content")).await;
    assert!((400..500).contains(&content.status), "{}", content.text);
    assert_eq!(stored(&bank).len(), 1);
    bank.caught_up().await;
    let known = teller.client.get(&format!("/v1/staff/documents/{id}")).await.is(200);
    assert_eq!(known.body["documentType"], "UTILITY_BILL");
    bank.close().await;
}
