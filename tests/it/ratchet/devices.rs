//! Rows about devices, and the devices they are about.

use bursar_commands::Context;
use bursar_commands::devices::{self, Sign, WantedCertificate, WantedKey, WantedTransfer, see};
use bursar_commands::passwords::Password;
use bursar_commands::pki::NewKey;
use bursar_commands::verifications::Wanted;
use bursar_commands::{Committed, Unit};
use bursar_domain::Event;
use bursar_domain::devices::{
    Description, DeviceAction, DevicesCommand, DevicesEvent, Mover, PinGrounds, Transfer,
};
use bursar_domain::kernel::Permission::{DeviceOps, ManageProfile};
use bursar_domain::kernel::{TransferId, UserId};
use bursar_domain::messages::Channel;
use bursar_domain::verifications::{Purpose, Verifications};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::factors::{issue, registers};
use super::row::{Access, Names, PROFILE, Row, Thing, get, post};
use super::world::World;
use crate::support::{Bank, Client};

/// The PIN of the device that has one.
const PIN: &str = "4071";
/// What it is changed to.
const NEW_PIN: &str = "83614";

/// Somebody with a device for each operation, and somebody else.
pub struct Gadgets {
    pub client: Client,
    owner: UserId,
    giver: UserId,
    /// Of the giver's.
    strangers: String,
    moved: String,
    certified: String,
    unpinned: String,
    pinned: String,
    by_staff: String,
    /// The PIN, hashed once for all: that takes its time.
    hash: String,
    /// A signing request as the device sends it.
    csr: String,
    /// Requests that were sent, transfers, and resets: the owner's, and somebody else's.
    requests: (String, String),
    transfers: (String, String),
    resets: (String, String),
    /// The codes of the owner's transfer and reset.
    acceptance: String,
    code: String,
}

impl Gadgets {
    pub async fn new(bank: &Bank) -> Self {
        let (owner, giver) = (registers(bank, "owner").await, registers(bank, "giver").await);
        let session = bank.session(owner, &[ManageProfile]).await;
        let client = bank.client().with_token(&bank.token(owner, session, &[ManageProfile], 0));
        let mut all = Self {
            client,
            owner,
            giver,
            strangers: "strange".into(),
            moved: "moved".into(),
            certified: "certified".into(),
            unpinned: "unpinned".into(),
            pinned: "pinned".into(),
            by_staff: "by staff".into(),
            hash: bank.app.passwords.hash(Password::typed(PIN.to_owned())).await.unwrap(),
            csr: NewKey::P256.draw("whatever", &Default::default()).unwrap().1.content,
            requests: Default::default(),
            transfers: Default::default(),
            resets: Default::default(),
            acceptance: String::new(),
            code: String::new(),
        };
        for device in ["test-device", "moved", "certified", "unpinned", "pinned", "by staff"] {
            activated(bank, owner, device).await;
        }
        activated(bank, giver, "strange").await;
        let (id, _) = all.request(bank, owner, "certified").await;
        sign(bank, owner, &id).await;
        all.requests =
            (all.request(bank, owner, "moved").await.0, all.request(bank, giver, "strange").await.0);
        all.transfers.1 = transfer(bank, giver, "strange", bank.user("ada@example.com").await).await.0;
        all.resets.1 = reset(bank, giver, "strange").await.0;
        all.set_pin(bank).await;
        all.renew(bank).await;
        all
    }

    async fn request(&self, bank: &Bank, owner: UserId, device: &str) -> (String, Committed) {
        let wanted = WantedCertificate {
            device_id: device.to_owned(),
            key: WantedKey::New(NewKey::P256),
            organisation: Default::default(),
            names: Vec::new(),
        };
        let journal = &bank.app.journal;
        let (made, _) = devices::request(journal, &[], Context::default(), owner, wanted).await.unwrap();
        let Event::Devices(DevicesEvent::CertificateRequested(request)) = &made.events[0].event else {
            panic!()
        };
        (request.id.to_string(), made.clone())
    }

    async fn set_pin(&self, bank: &Bank) {
        for grounds in [PinGrounds::First, PinGrounds::Code] {
            let (device_id, hash) = (self.pinned.clone(), self.hash.clone());
            let set = DevicesCommand::SetPin { device_id, hash, grounds, seen: 0 };
            drop(bank.app.journal.submit(Unit::new(Context::default()).step(self.owner, set)).await);
        }
    }

    /// Another code for the PIN, and another device to be accepted.
    async fn renew(&mut self, bank: &Bank) {
        (self.resets.0, self.code) = reset(bank, self.owner, &self.pinned).await;
        activated(bank, self.giver, "gift").await;
        (self.transfers.0, self.acceptance) = transfer(bank, self.giver, "gift", self.owner).await;
    }
}

/// A device that is in use, whatever was before.
async fn activated(bank: &Bank, owner: UserId, device: &str) {
    let journal = &bank.app.journal;
    let seen = see(journal.sources(), device.to_owned(), Description::default());
    journal.submit(Unit::new(Context::default()).step(owner, seen)).await.unwrap();
    let (device_id, action) = (device.to_owned(), DeviceAction::Activate);
    let activate = DevicesCommand::Move { device_id, action, reason: None, by: Mover::Staff };
    drop(journal.submit(Unit::new(Context::default()).step(owner, activate)).await);
}

async fn sign(bank: &Bank, owner: UserId, id: &str) {
    let sign = Sign {
        id: id.parse().unwrap(),
        days: 30,
        key_usage: Default::default(),
        extended_key_usage: Default::default(),
        names: Vec::new(),
    };
    let (journal, authority) = (&bank.app.journal, &bank.app.authority);
    devices::sign(journal, authority, &[], Context::default(), owner, sign).await.unwrap();
}

async fn transfer(bank: &Bank, owner: UserId, device: &str, new_owner: UserId) -> (String, String) {
    let wanted = WantedTransfer {
        device_id: device.to_owned(),
        new_owner,
        reason: None,
        effective_at: None,
        lifetime: 1_000,
    };
    let (journal, verifier) = (&bank.app.journal, &bank.app.verifier);
    let made = devices::transfer(journal, verifier, Context::default(), owner, wanted).await.unwrap();
    let Event::Devices(DevicesEvent::TransferRequested(requested)) = &made.events[0].event else { panic!() };
    let (theirs, _) = journal.load::<Verifications>(&new_owner.to_string()).await.unwrap();
    let transfer = requested.id.to_string();
    let issued = &theirs.bound(Purpose::DeviceTransfer, &transfer).unwrap().issued;
    let code = bank.app.keys.code(new_owner, issued.id, 0).to_string();
    (transfer, code)
}

async fn reset(bank: &Bank, user: UserId, device: &str) -> (String, String) {
    let wanted = Wanted {
        purpose: Purpose::PinReset,
        channel: Channel::Sms,
        destination: "+2348039999999".into(),
        bound_to: device.to_owned(),
    };
    let id = issue(bank, user, wanted).await;
    (id.to_string(), bank.app.keys.code(user, id, 0).to_string())
}

/// The devices are in use, and have what they had.
fn as_before(world: &mut World) -> BoxFuture<'_, ()> {
    async {
        let gadgets = &world.gadgets;
        activated(&world.bank, gadgets.owner, &gadgets.moved).await;
        activated(&world.bank, gadgets.owner, &gadgets.by_staff).await;
        gadgets.set_pin(&world.bank).await;
    }
    .boxed()
}

/// A device that nobody ever did anything with.
fn without_pin(world: &mut World) -> BoxFuture<'_, ()> {
    async {
        let (gadgets, journal) = (&world.gadgets, &world.bank.app.journal);
        let (id, at) = (TransferId::mint(journal.sources()), journal.sources().clock.now());
        let transfer = Transfer {
            id,
            device_id: gadgets.unpinned.clone(),
            current_owner: gadgets.owner,
            new_owner: gadgets.giver,
            reason: None,
            effective_at: None,
            requested_at: at,
            expires_at: at + jiff::SignedDuration::from_hours(1),
        };
        let request = DevicesCommand::RequestTransfer(Box::new(transfer));
        let release = DevicesCommand::Release { transfer_id: id, at };
        let unit = Unit::new(Context::default()).step(gadgets.owner, request).step(gadgets.owner, release);
        journal.submit(unit).await.unwrap();
        activated(&world.bank, gadgets.owner, &gadgets.unpinned).await;
    }
    .boxed()
}

/// Blocked by its owner.
fn blocked(world: &mut World) -> BoxFuture<'_, ()> {
    async {
        let (gadgets, journal) = (&world.gadgets, &world.bank.app.journal);
        let (device_id, action) = (gadgets.by_staff.clone(), DeviceAction::Block);
        let block = DevicesCommand::Move { device_id, action, reason: None, by: Mover::Owner };
        drop(journal.submit(Unit::new(Context::default()).step(gadgets.owner, block)).await);
    }
    .boxed()
}

/// Never revoked.
fn another(world: &mut World) -> BoxFuture<'_, ()> {
    async {
        let number: u32 =
            world.gadgets.by_staff.strip_prefix("by staff").unwrap().trim().parse().unwrap_or(0);
        world.gadgets.by_staff = format!("by staff {}", number + 1);
        activated(&world.bank, world.gadgets.owner, &world.gadgets.by_staff).await;
    }
    .boxed()
}

/// A request that was not signed.
fn requested(world: &mut World) -> BoxFuture<'_, ()> {
    async {
        let gadgets = &world.gadgets;
        activated(&world.bank, gadgets.owner, &gadgets.moved).await;
        let (id, _) = gadgets.request(&world.bank, gadgets.owner, &gadgets.moved).await;
        world.gadgets.requests.0 = id;
    }
    .boxed()
}

/// Codes that were not used.
fn renewed(world: &mut World) -> BoxFuture<'_, ()> {
    async { world.gadgets.renew(&world.bank).await }.boxed()
}

pub fn rows() -> Vec<Row> {
    let mut rows = certificates();
    rows.extend(pins());
    rows.extend(staff());
    rows.extend([
        get("/v1/device/status", PROFILE, Names::Nothing),
        of_device(
            "/v1/device/status",
            |world| &world.gadgets.moved,
            |world, device| json!({"deviceId": device, "action": "DEACTIVATE", "reason": "Sold", "adminId": world.gadgets.owner}),
        )
        .after(as_before),
        of_device(
            "/v1/device/ownership/transfer",
            |world| &world.gadgets.certified,
            |world, device| json!({"deviceId": device, "currentOwnerId": world.gadgets.owner, "newOwnerId": world.gadgets.giver, "transferReason": "A present", "effectiveDate": "2026-01-01T00:00:00Z"}),
        ),
        Row {
            own: |world| &world.gadgets.transfers.0,
            strangers: |world| &world.gadgets.transfers.1,
            ..post(
                "/v1/device/ownership/accept",
                PROFILE,
                Names::Own(Thing::Transfer),
                |world, transfer| json!({"transferId": transfer, "acceptorId": world.gadgets.owner, "acceptanceCode": world.gadgets.acceptance}),
            )
        }
        .after(renewed),
    ]);
    rows
}

fn of_device(path: &'static str, own: fn(&World) -> &str, body: fn(&World, &str) -> Value) -> Row {
    let row = post(path, PROFILE, Names::Own(Thing::Device), body);
    Row { own, strangers: |world| &world.gadgets.strangers, ..row }
}

fn certificates() -> Vec<Row> {
    vec![
        get("/pki/ca.pem", Access::Public, Names::Nothing),
        get("/pki/crl", Access::Public, Names::Nothing),
        Row {
            own: |world| &world.gadgets.requests.0,
            strangers: |world| &world.gadgets.requests.1,
            ..post(
                "/v1/device/cert/sign",
                PROFILE,
                Names::Own(Thing::SigningRequest),
                |_, id| json!({"csrId": id, "validityDays": 90, "certificateExtensions": {"keyUsage": ["DIGITAL_SIGNATURE"], "extendedKeyUsage": ["CLIENT_AUTH"], "subjectAltName": []}}),
            )
        }
        .after(requested),
        of_device(
            "/v1/device/cert/request",
            |world| &world.gadgets.certified,
            |world, device| json!({"deviceId": device, "keyAlgorithm": "EC", "keySize": 256, "subjectDN": {"CN": "bank.example", "O": "Okafor", "OU": "Home", "C": "NG"}, "san": [], "csr": world.gadgets.csr}),
        ),
        of_device(
            "/v1/device/cert/rotate",
            |world| &world.gadgets.certified,
            |world, device| json!({"deviceId": device, "rotationType": "AUTOMATIC", "forceRotation": true, "csr": world.gadgets.csr}),
        ),
    ]
}

fn pins() -> Vec<Row> {
    vec![
        of_device(
            "/v1/device/pin",
            |world| &world.gadgets.unpinned,
            |world, device| json!({"deviceId": device, "userId": world.gadgets.owner, "pin": PIN, "confirmPin": PIN}),
        )
        .after(without_pin),
        of_device(
            "/v1/device/pin/change",
            |world| &world.gadgets.pinned,
            |world, device| json!({"deviceId": device, "userId": world.gadgets.owner, "currentPin": PIN, "newPin": NEW_PIN, "confirmNewPin": NEW_PIN}),
        )
        .after(as_before),
        Row {
            own: |world| &world.gadgets.resets.0,
            strangers: |world| &world.gadgets.resets.1,
            ..post(
                "/v1/device/pin/confirm",
                PROFILE,
                Names::Own(Thing::Reset),
                |world, reset| json!({"resetId": reset, "verificationCode": world.gadgets.code, "newPin": NEW_PIN, "confirmNewPin": NEW_PIN}),
            )
        }
        .after(renewed),
        of_device(
            "/v1/device/pin/reset",
            |world| &world.gadgets.pinned,
            |world, device| json!({"deviceId": device, "userId": world.gadgets.owner, "resetMethod": "SMS", "verificationData": {"phoneNumber": "+2348039999999"}}),
        ),
    ]
}

fn staff() -> Vec<Row> {
    let row = |path: &'static str| Row {
        own: |world| &world.gadgets.by_staff,
        ..post(
            path,
            Access::Needs(DeviceOps),
            Names::Anybodys(Thing::Device),
            |world, _| json!({"userId": world.gadgets.owner, "reason": "Called"}),
        )
    };
    vec![
        row("/v1/staff/devices/{deviceId}/block").after(as_before),
        row("/v1/staff/devices/{deviceId}/activate").after(blocked),
        row("/v1/staff/devices/{deviceId}/revoke").after(another),
    ]
}
