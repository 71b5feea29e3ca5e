//! A row of the ratchet: one operation, and what it can be tried with.

use bursar_domain::kernel::Permission::{self, ManageProfile, ReadAccount, WriteTransactions};
use reqwest::Method;
use serde_json::Value;

use super::repeat::{self, Ready};
use super::world::World;
use crate::support::client::{Answer, Request};
use crate::support::{Client, devices};

pub(super) const READ: Access = Access::Needs(ReadAccount);
pub(super) const WRITE: Access = Access::Needs(WriteTransactions);

pub(super) const PROFILE: Access = Access::Needs(ManageProfile);

/// Longer than any id, and each of its characters would do: 129 of them.
const LONG: &str = "device-device-device-device-device-device-device-device-device-device-device-device-device-device-device-device-device-device-dev";

/// Who may call an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Public,
    /// Any token of ours, its session ended or not: enough to log out.
    Signed,
    /// Any caller who is logged in.
    LoggedIn,
    Needs(Permission),
}

/// What the operation names, in its path or its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    Nothing,
    /// Something of the caller's own.
    Own(Thing),
    /// Staff: anybody's.
    Anybodys(Thing),
    /// Something that is everybody's.
    Everybodys(Thing),
}

/// A kind of thing that has an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thing {
    Account,
    Beneficiary,
    Biller,
    Country,
    /// A place in the log.
    Event,
    State,
    Bill,
    Message,
    Tag,
    Dispute,
    Recurrence,
    Mandate,
    Community,
    /// Somebody or something in a community: it, and its community in front.
    CommunityItem,
    Transaction,
    Card,
    Product,
    /// An application to close an account.
    Closure,
    Address,
    Kin,
    Employment,
    Contact,
    /// A compliance record of any kind.
    Record,
    User,
    Verification,
    Avatar,
    Document,
    Loan,
    /// A guarantor or a collateral: its loan, and it.
    LoanItem,
    Device,
    SigningRequest,
    Transfer,
    Reset,
    /// A read model.
    Model,
    Webhook,
    /// Something that a webhook is told: it, and its place in the log.
    Delivery,
}

impl Thing {
    /// An id that is well-formed and nobody's.
    pub const fn unknown(self) -> &'static str {
        match self {
            Self::Account => "1000000008",
            Self::Beneficiary => "ben_0192f0c1a00070008000000000000abc",
            Self::Biller => "SBX_NONE",
            Self::Country => "ZZ",
            Self::Event => "999999999",
            Self::State => "NG-ZZ",
            Self::Bill => "no-such-bill",
            Self::Message => "msg_0192f0c1a00070008000000000000abc",
            Self::Tag => "tag_0192f0c1a00070008000000000000abc",
            Self::Dispute => "dsp_0192f0c1a00070008000000000000abc",
            Self::Recurrence => "rec_0192f0c1a00070008000000000000abc",
            Self::Community => "com_0192f0c1a00070008000000000000abc",
            Self::CommunityItem => {
                "com_0192f0c1a00070008000000000000abc/par_0192f0c1a00070008000000000000abc"
            }
            Self::Mandate => "mnd_0192f0c1a00070008000000000000abc",
            Self::Transaction => "txn_0192f0c1a00070008000000000000abc",
            Self::Product => "NO-SUCH-PRODUCT",
            Self::Closure => "cls_0192f0c1a00070008000000000000abc",
            Self::Card => "card_0192f0c1a00070008000000000000abc",
            Self::Address => "addr_0192f0c1a00070008000000000000abc",
            Self::Kin | Self::Record => "kin_0192f0c1a00070008000000000000abc",
            Self::Employment => "emp_0192f0c1a00070008000000000000abc",
            Self::Contact => "ect_0192f0c1a00070008000000000000abc",
            Self::User => "usr_0192f0c1a00070008000000000000abc",
            Self::Verification => "ver_0192f0c1a00070008000000000000abc",
            Self::Avatar => "avt_0192f0c1a00070008000000000000abc",
            Self::Document => "doc_0192f0c1a00070008000000000000abc",
            Self::Loan => "loan_0192f0c1a00070008000000000000abc",
            Self::LoanItem => "loan_0192f0c1a00070008000000000000abc/gua_0192f0c1a00070008000000000000abc",
            Self::Device => "no-such-device",
            Self::SigningRequest => "csr_0192f0c1a00070008000000000000abc",
            Self::Transfer => "trf_0192f0c1a00070008000000000000abc",
            Self::Reset => "ver_0192f0c1a00070008000000000000abc",
            Self::Model => "no_such_model",
            Self::Webhook => "whk_0192f0c1a00070008000000000000abc",
            Self::Delivery => "whk_0192f0c1a00070008000000000000abc/7",
        }
    }

    /// Texts that cannot be such an id.
    pub const fn malformed(self) -> &'static [&'static str] {
        match self {
            Self::Account => &["0", "1000000009", "10000000080", "bank:cash:NGN", "%00", "%F0%9F%92%B8"],
            Self::Beneficiary => {
                &["0", "ben_", "ben_0192F0C1A00070008000000000000ABC", "%00", "%F0%9F%92%B8"]
            }
            Self::Device => &[LONG],
            Self::SigningRequest => &["0", "csr_", "crt_0192f0c1a00070008000000000000abc"],
            Self::Transfer => &["0", "trf_", "trf_0192F0C1A00070008000000000000ABC"],
            Self::Delivery => &["0", "whk_0192f0c1a00070008000000000000abc", "whk_/1", "%00"],
            Self::Webhook => &["0", "whk_", "txn_0192f0c1a00070008000000000000abc", "%00"],
            Self::Reset => &["0", "ver_", "txn_0192f0c1a00070008000000000000abc"],
            Self::Biller | Self::Country | Self::State => &["SBX%20NONE", "%00", "%F0%9F%92%B8"],
            Self::Bill => &["%00", "%0A"],
            Self::Model => &["Products", "read.products", "%00"],
            Self::Event => &["0", "01", "-1", "x", "9223372036854775808", "%00"],
            Self::Message => &["0", "msg_", "txn_0192f0c1a00070008000000000000abc", "%00"],
            Self::Tag => &["0", "tag_", "tag_0192F0C1A00070008000000000000ABC", "%00", "%F0%9F%92%B8"],
            Self::Transaction => {
                &["0", "txn_", "txn_0192F0C1A00070008000000000000ABC", "%00", "%F0%9F%92%B8"]
            }
            Self::User => &["0", "usr_", "txn_0192f0c1a00070008000000000000abc", "%00", "%F0%9F%92%B8"],
            Self::Verification => &["0", "ver_", "txn_0192f0c1a00070008000000000000abc", "%00"],
            Self::Avatar => &["0", "avt_", "txn_0192f0c1a00070008000000000000abc", "%00"],
            Self::Document => &["0", "doc_", "txn_0192f0c1a00070008000000000000abc", "%00"],
            Self::Dispute => &["0", "dsp_", "txn_0192f0c1a00070008000000000000abc", "%00"],
            Self::Recurrence => &["0", "rec_", "txn_0192f0c1a00070008000000000000abc", "%00"],
            Self::Community | Self::CommunityItem => {
                &["0", "com_", "txn_0192f0c1a00070008000000000000abc", "%00"]
            }
            Self::Product => &["SAV%20NONE", "%00", "%F0%9F%92%B8"],
            Self::Closure => &["0", "cls_", "txn_0192f0c1a00070008000000000000abc", "%00"],
            Self::Mandate => &["0", "mnd_", "txn_0192f0c1a00070008000000000000abc", "%00"],
            Self::Loan => &["0", "loan_", "txn_0192f0c1a00070008000000000000abc", "%00"],
            Self::LoanItem => &["0", "loan_0192f0c1a00070008000000000000abc", "%00"],
            Self::Card => &["0", "card_", "card_0192F0C1A00070008000000000000ABC", "%00", "%F0%9F%92%B8"],
            Self::Address | Self::Kin | Self::Employment | Self::Contact | Self::Record => &[
                "0",
                "kin_",
                "kin_0192F0C1A00070008000000000000ABC",
                "txn_0192f0c1a00070008000000000000abc",
                "%00",
            ],
        }
    }
}

/// One operation.
pub struct Row {
    pub method: Method,
    pub path: &'static str,
    pub access: Access,
    pub names: Names,
    /// A body that is accepted; none for a read. The text is the id it names.
    pub body: Option<fn(&World, &str) -> Value>,
    /// The id that a good request names.
    pub own: fn(&World) -> &str,
    /// The id of something that is not the caller's.
    pub strangers: fn(&World) -> &str,
    /// Whether a repeat of a key must be answered from the log.
    pub replays: bool,
    /// What must be done before it can succeed once more.
    pub ready: Ready,
    /// Who asks, when it is not who would be expected.
    pub by: Option<fn(&World) -> &Client>,
    /// Permissions that are as good as the one it needs.
    pub or: &'static [Permission],
}

pub(super) fn get(path: &'static str, access: Access, names: Names) -> Row {
    Row {
        method: Method::GET,
        path,
        access,
        names,
        body: None,
        own: |world| &world.ada.current,
        strangers: |world| &world.bola.current,
        replays: false,
        ready: repeat::always,
        by: None,
        or: &[],
    }
}

pub(super) fn post(path: &'static str, access: Access, names: Names, body: fn(&World, &str) -> Value) -> Row {
    Row { method: Method::POST, body: Some(body), replays: true, ..get(path, access, names) }
}

pub(super) fn delete(path: &'static str, access: Access, names: Names) -> Row {
    Row { method: Method::DELETE, replays: true, ..get(path, access, names) }
}

impl Row {
    /// The same row, which `ready` lets succeed once more.
    pub fn after(self, ready: Ready) -> Self {
        Self { ready, ..self }
    }

    /// The path about `id`.
    pub fn path(&self, id: &str) -> String {
        path(self.path, id)
    }

    /// A good request about `id`.
    pub fn request(&self, client: &Client, world: &World, id: &str) -> Request {
        let request = client.request(self.method.clone(), &self.path(id)).header("X-Request-Id", "ratchet");
        match self.body {
            Some(_) if self.path == devices::LOGIN => world.factors.with_certificate(client),
            Some(body) => request.json(&body(world, id)),
            None => request,
        }
    }

    /// A good request by `client`.
    pub async fn tried_by(&self, client: &Client, world: &World) -> Answer {
        self.request(client, world, (self.own)(world)).send().await
    }

    /// Whether any caller may call it.
    pub fn is_everybodys(&self) -> bool {
        self.access == Access::LoggedIn
    }

    pub fn is_private(&self) -> bool {
        self.access != Access::Public
    }
}

/// A route with `id` in its segment; ids with a `/` between them are for one segment each.
pub fn path(route: &str, id: &str) -> String {
    let mut ids = id.split('/');
    let mut last = id;
    let segments = route.split('/').map(|segment| {
        if segment.starts_with('{') {
            last = ids.next().unwrap_or(last);
            last
        } else {
            segment
        }
    });
    segments.collect::<Vec<_>>().join("/")
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}
