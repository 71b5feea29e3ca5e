//! The table of the ratchet: every operation, who may call it, and a request that succeeds.

use bursar_domain::kernel::Permission::{
    AccountOps, AuditRead, CardOps, ManageProfile, OpsRebuild, PiiErase, StaffAdmin,
};
use reqwest::Method;
use serde_json::json;

use super::row::{Access, Names, PROFILE, READ, Row, Thing, WRITE, delete, get, post};
use super::world::{World, issued};
use super::{
    closing, communities, compliance, factors, hooks, lending, offers, people, repeat, standing, undoing,
};
use crate::support::client::PASSWORD;

const PERMISSIONS: &str = "/v1/staff/users/{userId}/permissions";
const OWN_ACCOUNT: Names = Names::Own(Thing::Account);

/// Every operation.
pub fn rows() -> Vec<Row> {
    [
        operations(),
        sessions(),
        factors::rows(),
        accounts(),
        payments(),
        beneficiaries(),
        cards(),
        messages(),
        banks(),
        billers(),
        datasets(),
        transactions(),
        tags(),
        staff(),
        super::devices::rows(),
        audit(),
        projections(),
        undoing::rows(),
        standing::rows(),
        communities::rows(),
        people::rows(),
        compliance::rows(),
        lending::rows(),
        closing::rows(),
        super::desk::rows(),
        offers::rows(),
        hooks::rows(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn operations() -> Vec<Row> {
    vec![
        get("/healthz", Access::Public, Names::Nothing),
        get("/readyz", Access::Public, Names::Nothing),
        get("/metrics", Access::Public, Names::Nothing),
        get("/.well-known/jwks.json", Access::Public, Names::Nothing),
        get("/console", Access::Public, Names::Nothing),
        Row { own: |_| "app.js", ..get("/console/{file}", Access::Public, Names::Nothing) },
        get("/v1/sandbox/messages", Access::Public, Names::Nothing),
        // Moves the clock, which is not in the log: nothing could answer a repeat.
        Row {
            replays: false,
            ..post("/v1/sandbox/clock", Access::Public, Names::Nothing, |_, _| json!({"advance": "PT1S"}))
        },
    ]
}

/// A small one, so that nobody waits for it.
fn projections() -> Vec<Row> {
    let model = Names::Everybodys(Thing::Model);
    let rebuild = "/v1/staff/ops/projections/{name}/rebuild";
    let rows = [
        get("/v1/staff/ops/projections", Access::Needs(OpsRebuild), Names::Nothing),
        get(rebuild, Access::Needs(OpsRebuild), model),
        post(rebuild, Access::Needs(OpsRebuild), model, |_, _| json!({"verify": false}))
            .after(repeat::nothing_rebuilt),
    ];
    rows.map(|row| Row { own: |_| "products", by: Some(|world| &world.approver.client), ..row }).into()
}

fn sessions() -> Vec<Row> {
    vec![
        post(
            "/v1/users/password/login",
            Access::Public,
            Names::Nothing,
            // From a device that Bola has logged in from before: the first time is one event more.
            |_, _| json!({"username": "bola@example.com", "password": PASSWORD, "deviceInfo": {"deviceId": "test-device", "deviceType": "DESKTOP"}}),
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
        post(
            "/v1/users/password/change",
            Access::Needs(ManageProfile),
            Names::Nothing,
            |_, _| json!({"currentPassword": PASSWORD, "newPassword": repeat::NEW_PASSWORD, "confirmPassword": repeat::NEW_PASSWORD}),
        )
        .after(repeat::old_password),
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
        post("/v1/cards/internal", WRITE, Names::Own(Thing::Account), |_, account| issued(account)),
        Row {
            own: |world| &world.issued,
            ..post(
                "/v1/staff/cards/{cardId}/activate",
                Access::Needs(CardOps),
                Names::Anybodys(Thing::Card),
                |_, _| json!({"note": "Fetched at the till"}),
            )
        }
        .after(repeat::card_issued),
    ]
}

fn messages() -> Vec<Row> {
    vec![
        get("/v1/users/messages", PROFILE, Names::Nothing),
        Row {
            own: |world| &world.messages.0,
            strangers: |world| &world.messages.1,
            ..delete("/v1/users/messages/{messageId}", PROFILE, Names::Own(Thing::Message))
        }
        .after(repeat::told),
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

fn datasets() -> Vec<Row> {
    let any = |path| get(path, Access::LoggedIn, Names::Nothing);
    vec![
        any("/v1/datasets/countries"),
        Row {
            own: |_| "NG",
            ..get("/v1/datasets/{countryCode}/states", Access::LoggedIn, Names::Everybodys(Thing::Country))
        },
        Row {
            own: |_| "NG-LA",
            ..get("/v1/datasets/{stateCode}/cities", Access::LoggedIn, Names::Everybodys(Thing::State))
        },
        any("/v1/datasets/person/genders"),
        any("/v1/datasets/person/maritalStatus"),
        any("/v1/datasets/person/professions"),
        any("/v1/datasets/person/relationships"),
        any("/v1/datasets/periods"),
        any("/v1/datasets/loan/duration"),
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

fn audit() -> Vec<Row> {
    let reads = |path, names| Row {
        own: |_| "1",
        by: Some(|world| &world.auditor.client),
        ..get(path, Access::Needs(AuditRead), names)
    };
    vec![
        reads("/v1/audit/checkpoints", Names::Nothing),
        reads("/v1/audit/consistency", Names::Nothing),
        reads("/v1/audit/events/{position}/proof", Names::Anybodys(Thing::Event)),
        Row {
            own: |world| &world.ada.current,
            ..reads("/v1/audit/explain/accounts/{accountNo}", Names::Anybodys(Thing::Account))
        },
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
        Row {
            own: |world| &world.erasable,
            ready: repeat::somebody_new,
            ..post(
                "/v1/staff/subjects/{userId}/erase",
                Access::Needs(PiiErase),
                Names::Anybodys(Thing::User),
                reason,
            )
        },
        Row {
            own: |world| &world.factors.recruit,
            ..get(PERMISSIONS, Access::Needs(StaffAdmin), Names::Anybodys(Thing::User))
        },
        Row {
            own: |world| &world.factors.recruit,
            ready: factors::no_permission,
            ..post(
                PERMISSIONS,
                Access::Needs(StaffAdmin),
                Names::Anybodys(Thing::User),
                |_, _| json!({"grant": ["KYC_VERIFY"], "revoke": ["AUDIT_READ"]}),
            )
        },
    ]
}
