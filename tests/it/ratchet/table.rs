//! The table of the ratchet: every operation, who may call it, and a request that succeeds.

use bursar_domain::kernel::Permission::{self, AccountOps, DisputeResolve, ReadAccount, WriteTransactions};
use reqwest::Method;
use serde_json::{Value, json};

use super::repeat::{self, Ready};
use super::undoing::{self, Undoing};
use crate::support::client::{Answer, PASSWORD, Request};
use crate::support::{Bank, Client, Person};

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
    Bill,
    Tag,
    Dispute,
    Recurrence,
    Transaction,
    Card,
}

impl Thing {
    /// An id that is well-formed and nobody's.
    pub const fn unknown(self) -> &'static str {
        match self {
            Self::Account => "1000000008",
            Self::Beneficiary => "ben_0192f0c1a00070008000000000000abc",
            Self::Biller => "SBX_NONE",
            Self::Bill => "no-such-bill",
            Self::Tag => "tag_0192f0c1a00070008000000000000abc",
            Self::Dispute => "dsp_0192f0c1a00070008000000000000abc",
            Self::Recurrence => "rec_0192f0c1a00070008000000000000abc",
            Self::Transaction => "txn_0192f0c1a00070008000000000000abc",
            Self::Card => "card_0192f0c1a00070008000000000000abc",
        }
    }

    /// Texts that cannot be such an id.
    pub const fn malformed(self) -> &'static [&'static str] {
        match self {
            Self::Account => &["0", "1000000009", "10000000080", "bank:cash:NGN", "%00", "%F0%9F%92%B8"],
            Self::Beneficiary => {
                &["0", "ben_", "ben_0192F0C1A00070008000000000000ABC", "%00", "%F0%9F%92%B8"]
            }
            Self::Biller => &["SBX%20NONE", "%00", "%F0%9F%92%B8"],
            Self::Bill => &["%00", "%0A"],
            Self::Tag => &["0", "tag_", "tag_0192F0C1A00070008000000000000ABC", "%00", "%F0%9F%92%B8"],
            Self::Transaction => {
                &["0", "txn_", "txn_0192F0C1A00070008000000000000ABC", "%00", "%F0%9F%92%B8"]
            }
            Self::Dispute => &["0", "dsp_", "txn_0192f0c1a00070008000000000000abc", "%00"],
            Self::Recurrence => &["0", "rec_", "txn_0192f0c1a00070008000000000000abc", "%00"],
            Self::Card => &["0", "card_", "card_0192F0C1A00070008000000000000ABC", "%00", "%F0%9F%92%B8"],
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
}

/// A bank in which every operation can succeed once.
pub struct World {
    pub bank: Bank,
    pub ada: Person,
    pub bola: Person,
    pub chidi: Person,
    pub teller: Person,
    /// Staff with other powers than the teller's.
    pub approver: Person,
    /// The refresh token of a session of Ada's that nothing else uses.
    pub refresh: String,
    /// Somebody in Ada's list, and somebody in Bola's.
    pub beneficiaries: (String, String),
    /// A tag of Ada's, and one of Bola's.
    pub tags: (String, String),
    /// A bill of Ada's, and one of Bola's.
    pub bills: (String, String),
    /// A payment of Ada's, and one that is none of her business.
    pub transactions: (String, String),
    /// What can be undone.
    pub undoing: Undoing,
    /// A card of Ada's, and Bola's of the same number.
    pub cards: (String, String),
}

impl World {
    /// Chidi's savings account is frozen.
    pub async fn new() -> Self {
        Self::of(Bank::open().await).await
    }

    /// The same of a bank that is open.
    pub async fn of(bank: Bank) -> Self {
        let (ada, bola, chidi) = (bank.ada().await, bank.bola().await, bank.chidi().await);
        let teller = bank.teller().await;
        let freeze = format!("/v1/staff/accounts/{}/freeze", chidi.savings);
        teller.client.post(&freeze, &json!({"reason": "Court order"})).await.is(200);
        let session = bank.client().session("ada@example.com", "spare").await;
        let refresh = session["refreshToken"].as_str().unwrap().to_owned();
        let beneficiaries = (keeps(&ada, &chidi).await, keeps(&bola, &chidi).await);
        let tags = (calls(&ada).await, calls(&bola).await);
        let bills = (bill(&ada).await, bill(&bola).await);
        let transactions = (pays(&ada, &chidi).await, pays(&bola, &chidi).await);
        let approver = bank.approver().await;
        let undoing = Undoing::new(&ada, &bola, &chidi, &approver).await;
        let cards = (links(&ada, CARD).await, links(&bola, CARD).await);
        Self {
            bank,
            ada,
            bola,
            chidi,
            teller,
            approver,
            refresh,
            beneficiaries,
            cards,
            tags,
            bills,
            transactions,
            undoing,
        }
    }

    /// Somebody who may call the operation.
    pub fn caller(&self, row: &Row) -> Client {
        match (row.access, row.names) {
            (Access::Public, _) => self.bank.client(),
            (Access::Needs(DisputeResolve), _) => self.approver.client.clone(),
            (_, Names::Anybodys(_)) => self.teller.client.clone(),
            _ => self.ada.client.clone(),
        }
    }
}

/// Puts `payee` into somebody's list.
pub async fn keeps(person: &Person, payee: &Person) -> String {
    let body = json!({"accountNumber": payee.savings});
    let added = person.client.post("/v1/payments/beneficiaries/internal", &body).await.is(201);
    added.text_at("beneficiaryId").to_owned()
}

/// Makes a tag.
pub async fn calls(person: &Person) -> String {
    let made = person.client.post("/v1/transactions/tags", &json!({"tagName": "World"})).await.is(201);
    made.text_at("tagId").to_owned()
}

/// The number of the card that Ada and Bola have.
pub const CARD: &str = "4242424242424242";

/// Links a card of this number to somebody.
pub async fn links(person: &Person, number: &str) -> String {
    let body = json!({"cardNumber": number, "expiryDate": "12/60", "cvv": "123"});
    person.client.post("/v1/cards/external", &body).await.is(201).text_at("cardId").to_owned()
}

/// Pays somebody.
async fn pays(person: &Person, payee: &Person) -> String {
    let paid = person.client.pay(&person.current, &payee.current, 100, "world").await.is(201);
    paid.text_at("transactionId").to_owned()
}

/// Pays a bill.
async fn bill(person: &Person) -> String {
    let body = json!({
        "sourceAccount": person.current, "billerId": "SBX_AIR_ALPHA", "accountNumber": "08031000101",
        "amount": 10_000, "currency": "NGN",
    });
    person.client.post("/v1/payments/bills", &body).await.is(201).text_at("transactionId").to_owned()
}

/// Every operation.
pub fn rows() -> Vec<Row> {
    [
        operations(),
        sessions(),
        accounts(),
        payments(),
        beneficiaries(),
        cards(),
        banks(),
        billers(),
        transactions(),
        tags(),
        staff(),
        undoing::rows(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

pub(super) const READ: Access = Access::Needs(ReadAccount);
pub(super) const WRITE: Access = Access::Needs(WriteTransactions);
const OWN_ACCOUNT: Names = Names::Own(Thing::Account);

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
    }
}

pub(super) fn post(path: &'static str, access: Access, names: Names, body: fn(&World, &str) -> Value) -> Row {
    Row { method: Method::POST, body: Some(body), replays: true, ..get(path, access, names) }
}

pub(super) fn delete(path: &'static str, access: Access, names: Names) -> Row {
    Row { method: Method::DELETE, replays: true, ..get(path, access, names) }
}

fn operations() -> Vec<Row> {
    vec![
        get("/healthz", Access::Public, Names::Nothing),
        get("/readyz", Access::Public, Names::Nothing),
        get("/metrics", Access::Public, Names::Nothing),
        get("/.well-known/jwks.json", Access::Public, Names::Nothing),
        get("/v1/sandbox/messages", Access::Public, Names::Nothing),
        // Moves the clock, which is not in the log: nothing could answer a repeat.
        Row {
            replays: false,
            ..post("/v1/sandbox/clock", Access::Public, Names::Nothing, |_, _| json!({"advance": "PT1S"}))
        },
    ]
}

fn sessions() -> Vec<Row> {
    vec![
        post(
            "/v1/users/password/login",
            Access::Public,
            Names::Nothing,
            |_, _| json!({"username": "bola@example.com", "password": PASSWORD, "deviceInfo": {"deviceId": "d"}}),
        ),
        post(
            "/v1/users/token/refresh",
            Access::Public,
            Names::Nothing,
            |world, _| json!({"refreshToken": world.refresh, "deviceId": "spare"}),
        )
        .after(repeat::new_session),
        post(
            "/v1/users/token/revoke",
            Access::Signed,
            Names::Nothing,
            |world, _| json!({"refreshToken": world.refresh, "deviceId": "spare"}),
        )
        .after(repeat::new_session),
    ]
}

fn accounts() -> Vec<Row> {
    vec![
        get("/v1/account/products/types", Access::LoggedIn, Names::Nothing),
        get("/v1/accounts", READ, Names::Nothing),
        post(
            "/v1/accounts",
            WRITE,
            OWN_ACCOUNT,
            |_, account| json!({"productId": "SAV-001", "currency": "NGN", "initialDeposit": 150_000, "sourceAccount": account}),
        ),
        get("/v1/accounts/{accountNo}", READ, OWN_ACCOUNT),
        get("/v1/accounts/{accountNo}/balance", READ, OWN_ACCOUNT),
        get("/v1/accounts/{accountNo}/history", READ, OWN_ACCOUNT),
        get("/v1/accounts/{accountNo}/statement", READ, OWN_ACCOUNT),
    ]
}

fn payments() -> Vec<Row> {
    vec![
        post(
            "/v1/payments/transfer/internal",
            WRITE,
            OWN_ACCOUNT,
            |world, account| json!({"sourceAccount": account, "destinationAccount": world.bola.savings, "amount": 100, "currency": "NGN"}),
        ),
        post(
            "/v1/payments/transfer/self",
            WRITE,
            OWN_ACCOUNT,
            |world, account| json!({"sourceAccount": account, "destinationAccount": world.ada.savings, "amount": 100, "currency": "NGN"}),
        ),
        post(
            "/v1/payments/transfer/external",
            WRITE,
            OWN_ACCOUNT,
            |_, account| json!({"sourceAccount": account, "destinationAccount": "0123456789", "bankCode": "000013", "amount": 100, "currency": "NGN"}),
        ),
        post(
            "/v1/payments/transfer/mwallet",
            WRITE,
            OWN_ACCOUNT,
            |_, account| json!({"sourceAccount": account, "phoneNumber": "+2348031000102", "walletProvider": "MTN_MOMO", "amount": 100, "currency": "NGN"}),
        ),
        post(
            "/v1/payments/bills",
            WRITE,
            OWN_ACCOUNT,
            |_, account| json!({"sourceAccount": account, "billerId": "SBX_TV_SKYVIEW", "accountNumber": "1234567890", "customerName": "Ada", "amount": 440_000, "currency": "NGN", "paymentType": "POSTPAID", "narration": "TV", "reference": "TV"}),
        ),
        post(
            "/v1/payments/fund/via/mwallet",
            WRITE,
            OWN_ACCOUNT,
            |_, account| json!({"destinationAccount": account, "phoneNumber": "+2348031000101", "walletProvider": "MTN_MOMO", "amount": 100, "currency": "NGN"}),
        ),
        Row {
            own: |world| &world.cards.0,
            ready: repeat::card_linked,
            strangers: |world| &world.cards.1,
            ..post(
                "/v1/payments/fund/via/card",
                WRITE,
                Names::Own(Thing::Card),
                |world, card| json!({"cardId": card, "destinationAccount": world.ada.current, "amount": 100, "currency": "NGN"}),
            )
        },
    ]
}

fn cards() -> Vec<Row> {
    let own_card = |row: Row| Row {
        own: |world| &world.cards.0,
        ready: repeat::card_linked,
        strangers: |world| &world.cards.1,
        ..row
    };
    vec![
        get("/v1/cards", READ, Names::Nothing),
        own_card(get("/v1/cards/{cardId}", READ, Names::Own(Thing::Card))),
        post(
            "/v1/cards/external",
            WRITE,
            Names::Nothing,
            |_, _| json!({"cardNumber": repeat::NEW_CARD, "expiryDate": "12/60", "cvv": "123", "cardHolderName": "ADA OKAFOR", "cardType": "DEBIT", "issuingBank": "GTBank", "isDefault": true}),
        )
        .after(repeat::no_new_card),
        own_card(post(
            "/v1/cards/{cardId}/hotlist",
            WRITE,
            Names::Own(Thing::Card),
            |_, _| json!({"action": "BLOCK", "reason": "Mislaid", "temporary": true, "duration": "P1D"}),
        )),
        own_card(delete("/v1/cards/{cardId}", WRITE, Names::Own(Thing::Card))),
    ]
}

fn beneficiaries() -> Vec<Row> {
    vec![
        get("/v1/payments/beneficiaries/internal", READ, Names::Nothing),
        post(
            "/v1/payments/beneficiaries/internal",
            WRITE,
            Names::Nothing,
            |world, _| json!({"accountNumber": world.bola.current, "accountName": "Bola", "nickname": "B", "transferType": "INTERNAL", "isFavorite": true}),
        )
        .after(repeat::nobody_kept),
        get("/v1/payments/beneficiaries/external", READ, Names::Nothing),
        post(
            "/v1/payments/beneficiaries/external",
            WRITE,
            Names::Nothing,
            |_, _| json!({"accountNumber": "0123456789", "accountName": "Bola", "bankCode": "000013", "bankName": "GTBank", "nickname": "B", "transferType": "EXTERNAL", "isFavorite": true}),
        )
        .after(repeat::nobody_kept),
        get("/v1/payments/beneficiaries/bills", READ, Names::Nothing),
        post(
            "/v1/payments/beneficiaries/bills",
            WRITE,
            Names::Nothing,
            |_, _| json!({"billerId": "SBX_AIR_ALPHA", "billerName": "Alpha", "accountNumber": "08030000001", "customerName": "Ada", "nickname": "Airtime", "transferType": "BILLS", "isFavorite": false}),
        )
        .after(repeat::nobody_kept),
        get("/v1/payments/beneficiaries/mwallet", READ, Names::Nothing),
        post(
            "/v1/payments/beneficiaries/mwallet",
            WRITE,
            Names::Nothing,
            |_, _| json!({"phoneNumber": "+2348031000102", "walletProvider": "MTN_MOMO", "nickname": "B", "transferType": "MWALLET", "isFavorite": true}),
        )
        .after(repeat::nobody_kept),
        Row {
            own: |world| &world.beneficiaries.0,
            ready: repeat::somebody_kept,
            strangers: |world| &world.beneficiaries.1,
            ..delete("/v1/payments/beneficiaries/{beneficiaryId}", WRITE, Names::Own(Thing::Beneficiary))
        },
    ]
}

fn banks() -> Vec<Row> {
    vec![
        get("/v1/payments/banks/internal", READ, Names::Nothing),
        get("/v1/payments/banks/external", READ, Names::Nothing),
    ]
}

fn billers() -> Vec<Row> {
    vec![
        get("/v1/billers", READ, Names::Nothing),
        get("/v1/billers/categories", READ, Names::Nothing),
        Row {
            own: |_| "SBX_TV_SKYVIEW",
            ..get("/v1/billers/{billerId}/items", READ, Names::Everybodys(Thing::Biller))
        },
        Row {
            own: |world| &world.bills.0,
            strangers: |world| &world.bills.1,
            ..get("/v1/billers/query/status/{billingRef}", READ, Names::Own(Thing::Bill))
        },
    ]
}

fn transactions() -> Vec<Row> {
    vec![
        get("/v1/transactions", READ, Names::Nothing),
        about_transaction(get("/v1/transactions/{transactionId}", READ, Names::Nothing)),
        about_transaction(get("/v1/transactions/{transactionId}/receipt", READ, Names::Nothing)),
    ]
}

/// A row whose id is a transaction's.
fn about_transaction(row: Row) -> Row {
    Row {
        names: Names::Own(Thing::Transaction),
        own: |world| &world.transactions.0,
        strangers: |world| &world.transactions.1,
        ..row
    }
}

fn tags() -> Vec<Row> {
    let about_tag = |row: Row| Row {
        names: Names::Own(Thing::Tag),
        own: |world| &world.tags.0,
        strangers: |world| &world.tags.1,
        ..row.after(repeat::one_tag)
    };
    vec![
        get("/v1/transactions/tags", READ, Names::Nothing),
        post(
            "/v1/transactions/tags",
            WRITE,
            Names::Nothing,
            |_, _| json!({"tagName": "Food", "tagColor": "#FF8800", "tagIcon": "utensils", "description": "Eating out", "isDefault": true}),
        )
        .after(repeat::no_tags),
        about_tag(Row {
            method: Method::PUT,
            ..post(
                "/v1/transactions/tags/{tagId}",
                WRITE,
                Names::Nothing,
                |_, _| json!({"tagName": "The world", "tagColor": "blue", "tagIcon": "globe", "description": "All of it", "isActive": true}),
            )
        }),
        about_transaction(post(
            "/v1/transactions/{transactionId}/tag",
            WRITE,
            Names::Nothing,
            |world, _| json!({"tagIds": [world.tags.0], "notes": "With Chidi"}),
        ))
        .after(repeat::one_tag),
        about_tag(delete("/v1/transactions/tags/{tagId}", WRITE, Names::Nothing)),
    ]
}

fn staff() -> Vec<Row> {
    let teller = Access::Needs(AccountOps);
    let any_account = Names::Anybodys(Thing::Account);
    let cash = |_: &World, _: &str| json!({"amount": 500, "currency": "NGN", "narration": "Till", "reference": "SLIP"});
    let reason = |_: &World, _: &str| json!({"reason": "Asked for by phone"});
    vec![
        post("/v1/staff/accounts/{accountNo}/deposit", teller, any_account, cash),
        post("/v1/staff/accounts/{accountNo}/withdraw", teller, any_account, cash),
        Row {
            own: |world| &world.chidi.current,
            ready: repeat::unfrozen,
            ..post("/v1/staff/accounts/{accountNo}/freeze", teller, any_account, reason)
        },
        Row {
            own: |world| &world.chidi.savings,
            ready: repeat::frozen,
            ..post("/v1/staff/accounts/{accountNo}/unfreeze", teller, any_account, reason)
        },
    ]
}

impl Row {
    /// The same row, which `ready` lets succeed once more.
    fn after(self, ready: Ready) -> Self {
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
            Some(body) => request.json(&body(world, id)),
            None => request,
        }
    }

    /// A good request by `client`.
    pub async fn tried_by(&self, client: &Client, world: &World) -> Answer {
        self.request(client, world, (self.own)(world)).send().await
    }

    pub fn is_private(&self) -> bool {
        self.access != Access::Public
    }
}

/// A route with `id` in its segment.
pub fn path(route: &str, id: &str) -> String {
    let segments = route.split('/').map(|segment| if segment.starts_with('{') { id } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}
