//! Rows about the end of accounts, and the accounts they are about.

use bursar_commands::{Context, Unit};
use bursar_domain::accounts::AccountCommand;
use bursar_domain::kernel::Permission::AccountOps;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use reqwest::Method;
use serde_json::{Value, json};

use super::row::{Access, Names, READ, Row, Thing, WRITE, delete, get, post};
use super::world::World;
use crate::support::{Bank, Client, Person};

/// Accounts of Ada's, one for each write that needs one to itself.
pub struct Closing {
    /// Nothing was asked about it.
    open: String,
    /// Target savings.
    target: String,
    /// Its closing was asked for.
    asked: String,
    /// Its closing can be taken back.
    taken_back: String,
    /// Applications that nobody has decided about, and one that was approved.
    pending: String,
    refused: String,
    approved: String,
    /// An account that nobody has used for long.
    dormant: String,
}

/// Opens a savings account out of somebody's current account.
pub async fn opens(person: &Person, product: &str, amount: i64) -> String {
    let body = json!({
        "productId": product, "currency": "NGN", "initialDeposit": amount, "sourceAccount": person.current,
    });
    person.client.post("/v1/accounts", &body).await.is(201).text_at("accountNumber").to_owned()
}

pub fn application(into: &str) -> Value {
    json!({
        "closureReason": "Moving abroad", "preferredClosureDate": "2099-01-01T00:00:00Z", "transferAccount": into,
        "comments": "Call me first", "acknowledgeTerms": true,
    })
}

/// Asks for an account to be closed; the id of the application.
pub async fn asks(person: &Person, account: &str, into: &str) -> String {
    let path = format!("/v1/accounts/{account}/close");
    person.client.post(&path, &application(into)).await.is(201).text_at("applicationId").to_owned()
}

/// Staff do something about an application.
pub async fn staff(client: &Client, application: &str, step: &str) {
    let path = format!("/v1/staff/account-closures/{application}/{step}");
    client.post(&path, &json!({"note": "Seen", "reason": "Because"})).await.is(200);
}

/// A new account of somebody's, and the application to close it.
async fn leaving(person: &Person) -> (String, String) {
    let account = opens(person, "SAV-001", 150_000).await;
    let application = asks(person, &account, &person.current).await;
    (account, application)
}

async fn approved(person: &Person, approver: &Person) -> String {
    let (_, application) = leaving(person).await;
    staff(&approver.client, &application, "approve").await;
    application
}

/// A new account of somebody's that is at rest.
pub async fn rests(bank: &Bank, person: &Person) -> String {
    let account = opens(person, "SAV-001", 150_000).await;
    let silent_since = bank.app.journal.sources().clock.now();
    let unit = Unit::new(Context::default()).step(&account, AccountCommand::FallDormant { silent_since });
    bank.app.journal.submit(unit).await.unwrap();
    account
}

impl Closing {
    pub async fn new(bank: &Bank, ada: &Person, approver: &Person) -> Self {
        Self {
            open: opens(ada, "SAV-001", 150_000).await,
            target: opens(ada, "TSV-001", 1_000_000).await,
            asked: leaving(ada).await.0,
            taken_back: leaving(ada).await.0,
            pending: leaving(ada).await.1,
            refused: leaving(ada).await.1,
            approved: approved(ada, approver).await,
            dormant: rests(bank, ada).await,
        }
    }
}

/// Makes anew what a write has used up.
macro_rules! anew {
    ($($ready:ident: $field:ident = |$world:ident| $make:expr;)*) => {$(
        fn $ready($world: &mut World) -> BoxFuture<'_, ()> {
            async { $world.closing.$field = $make }.boxed()
        }
    )*};
}

anew! {
    new_open: open = |world| opens(&world.ada, "SAV-001", 150_000).await;
    new_taken_back: taken_back = |world| leaving(&world.ada).await.0;
    new_pending: pending = |world| leaving(&world.ada).await.1;
    new_refused: refused = |world| leaving(&world.ada).await.1;
    new_approved: approved = |world| approved(&world.ada, &world.approver).await;
    new_dormant: dormant = |world| rests(&world.bank, &world.ada).await;
}

pub fn rows() -> Vec<Row> {
    [customers(), decisions()].into_iter().flatten().collect()
}

fn customers() -> Vec<Row> {
    let own = Names::Own(Thing::Account);
    let settings = |_: &World, _: &str| -> Value {
        json!({
            "savingsGoal": 5_000_000, "savingsFrequency": "WEEKLY", "savingsAmount": 100_000,
            "maturityDate": "2099-01-01T00:00:00Z", "notifications": {"email": true, "sms": false, "push": true},
            "statementDelivery": "EMAIL", "statementFrequency": "WEEKLY", "earlyClosureAllowed": false,
        })
    };
    vec![
        Row {
            own: |world| &world.closing.open,
            ready: new_open,
            ..post("/v1/accounts/{accountNo}/close", WRITE, own, |world, _| application(&world.ada.current))
        },
        Row { own: |world| &world.closing.asked, ..get("/v1/accounts/{accountNo}/close", READ, own) },
        Row {
            own: |world| &world.closing.taken_back,
            ready: new_taken_back,
            ..delete("/v1/accounts/{accountNo}/close", WRITE, own)
        },
        Row {
            method: Method::PUT,
            own: |world| &world.closing.target,
            ..post("/v1/accounts/{accountNo}/configure", WRITE, own, settings)
        },
    ]
}

fn decisions() -> Vec<Row> {
    let (anybodys, teller) = (Names::Anybodys(Thing::Closure), Access::Needs(AccountOps));
    let note = |_: &World, _: &str| -> Value { json!({"note": "Called the customer"}) };
    let reason = |_: &World, _: &str| -> Value { json!({"reason": "A court has asked for it to stay"}) };
    vec![
        Row {
            by: Some(|world| &world.teller.client),
            ..get("/v1/staff/account-closures", teller, Names::Nothing)
        },
        Row {
            own: |world| &world.closing.pending,
            ..get("/v1/staff/account-closures/{applicationId}", teller, anybodys)
        },
        Row {
            own: |world| &world.closing.pending,
            ready: new_pending,
            ..post("/v1/staff/account-closures/{applicationId}/approve", teller, anybodys, note)
        },
        Row {
            own: |world| &world.closing.refused,
            ready: new_refused,
            ..post("/v1/staff/account-closures/{applicationId}/reject", teller, anybodys, reason)
        },
        Row {
            own: |world| &world.closing.approved,
            ready: new_approved,
            ..post("/v1/staff/account-closures/{applicationId}/finalize", teller, anybodys, note)
        },
        Row {
            own: |world| &world.closing.dormant,
            ready: new_dormant,
            ..post(
                "/v1/staff/accounts/{accountNo}/reactivate",
                teller,
                Names::Anybodys(Thing::Account),
                reason,
            )
        },
    ]
}
