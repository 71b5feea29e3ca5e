//! Rows about what customers say about themselves, and the records they are about.

use bursar_domain::kernel::Permission::{KycVerify, ManageProfile};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use reqwest::Method;
use serde_json::{Value, json};

use super::row::{Access, Names, Row, Thing, delete, get, post};
use super::world::World;
use crate::support::Person;

/// Records of a person's, one for each write that needs one to itself.
pub struct Held {
    address: String,
    kin: String,
    employment: String,
    contact: String,
    to_verify: String,
    to_reject: String,
}

impl Held {
    pub async fn by(person: &Person) -> Self {
        let add = async |list: &str, body: Value, id: &str| {
            let path = format!("/v1/compliance/{list}");
            person.client.post(&path, &body).await.body[id].as_str().unwrap().to_owned()
        };
        Self {
            address: add("address", address(), "addressId").await,
            kin: add("kin", kin(), "kinId").await,
            employment: add("employment", employment(), "employmentId").await,
            contact: add("emergency_contact", contact(), "contactId").await,
            to_verify: add("kin", kin(), "kinId").await,
            to_reject: add("employment", employment(), "employmentId").await,
        }
    }
}

pub fn address() -> Value {
    json!({
        "addressType": "RESIDENTIAL", "streetAddress": "12 Marina Road", "city": "Ikeja", "state": "Lagos",
        "postalCode": "101001", "country": "Nigeria", "isPrimary": true, "validFrom": "2020-01-01",
        "validTo": "2099-12-31",
    })
}

pub fn kin() -> Value {
    json!({
        "relationship": "SPOUSE", "firstName": "Bola", "lastName": "Adeyemi", "phoneNumber": "+2348031000102",
        "email": "bola@example.com", "address": "12 Marina Road, Ikeja", "isPrimary": true,
        "dateOfBirth": "1989-03-02", "nationality": "Nigerian",
    })
}

pub fn employment() -> Value {
    json!({
        "companyName": "Lagoon Traders", "position": "Accountant", "employmentType": "FULL_TIME",
        "startDate": "2019-09-01", "endDate": "2024-08-31", "salary": "450000 a month",
        "companyAddress": "1 Broad Street, Lagos", "companyPhone": "+2348031000109",
        "supervisorName": "Chidi Eze", "isCurrent": false,
    })
}

pub fn contact() -> Value {
    json!({
        "relationship": "FRIEND", "firstName": "Chidi", "lastName": "Eze", "phoneNumber": "+2348031000103",
        "email": "chidi@example.com", "priority": "PRIMARY", "address": "3 Bank Road, Abuja",
        "dateOfBirth": "1991-07-08",
    })
}

/// `body` about `id`.
fn about(name: &str, id: &str, mut body: Value) -> Value {
    body[name] = json!(id);
    body
}

/// Ada's records are new ones, and she has no others: there may be only so many.
fn new_records(world: &mut World) -> BoxFuture<'_, ()> {
    async {
        // Another server may have been asked.
        world.bank.caught_up().await;
        for (list, records, id) in [
            ("kin", "kin", "kinId"),
            ("employment", "employment", "employmentId"),
            ("emergency_contact", "contacts", "contactId"),
        ] {
            let path = format!("/v1/compliance/{list}");
            let all = world.ada.client.get(&format!("{path}?size=100")).await.is(200);
            for record in all.list_at(records) {
                let record = record[id].as_str().unwrap();
                world.ada.client.delete(&format!("{path}?{id}={record}")).await.is(200);
            }
        }
        world.compliance.0 = Held::by(&world.ada).await;
    }
    .boxed()
}

pub fn rows() -> Vec<Row> {
    [addresses(), next_of_kin(), employments(), contacts(), staff()].into_iter().flatten().collect()
}

const MANAGE: Access = Access::Needs(ManageProfile);

fn put(path: &'static str, names: Names, body: fn(&World, &str) -> Value) -> Row {
    Row { method: Method::PUT, ..post(path, MANAGE, names, body) }
}

fn remove(path: &'static str, names: Names, body: fn(&World, &str) -> Value) -> Row {
    Row { body: Some(body), ..delete(path, MANAGE, names) }
}

fn addresses() -> Vec<Row> {
    vec![
        get("/v1/compliance/address", MANAGE, Names::Nothing),
        Row {
            own: |world| &world.compliance.0.address,
            strangers: |world| &world.compliance.1.address,
            ..post("/v1/compliance/address", MANAGE, Names::Own(Thing::Address), |_, id| {
                about("addressId", id, address())
            })
        },
    ]
}

fn next_of_kin() -> Vec<Row> {
    let own = |row: Row| Row {
        own: |world| &world.compliance.0.kin,
        strangers: |world| &world.compliance.1.kin,
        ready: new_records,
        ..row
    };
    let path = "/v1/compliance/kin";
    vec![
        get(path, MANAGE, Names::Nothing),
        post(path, MANAGE, Names::Nothing, |_, _| kin()).after(new_records),
        own(put(path, Names::Own(Thing::Kin), |_, id| about("kinId", id, kin()))),
        own(remove(path, Names::Own(Thing::Kin), |_, id| json!({"kinId": id, "reason": "Moved away"}))),
    ]
}

fn employments() -> Vec<Row> {
    let own = |row: Row| Row {
        own: |world| &world.compliance.0.employment,
        strangers: |world| &world.compliance.1.employment,
        ready: new_records,
        ..row
    };
    let (path, names) = ("/v1/compliance/employment", Names::Own(Thing::Employment));
    vec![
        get(path, MANAGE, Names::Nothing),
        post(path, MANAGE, Names::Nothing, |_, _| employment()).after(new_records),
        own(put(path, names, |_, id| about("employmentId", id, employment()))),
        own(remove(path, names, |_, id| json!({"employmentId": id, "reason": "By mistake"}))),
    ]
}

fn contacts() -> Vec<Row> {
    let own = |row: Row| Row {
        own: |world| &world.compliance.0.contact,
        strangers: |world| &world.compliance.1.contact,
        ready: new_records,
        ..row
    };
    let (path, names) = ("/v1/compliance/emergency_contact", Names::Own(Thing::Contact));
    vec![
        get(path, MANAGE, Names::Nothing),
        post(path, MANAGE, Names::Nothing, |_, _| contact()).after(new_records),
        own(put(path, names, |_, id| about("contactId", id, contact()))),
        own(remove(path, names, |_, id| json!({"contactId": id, "reason": "Moved away"}))),
    ]
}

fn staff() -> Vec<Row> {
    let (verifier, anybodys) = (Access::Needs(KycVerify), Names::Anybodys(Thing::Record));
    vec![
        Row {
            own: |world| &world.compliance.0.to_verify,
            ready: new_records,
            ..post(
                "/v1/staff/compliance/{recordId}/verify",
                verifier,
                anybodys,
                |_, _| json!({"note": "Seen the certificate"}),
            )
        },
        Row {
            own: |world| &world.compliance.0.to_reject,
            ready: new_records,
            ..post(
                "/v1/staff/compliance/{recordId}/reject",
                verifier,
                anybodys,
                |_, _| json!({"reason": "Nobody answers there"}),
            )
        },
    ]
}
