//! Rows about people, what proves who they are, and what they hand in.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bursar_domain::kernel::Permission::{AccountOps, KycVerify};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use reqwest::Method;
use serde_json::{Value, json};

use super::row::{Access, Names, PROFILE, Row, Thing, get, post};
use super::world::World;
use crate::support::client::PASSWORD;
use crate::support::{Bank, Person};

/// What the rows about people need.
pub struct People {
    /// Grows with everybody who is to be registered.
    next: u32,
    /// Somebody with an account who does not use the digital bank.
    holder: Holder,
    /// A verification of Chidi's whose code can be sent again; Ada's identity, Ada's email, Chidi's phone; and one of Bola's.
    resent: String,
    identity: String,
    email: String,
    phone: String,
    strangers: String,
    /// Ada's pictures, and one of Bola's.
    avatars: (String, String),
    /// A document of Ada's to be looked at, to be verified, to be rejected; and one of Bola's.
    documents: [String; 3],
    strangers_document: String,
    pub ada: String,
    pub bola: String,
    pub chidi: String,
    /// When Ada was born.
    born: String,
}

/// Somebody who holds an account.
pub struct Holder {
    pub user: String,
    pub account: String,
    pub email: String,
}

/// A small picture.
pub fn picture() -> String {
    let mut bytes = std::io::Cursor::new(Vec::new());
    image::DynamicImage::new_rgb8(8, 6).write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    STANDARD.encode(bytes.into_inner())
}

impl People {
    pub async fn new(ada: &Person, bola: &Person, chidi: &Person, teller: &Person) -> Self {
        let holder = holder(teller, 0).await;
        let resent = looked_up(chidi, "Chidi", "Eze", "+2348031000103").await;
        Self {
            next: 1,
            holder,
            resent,
            identity: looked_up(ada, "Ada", "Okafor", "+2348031000101").await,
            email: mailed(ada, "ada@example.com").await,
            phone: phoned(chidi).await,
            strangers: looked_up(bola, "Bola", "Adeyemi", "+2348031000102").await,
            avatars: (pictured(ada).await, pictured(bola).await),
            documents: [evidence(ada).await, evidence(ada).await, evidence(ada).await],
            strangers_document: evidence(bola).await,
            ada: id_of(ada).await,
            bola: id_of(bola).await,
            chidi: id_of(chidi).await,
            born: ada.client.get("/v1/users/profile").await.is(200).text_at("dateOfBirth").to_owned(),
        }
    }
}

pub async fn id_of(person: &Person) -> String {
    person.client.get("/v1/users/profile").await.is(200).text_at("userId").to_owned()
}

fn newcomer(number: u32) -> Value {
    json!({
        "firstName": "Ngozi", "lastName": "Balogun", "email": format!("ngozi{number}@example.com"),
        "phoneNumber": "+2348031000777", "dateOfBirth": "1991-07-03", "countryCode": "NG", "preferredLanguage": "en",
    })
}

/// Staff register somebody and open an account for them.
pub async fn holder(teller: &Person, number: u32) -> Holder {
    let email = format!("holder{number}@example.com");
    let mut body = newcomer(number);
    body["email"] = json!(email);
    let user = teller.client.post("/v1/staff/customers", &body).await.is(201).text_at("userId").to_owned();
    let account = json!({"productId": "CUR-001", "currency": "NGN"});
    let opened = teller.client.post(&format!("/v1/staff/customers/{user}/accounts"), &account).await.is(201);
    Holder { user, account: opened.text_at("accountNumber").to_owned(), email }
}

/// What somebody says who is in the register.
pub fn claimant(first_name: &str, last_name: &str, phone: &str) -> Value {
    json!({
        "identityType": "NIN", "identityNumber": "12345678901", "country": "NG", "firstName": first_name,
        "lastName": last_name, "dateOfBirth": "1990-01-01", "phoneNumber": phone,
    })
}

pub async fn looked_up(person: &Person, first_name: &str, last_name: &str, phone: &str) -> String {
    let mut body = claimant(first_name, last_name, phone);
    let profile = person.client.get("/v1/users/profile").await.is(200);
    body["dateOfBirth"] = profile.body["dateOfBirth"].clone();
    let found = person.client.post("/v1/users/identity/lookup", &body).await.is(201);
    found.text_at("verificationId").to_owned()
}

async fn mailed(person: &Person, email: &str) -> String {
    let body = json!({"email": email, "userId": id_of(person).await});
    person.client.post("/v1/users/email/verify", &body).await.is(201).text_at("verificationId").to_owned()
}

/// A code for the phone that Chidi is about to have.
async fn phoned(chidi: &Person) -> String {
    let profile = chidi.client.get("/v1/users/profile").await.is(200);
    let number =
        if profile.body["phoneNumber"] == "+2348031000303" { "+2348031000304" } else { "+2348031000303" };
    let body = json!({"phoneNumber": number, "currentPassword": PASSWORD});
    let path = format!("/v1/users/{}", profile.text_at("userId"));
    let updated = chidi.client.request(Method::PATCH, &path).json(&body).send().await.is(200);
    updated.list_at("verifications")[0]["verificationId"].as_str().unwrap().to_owned()
}

async fn pictured(person: &Person) -> String {
    let body = json!({"fileContent": picture(), "fileType": "PNG", "fileName": "me.png"});
    person.client.post("/v1/users/profile/avatar", &body).await.is(201).text_at("avatarId").to_owned()
}

async fn evidence(person: &Person) -> String {
    let body = json!({"documentType": "UTILITY_BILL", "fileContent": picture(), "fileType": "PNG"});
    person.client.post("/v1/users/compliance/upload", &body).await.is(201).text_at("documentId").to_owned()
}

/// The code of a verification that was not sent again.
pub fn code(bank: &Bank, user: &str, verification: &str) -> String {
    // A row also asks about ids that are none.
    let Ok(id) = verification.parse() else { return "000000".to_owned() };
    bank.app.keys.code(user.parse().unwrap(), id, 0).to_string()
}

fn new_person(world: &mut World) -> BoxFuture<'_, ()> {
    async { world.people.next += 1 }.boxed()
}

fn new_holder(world: &mut World) -> BoxFuture<'_, ()> {
    async {
        world.people.next += 1;
        world.people.holder = holder(&world.teller, world.people.next).await;
    }
    .boxed()
}

fn new_resend(world: &mut World) -> BoxFuture<'_, ()> {
    async {
        // Another server may have been asked.
        world.bank.caught_up().await;
        let profile = world.chidi.client.get("/v1/users/profile").await.is(200);
        let phone = profile.text_at("phoneNumber").to_owned();
        world.people.resent = looked_up(&world.chidi, "Chidi", "Eze", &phone).await;
    }
    .boxed()
}

fn new_identity(world: &mut World) -> BoxFuture<'_, ()> {
    async { world.people.identity = looked_up(&world.ada, "Ada", "Okafor", "+2348031000101").await }.boxed()
}

fn new_email(world: &mut World) -> BoxFuture<'_, ()> {
    async { world.people.email = mailed(&world.ada, "ada@example.com").await }.boxed()
}

fn new_phone(world: &mut World) -> BoxFuture<'_, ()> {
    async {
        // Another server may have been asked.
        world.bank.caught_up().await;
        world.people.phone = phoned(&world.chidi).await;
    }
    .boxed()
}

fn new_avatar(world: &mut World) -> BoxFuture<'_, ()> {
    async { world.people.avatars.0 = pictured(&world.ada).await }.boxed()
}

fn new_documents(world: &mut World) -> BoxFuture<'_, ()> {
    async {
        for document in &mut world.people.documents[1..] {
            *document = evidence(&world.ada).await;
        }
    }
    .boxed()
}

pub fn rows() -> Vec<Row> {
    [coming(), proving(), profile(), handing_in(), looking_at()].into_iter().flatten().collect()
}

/// How people come to the bank.
fn coming() -> Vec<Row> {
    let staff = Access::Needs(AccountOps);
    let anybody =
        |row: Row| Row { own: |world| &world.people.bola, by: Some(|world| &world.teller.client), ..row };
    vec![
        post("/v1/users", Access::Public, Names::Nothing, |world, _| newcomer(world.people.next))
            .after(new_person),
        get("/v1/users/by/{accountNo}", Access::LoggedIn, Names::Everybodys(Thing::Account)),
        Row {
            own: |world| &world.people.holder.account,
            ..post("/v1/users/by/{accountNo}", Access::Public, Names::Nothing, |world, _| {
                json!({
                    "firstName": "Ngozi", "lastName": "Balogun", "email": world.people.holder.email,
                    "phoneNumber": "+2348031000777", "dateOfBirth": "1991-07-03",
                    "address": {"city": "Lagos", "country": "NG"}, "preferences": {"language": "en"},
                })
            })
        }
        .after(new_holder),
        Row {
            by: Some(|world| &world.teller.client),
            ready: new_person,
            ..post("/v1/staff/customers", staff, Names::Nothing, |world, _| {
                newcomer(1_000 + world.people.next)
            })
        },
        anybody(get("/v1/staff/customers/{userId}", staff, Names::Anybodys(Thing::User))),
        anybody(post(
            "/v1/staff/customers/{userId}/accounts",
            staff,
            Names::Anybodys(Thing::User),
            |_, _| json!({"productId": "CUR-001", "currency": "NGN", "accountName": "Bola"}),
        )),
    ]
}

/// How they prove who they are, and what is theirs.
fn proving() -> Vec<Row> {
    let own = Names::Own(Thing::Verification);
    let strangers: fn(&World) -> &str = |world| &world.people.strangers;
    vec![
        Row {
            own: |world| &world.people.resent,
            by: Some(|world| &world.chidi.client),
            strangers,
            ready: new_resend,
            ..post(
                "/v1/users/identity/resend-code",
                PROFILE,
                own,
                |_, id| json!({"verificationId": id, "phoneNumber": "+2348031000103"}),
            )
        },
        Row {
            own: |world| &world.people.identity,
            strangers,
            ready: new_identity,
            ..get("/v1/users/verifications/{verificationId}", PROFILE, own)
        },
        Row {
            own: |world| &world.people.identity,
            strangers,
            ready: new_identity,
            ..post("/v1/users/identity/confirm", PROFILE, own, |world, id| {
                let code = code(&world.bank, &world.people.ada, id);
                json!({"verificationId": id, "verificationCode": code, "phoneNumber": "+2348031000101"})
            })
        },
        post("/v1/users/identity/lookup", PROFILE, Names::Nothing, |world, _| {
            let mut body = claimant("Ada", "Okafor", "+2348031000101");
            body["dateOfBirth"] = json!(world.people.born);
            body
        }),
        Row {
            own: |world| &world.people.email,
            strangers,
            ready: new_email,
            ..post(
                "/v1/users/email/confirm",
                PROFILE,
                own,
                |world, id| json!({"verificationId": id, "verificationCode": code(&world.bank, &world.people.ada, id)}),
            )
        },
        post(
            "/v1/users/email/verify",
            PROFILE,
            Names::Nothing,
            |world, _| json!({"email": "ada@example.com", "userId": world.people.ada}),
        ),
        Row {
            own: |world| &world.people.phone,
            by: Some(|world| &world.chidi.client),
            strangers,
            ready: new_phone,
            ..post(
                "/v1/users/phone/confirm",
                PROFILE,
                own,
                |world, id| json!({"verificationId": id, "verificationCode": code(&world.bank, &world.people.chidi, id)}),
            )
        },
    ]
}

/// What the bank knows of them.
fn profile() -> Vec<Row> {
    let own_picture = |path| Row {
        own: |world| &world.people.avatars.0,
        strangers: |world| &world.people.avatars.1,
        ready: new_avatar,
        ..get(path, PROFILE, Names::Own(Thing::Avatar))
    };
    vec![
        get("/v1/users/profile", PROFILE, Names::Nothing),
        Row {
            method: Method::PATCH,
            own: |world| &world.people.ada,
            strangers: |world| &world.people.bola,
            ready: new_person,
            ..post(
                "/v1/users/{userId}",
                PROFILE,
                Names::Own(Thing::User),
                |world, _| json!({"address": {"city": format!("City {}", world.people.next)}, "currentPassword": PASSWORD}),
            )
        },
        get("/v1/users/profile/avatar", PROFILE, Names::Nothing),
        own_picture("/v1/users/profile/avatar/{avatarId}/image"),
        own_picture("/v1/users/profile/avatar/{avatarId}/thumbnail"),
        post(
            "/v1/users/profile/avatar",
            PROFILE,
            Names::Nothing,
            |_, _| json!({"fileContent": picture(), "fileType": "PNG", "fileName": "me.png"}),
        ),
    ]
}

/// What they hand in.
fn handing_in() -> Vec<Row> {
    vec![
        post("/v1/users/compliance/upload", PROFILE, Names::Nothing, |_, _| {
            json!({
                "documentType": "UTILITY_BILL", "documentName": "Electricity", "fileContent": picture(),
                "fileType": "PNG", "expiryDate": "2030-01-31", "description": "October",
            })
        }),
        post("/v1/users/identification/upload", PROFILE, Names::Nothing, |_, _| {
            json!({
                "documentType": "PASSPORT", "documentNumber": "A01234567", "issuingCountry": "NG",
                "issueDate": "2020-02-01", "expiryDate": "2030-01-31", "fileContent": picture(), "fileType": "PNG",
                "documentSide": "FRONT",
            })
        }),
        get("/v1/users/documents", PROFILE, Names::Nothing),
        Row {
            own: |world| &world.people.documents[0],
            strangers: |world| &world.people.strangers_document,
            ..get("/v1/users/documents/{documentId}", PROFILE, Names::Own(Thing::Document))
        },
    ]
}

/// What staff make of it.
fn looking_at() -> Vec<Row> {
    let (staff, any) = (Access::Needs(KycVerify), Names::Anybodys(Thing::Document));
    let about = |row: Row, own: fn(&World) -> &str| Row { own, ready: new_documents, ..row };
    vec![
        Row { by: Some(|world| &world.teller.client), ..get("/v1/staff/documents", staff, Names::Nothing) },
        about(get("/v1/staff/documents/{documentId}", staff, any), |world| &world.people.documents[0]),
        about(get("/v1/staff/documents/{documentId}/content", staff, any), |world| {
            &world.people.documents[0]
        }),
        about(
            post("/v1/staff/documents/{documentId}/verify", staff, any, |_, _| json!({"note": "Seen"})),
            |world| &world.people.documents[1],
        ),
        about(
            post("/v1/staff/documents/{documentId}/reject", staff, any, |_, _| json!({"reason": "Blurred"})),
            |world| &world.people.documents[2],
        ),
    ]
}
