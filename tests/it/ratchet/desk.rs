//! Rows about what staff look at.

use bursar_domain::kernel::Permission::{AccountOps, AuditRead, CardOps, OpsRebuild};

use super::row::{Access, Names, Row, Thing, get};

pub fn rows() -> Vec<Row> {
    let desk = Access::Needs(AccountOps);
    let customer = |path, access| Row {
        own: |world| &world.erasable,
        ..get(path, access, Names::Anybodys(Thing::User))
    };
    let account = |path| get(path, desk, Names::Anybodys(Thing::Account));
    let clerk = |path| Row { by: Some(|world| &world.teller.client), ..get(path, desk, Names::Nothing) };
    let auditor = |path| Row {
        by: Some(|world| &world.auditor.client),
        ..get(path, Access::Needs(AuditRead), Names::Nothing)
    };
    vec![
        clerk("/v1/staff/customers"),
        customer("/v1/staff/customers/{userId}/accounts", desk),
        customer("/v1/staff/customers/{userId}/cards", Access::Needs(CardOps)),
        account("/v1/staff/accounts/{accountNo}"),
        account("/v1/staff/accounts/{accountNo}/statement"),
        account("/v1/staff/accounts/{accountNo}/history"),
        clerk("/v1/staff/transactions"),
        Row {
            own: |world| &world.transactions.0,
            ..get("/v1/staff/transactions/{transactionId}", desk, Names::Anybodys(Thing::Transaction))
        },
        get("/v1/staff/approvals", Access::LoggedIn, Names::Nothing),
        Row {
            by: Some(|world| &world.approver.client),
            ..get("/v1/staff/ops/schedule", Access::Needs(OpsRebuild), Names::Nothing)
        },
        auditor("/v1/audit/events"),
        auditor("/v1/audit/head"),
    ]
}
