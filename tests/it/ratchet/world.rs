//! The bank that the operations of the ratchet are tried in.

use bursar_commands::proof::Outside;
use bursar_domain::kernel::Permission::{DisputeResolve, LoanApprove, LoanDisburse, LoanReview, StaffAdmin};
use serde_json::{Value, json};

use super::closing::Closing;
use super::communities::Communities;
use super::compliance::Held;
use super::devices::Gadgets;
use super::factors::Factors;
use super::hooks::Hooks;
use super::lending::Lending;
use super::offers::Offers;
use super::people::People;
use super::row::{Access, Names, Row};
use super::standing::Standing;
use super::undoing::Undoing;
use crate::messages::tell;
use crate::proof::seal;
use crate::support::{Bank, Client, Person, quiet};

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
    /// Loans of Ada's, one in each state, and one of Bola's.
    pub lending: Lending,
    /// What the bank offers.
    pub offers: Offers,
    /// Accounts of Ada's that end.
    pub closing: Closing,
    /// Communities, and what is in them.
    pub communities: Communities,
    /// What is paid again and again.
    pub standing: Standing,
    /// What can be undone.
    pub undoing: Undoing,
    /// A message to Ada, and one to Bola.
    pub messages: (String, String),
    /// A card of Ada's, and Bola's of the same number.
    pub cards: (String, String),
    /// A card of the bank's own that Ada has asked for.
    pub issued: String,
    /// What Ada says about herself, and what Bola does.
    pub compliance: (Held, Held),
    /// Somebody whom nobody has asked to erase.
    pub erasable: String,
    /// What the rows about people need.
    pub people: People,
    /// Whoever is asked for codes by short message.
    pub auditor: Person,
    /// Whoever has to do with passwords and second factors.
    pub factors: Factors,
    /// Who is told what happens in the bank.
    pub hooks: Hooks,
    /// Devices for everything that can be done with one.
    pub gadgets: Gadgets,
}

impl World {
    /// Chidi's savings account is frozen.
    pub async fn new() -> Self {
        Self::of(Bank::configured(quiet()).await).await
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
        let lending = Lending::new(&ada, &bola, &teller, &approver).await;
        let closing = Closing::new(&bank, &ada, &approver).await;
        let standing = Standing::new(&ada, &bola).await;
        let communities = Communities::new(&ada, &bola, &chidi).await;
        let messages =
            (tell(&bank, "ada@example.com", "World").await, tell(&bank, "bola@example.com", "World").await);
        let cards = (links(&ada, CARD).await, links(&bola, CARD).await);
        let issued = asks_for_card(&ada).await;
        let compliance = (Held::by(&ada).await, Held::by(&bola).await);
        let erasable = bank.registered("erasable").await.to_string();
        let people = People::new(&ada, &bola, &chidi, &teller).await;
        let auditor = bank.person("auditor@example.com").await;
        let factors = Factors::new(&bank).await;
        let gadgets = Gadgets::new(&bank).await;
        let hooks = Hooks::new(&bank).await;
        seal(&bank, Outside::default()).await;
        Self {
            erasable,
            people,
            auditor,
            factors,
            gadgets,
            hooks,
            bank,
            ada,
            bola,
            chidi,
            teller,
            approver,
            refresh,
            beneficiaries,
            lending,
            closing,
            offers: Offers::new(),
            cards,
            issued,
            messages,
            tags,
            bills,
            transactions,
            undoing,
            standing,
            communities,
            compliance,
        }
    }

    /// Somebody who may call the operation.
    pub fn caller(&self, row: &Row) -> Client {
        if let Some(by) = row.by {
            return by(self).clone();
        }
        match (row.access, row.names) {
            (Access::Public, _) => self.bank.client(),
            _ if row.path.starts_with("/v1/device/") => self.gadgets.client.clone(),
            _ if row.path == "/v1/users/password/change" => self.teller.client.clone(),
            _ if row.path.starts_with("/v1/users/mfa") => match self.factors.client(row) {
                Some(client) => client,
                None if row.method == reqwest::Method::DELETE => self.auditor.client.clone(),
                None => self.approver.client.clone(),
            },
            (Access::Needs(DisputeResolve | LoanApprove | StaffAdmin), _) => self.approver.client.clone(),
            (Access::Needs(LoanReview | LoanDisburse), _) => self.teller.client.clone(),
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

/// A card of the bank's own that spends this account.
pub fn issued(account: &str) -> Value {
    json!({
        "cardType": "PHYSICAL", "cardBrand": "VERVE", "linkedAccount": account, "cardHolderName": "ADA OKAFOR",
        "deliveryAddress": {"streetAddress": "12 Broad Street", "city": "Lagos", "state": "Lagos", "postalCode": "101241", "country": "NG"},
        "isDefault": false, "dailyLimit": 1_000_000, "monthlyLimit": 5_000_000,
    })
}

/// Asks for a card of the bank's own.
pub async fn asks_for_card(person: &Person) -> String {
    let asked = person.client.post("/v1/cards/internal", &issued(&person.current)).await.is(201);
    asked.text_at("cardId").to_owned()
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
