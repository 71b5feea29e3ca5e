//! Certificates, in the eyes of OpenSSL.

use std::path::PathBuf;
use std::process::Command;

use bursar_commands::pki::NewKey;
use jiff::SignedDuration;
use serde_json::{Value, json};

use super::{active, from_device, moved, staff, status};
use crate::support::client::Answer;
use crate::support::devices::{self, Device};
use crate::support::{Bank, Client, config};

const REQUEST: &str = "/v1/device/cert/request";
const SIGN: &str = "/v1/device/cert/sign";
/// A name that a URI cannot hold as it is.
const NAME: &str = "Ada's phone";
const ROTATE: &str = "/v1/device/cert/rotate";

/// Files for OpenSSL, gone when dropped.
struct Desk(PathBuf);

impl Desk {
    fn new() -> Self {
        let dir = std::env::temp_dir().join(format!(
            "bursar-pki-{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        ));
        std::fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }

    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.0.join(name), bytes).unwrap();
    }

    /// Whether it succeeds, and what it says.
    fn openssl(&self, arguments: &str) -> (bool, String) {
        let output =
            Command::new("openssl").current_dir(&self.0).args(arguments.split(' ')).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&said).into_owned())
    }

    fn agrees(&self, arguments: &str) -> String {
        let (good, said) = self.openssl(arguments);
        assert!(good, "openssl {arguments}: {said}");
        said
    }

    /// The bank's authorities: `root.pem`, `issuing.pem`, and both in `ca.pem`.
    async fn authority(&self, bank: &Bank) {
        let both = bank.client().get("/pki/ca.pem").await.is(200).text;
        let at = both.rfind("-----BEGIN").unwrap();
        self.put("ca.pem", &both);
        self.put("issuing.pem", &both[..at]);
        self.put("root.pem", &both[at..]);
    }

    async fn revocations(&self, bank: &Bank) {
        bank.caught_up().await;
        let list = reqwest::get(format!("http://{}/pki/crl", bank.address)).await.unwrap();
        assert_eq!(list.headers()["content-type"], "application/pkix-crl");
        self.put("crl.der", list.bytes().await.unwrap());
        let said = self.agrees("crl -inform DER -in crl.der -out crl.pem -CAfile issuing.pem");
        assert!(said.contains("verify OK"), "{said}");
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(super) async fn sign(client: &Client, csr: &Answer, more: Value) -> Answer {
    let mut body = json!({"csrId": csr.body["csrId"]});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    client.post(SIGN, &body).await
}

/// A request of the device's own key, and the key.
pub(super) async fn requested(client: &Client, device: &str) -> (Answer, String) {
    let (key, csr) = NewKey::P256.draw("the bank itself", &Default::default()).unwrap();
    let body = json!({"deviceId": device, "csr": csr.content});
    (client.post(REQUEST, &body).await.is(201), key.to_string())
}

#[tokio::test]
async fn openssl_agrees_with_every_request_certificate_and_revocation_list() {
    let desk = Desk::new();
    let bank = Bank::open().await;
    let ada = active(&bank, "ada@example.com", "Ada's phone").await;
    desk.authority(&bank).await;
    desk.agrees("verify -x509_strict -CAfile root.pem issuing.pem");
    for (algorithm, size, usage) in [
        ("RSA", 3072, json!(["KEY_ENCIPHERMENT", "DATA_ENCIPHERMENT"])),
        ("EC", 256, json!(["DIGITAL_SIGNATURE"])),
    ] {
        let body = json!({
            "deviceId": "Ada's phone", "keyAlgorithm": algorithm, "keySize": size,
            "subjectDN": {"CN": "bank.example", "O": "Okafor, Ltd", "OU": "Home", "C": "NG"},
        });
        let csr = ada.post_with_key(REQUEST, algorithm, &body).await.is(201);
        assert_eq!(csr.header("cache-control"), "no-store");
        // The key is shown once, and is nowhere.
        let again = ada.post_with_key(REQUEST, algorithm, &body).await.is(201);
        assert_eq!((&again.body["csrId"], &again.body["privateKey"]), (&csr.body["csrId"], &Value::Null));
        let key = csr.text_at("privateKey");
        let line = key.lines().nth(1).unwrap();
        assert!(crate::support::secrets::tables_with(&bank, line).await.is_empty());
        desk.put("key.pem", key);
        desk.put("csr.pem", csr.text_at("csrContent"));
        desk.agrees("req -verify -noout -in csr.pem");
        let signed =
            sign(&ada, &csr, json!({"validityDays": 4000, "certificateExtensions": {"keyUsage": usage}}))
                .await
                .is(201);
        desk.put("leaf.pem", signed.text_at("certificateContent"));
        desk.agrees(
            "verify -x509_strict -purpose sslclient -CAfile root.pem -untrusted issuing.pem leaf.pem",
        );
        let (serves, said) =
            desk.openssl("verify -purpose sslserver -CAfile root.pem -untrusted issuing.pem leaf.pem");
        assert!(!serves, "{said}");
        assert_eq!(desk.agrees("pkey -in key.pem -pubout"), desk.agrees("x509 -in leaf.pem -noout -pubkey"));
        let text = desk.agrees("x509 -in leaf.pem -noout -text");
        for part in [
            "CA:FALSE",
            "URI:urn:bursar:device:Ada%27s%20phone",
            "Ada's phone",
            "Okafor, Ltd",
            "TLS Web Client Authentication",
            "Digital Signature",
            "X509v3 Authority Key Identifier",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        for part in ["bank.example", "DNS:", "Certificate Sign", "Server Authentication"] {
            assert!(!text.contains(part), "{part}: {text}");
        }
        let serial = desk.agrees("x509 -in leaf.pem -noout -serial").trim().to_lowercase();
        assert_eq!(serial, format!("serial={}", signed.text_at("serialNumber")));
        let (from, to): (jiff::Timestamp, jiff::Timestamp) =
            (signed.text_at("validFrom").parse().unwrap(), signed.text_at("validTo").parse().unwrap());
        assert_eq!(to.duration_since(from), SignedDuration::from_hours(397 * 24));
        sign(&ada, &csr, json!({})).await.problem(409, "INVALID_STATE");
    }
    // The EC certificate took the place of the RSA one, which is on the list; the list does not name the new one.
    desk.revocations(&bank).await;
    let list = desk.agrees("crl -in crl.pem -noout -text");
    assert_eq!(list.matches("Serial Number:").count(), 1, "{list}");
    let checked = "verify -crl_check -CRLfile crl.pem -CAfile root.pem -untrusted issuing.pem leaf.pem";
    desk.agrees(checked);
    let teller = bank.teller().await;
    staff(&teller, &bank, "ada@example.com", "Ada's%20phone", "revoke").await.is(200);
    desk.revocations(&bank).await;
    let (good, said) = desk.openssl(checked);
    assert!(!good && said.contains("revoked"), "{said}");
    bank.close().await;
}

#[tokio::test]
async fn what_the_bank_does_not_vouch_for_is_refused() {
    let bank = Bank::open().await;
    let ada = from_device(&bank, "ada@example.com", "phone").await;
    let wants = |more: Value| {
        let mut body = json!({"deviceId": "phone"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let ec = || wants(json!({"keyAlgorithm": "EC"}));
    ada.post(REQUEST, &ec()).await.problem(409, "INVALID_STATE");
    moved(&ada, "phone", "ACTIVATE").await.is(200);
    for (more, code) in [
        (json!({"keyAlgorithm": "RSA", "keySize": 2048}), "KEY_NOT_ALLOWED"),
        (json!({"keyAlgorithm": "EC", "keySize": 384}), "KEY_NOT_ALLOWED"),
        (
            json!({"csr": "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----"}),
            "MALFORMED_CSR",
        ),
        (json!({"keyAlgorithm": "EC", "san": ["DNS:bank.example"]}), "NAME_NOT_ALLOWED"),
        (json!({"keyAlgorithm": "EC", "san": ["10.0.0.1"]}), "NAME_NOT_ALLOWED"),
    ] {
        ada.post(REQUEST, &wants(more)).await.problem(422, code);
    }
    let csr = ada.post(REQUEST, &ec()).await.is(201);
    for (extensions, code) in [
        (json!({"extendedKeyUsage": ["SERVER_AUTH"]}), "KEY_USAGE_NOT_ALLOWED"),
        (json!({"keyUsage": ["KEY_ENCIPHERMENT"]}), "KEY_USAGE_NOT_ALLOWED"),
        (json!({"subjectAltName": ["DNS:bank.example"]}), "NAME_NOT_ALLOWED"),
        (json!({"subjectAltName": ["URI:urn:bursar:device:other"]}), "NAME_NOT_ALLOWED"),
    ] {
        sign(&ada, &csr, json!({"certificateExtensions": extensions})).await.problem(422, code);
    }
    let signs = json!({"certificateExtensions": {"keyUsage": ["KEY_CERT_SIGN"]}});
    sign(&ada, &csr, signs).await.problem(400, "VALIDATION_FAILED");
    sign(&ada, &csr, json!({"validityDays": 0})).await.problem(400, "VALIDATION_FAILED");
    sign(&ada, &csr, json!({"validityDays": 30})).await.is(201);
    bank.close().await;
}

#[tokio::test]
async fn an_old_certificate_is_good_for_a_day_beside_the_new_one() {
    let bank = Bank::certifying(config()).await;
    let ada = active(&bank, "ada@example.com", "phone").await;
    ada.post(ROTATE, &json!({"deviceId": "phone"})).await.problem(409, "INVALID_STATE");
    let (csr, key) = requested(&ada, "phone").await;
    let first = sign(&ada, &csr, json!({})).await.is(201);
    assert_eq!(status(&ada).await["certificateStatus"], "VALID");
    assert_eq!(status(&ada).await["enrollmentStatus"], "ENROLLED");
    let rotation = ada.post(ROTATE, &json!({"deviceId": "phone", "rotationType": "AUTOMATIC"})).await.is(201);
    assert_eq!(rotation.body["oldCertificateId"], first.body["certificateId"]);
    ada.post(ROTATE, &json!({"deviceId": "phone"})).await.problem(409, "INVALID_STATE");
    let old = Device::certified("phone", &key, first.text_at("certificateContent"));
    let new = Device::certified("phone", &key, rotation.text_at("certificateContent"));
    login(&bank, &old, "first").await.is(200);
    login(&bank, &new, "second").await.is(200);
    bank.later(24 * 60 * 60).await;
    assert_eq!(bank.events_of("devices.rotation_completed").await, 1);
    login(&bank, &old, "third").await.problem(401, "INVALID_CREDENTIALS");
    login(&bank, &new, "fourth").await.is(200);
    bank.close().await;
}

pub(super) async fn login(bank: &Bank, device: &Device, jti: &str) -> Answer {
    let (body, now) = (device.body().to_string(), bank.app.journal.sources().clock.now().as_second());
    let jti = format!("assertion of the {jti} login");
    devices::login(&bank.client(), &body, &device.assertion(&body, &jti, now)).send().await
}

#[tokio::test]
async fn a_device_logs_in_with_what_the_bank_has_certified_while_it_may() {
    let bank = Bank::certifying(config()).await;
    let ada = active(&bank, "ada@example.com", NAME).await;
    let (csr, key) = requested(&ada, NAME).await;
    let signed = sign(&ada, &csr, json!({})).await.is(201);
    let device = Device::certified(NAME, &key, signed.text_at("certificateContent"));
    let session = login(&bank, &device, "first").await.is(200);
    assert_eq!(session.text_at("userId"), bank.user("ada@example.com").await.to_string());
    // The assertion is good once.
    login(&bank, &device, "first").await.problem(401, "INVALID_CREDENTIALS");
    // Neither a key that is not certified nor somebody else's device.
    let (_, other) = requested(&active(&bank, "bola@example.com", NAME).await, NAME).await;
    let forged = Device::certified(NAME, &other, signed.text_at("certificateContent"));
    login(&bank, &forged, "forged").await.problem(401, "INVALID_CREDENTIALS");
    moved(&ada, NAME, "DEACTIVATE").await.is(200);
    login(&bank, &device, "inactive").await.problem(401, "INVALID_CREDENTIALS");
    moved(&ada, NAME, "ACTIVATE").await.is(200);
    login(&bank, &device, "active again").await.is(200);
    let teller = bank.teller().await;
    staff(&teller, &bank, "ada@example.com", "Ada's%20phone", "revoke").await.is(200);
    login(&bank, &device, "revoked").await.problem(401, "INVALID_CREDENTIALS");
    bank.close().await;
}
