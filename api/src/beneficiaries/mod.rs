//! Whom the caller keeps to pay again.

mod views;

use axum::extract::State;
use bursar_commands::beneficiaries::{self, NewBeneficiary};
use bursar_commands::{CommandError, Context};
use bursar_domain::beneficiaries::{BeneficiariesEvent, BeneficiaryKind, Payee};
use bursar_domain::kernel::BeneficiaryId;
use bursar_domain::{AccountNumber, Event, Personal};
use bursar_projections::beneficiaries::{BeneficiaryFilter, BeneficiaryRow, BeneficiarySort, of_owner};
use bursar_projections::{Page, Sort};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, Caller, ReadAccount, WriteTransactions};
use crate::openapi::{ReadHeaders, ReadProblems, WriteHeaders, WriteProblems};
use crate::paging::Pagination;
use crate::payments::wallet_provider;
use crate::problem::Problem;
use crate::request::{
    BillerId, Code, Conditions, InPath, Nothing, OneOf, Phone, Queried, Search, Text, Write,
};
use crate::{query, request};
use views::{
    AddedBeneficiary, BeneficiaryList, BillsBeneficiary, ExternalBeneficiary, InternalBeneficiary,
    RemovedBeneficiary, WalletBeneficiary,
};

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_internal_beneficiaries, add_internal_beneficiary))
        .routes(routes!(list_external_beneficiaries, add_external_beneficiary))
        .routes(routes!(list_bills_beneficiaries, add_bills_beneficiary))
        .routes(routes!(list_wallet_beneficiaries, add_wallet_beneficiary))
        .routes(routes!(remove_beneficiary))
}

query! {
    /// Which beneficiaries are listed, and how.
    ListBeneficiaries {
        /// Only favourites, or only the others.
        is_favorite: Option<bool> = "isFavorite",
        /// Text in name, nickname, number or institution.
        q: Search = "q",
        /// The order; newest first when absent.
        sort: Sort<BeneficiarySort> = "sort",
        /// Which part.
        page: Page = "page",
    }
}

request! {
    /// An account of this bank to be kept.
    NewInternalBeneficiary {
        /// The account.
        account_number: AccountNumber = "accountNumber",
        /// The holder's name.
        account_name: Option<Text<140>> = "accountName",
        /// What the caller calls it.
        nickname: Option<Text<140>> = "nickname",
        /// `INTERNAL`.
        transfer_type: Option<OneOf<BeneficiaryKind>> = "transferType",
        /// Whether it comes first.
        is_favorite: Option<bool> = "isFavorite",
    }
}

request! {
    /// An account of another bank to be kept.
    NewExternalBeneficiary {
        /// The account's number there.
        account_number: Code<34> = "accountNumber",
        /// The holder's name.
        account_name: Option<Text<140>> = "accountName",
        /// The bank, as in `/v1/payments/banks/external`; the shorter code that people know will do.
        bank_code: Code<40> = "bankCode",
        /// The bank's name; that of its code when absent.
        bank_name: Option<Text<140>> = "bankName",
        /// What the caller calls it.
        nickname: Option<Text<140>> = "nickname",
        /// `EXTERNAL`.
        transfer_type: Option<OneOf<BeneficiaryKind>> = "transferType",
        /// Whether it comes first.
        is_favorite: Option<bool> = "isFavorite",
    }
}

request! {
    /// A customer of a biller to be kept.
    NewBillsBeneficiary {
        /// The biller, as in `/v1/billers`.
        biller_id: BillerId = "billerId",
        /// The biller's name; that of its code when absent.
        biller_name: Option<Text<140>> = "billerName",
        /// The customer's number there.
        account_number: Text<64> = "accountNumber",
        /// The customer's name there.
        customer_name: Option<Text<140>> = "customerName",
        /// What the caller calls it.
        nickname: Option<Text<140>> = "nickname",
        /// `BILLS`.
        transfer_type: Option<OneOf<BeneficiaryKind>> = "transferType",
        /// Whether it comes first.
        is_favorite: Option<bool> = "isFavorite",
    }
}

request! {
    /// A mobile wallet to be kept.
    NewWalletBeneficiary {
        /// The wallet's number, E.164.
        phone_number: Phone = "phoneNumber",
        /// Who runs it.
        wallet_provider: Code<40> = "walletProvider",
        /// What the caller calls it.
        nickname: Option<Text<140>> = "nickname",
        /// `MWALLET`.
        transfer_type: Option<OneOf<BeneficiaryKind>> = "transferType",
        /// Whether it comes first.
        is_favorite: Option<bool> = "isFavorite",
    }
}

/// Lists the accounts of this bank that the caller keeps.
#[utoipa::path(
    get, path = "/v1/payments/beneficiaries/internal", tag = "Beneficiaries",
    params(ListBeneficiaries, ReadHeaders),
    responses((status = 200, description = "The beneficiaries.", body = BeneficiaryList<InternalBeneficiary>), ReadProblems)
)]
async fn list_internal_beneficiaries(
    State(app): State<App>,
    caller: Allowed<ReadAccount>,
    wants: Conditions,
    Queried(query): Queried<ListBeneficiaries>,
) -> Result<Answer<BeneficiaryList<InternalBeneficiary>>, Problem> {
    kept(&app, &caller, &wants, BeneficiaryKind::Internal, query).await
}

/// Lists the accounts of other banks that the caller keeps.
#[utoipa::path(
    get, path = "/v1/payments/beneficiaries/external", tag = "Beneficiaries",
    params(ListBeneficiaries, ReadHeaders),
    responses((status = 200, description = "The beneficiaries.", body = BeneficiaryList<ExternalBeneficiary>), ReadProblems)
)]
async fn list_external_beneficiaries(
    State(app): State<App>,
    caller: Allowed<ReadAccount>,
    wants: Conditions,
    Queried(query): Queried<ListBeneficiaries>,
) -> Result<Answer<BeneficiaryList<ExternalBeneficiary>>, Problem> {
    kept(&app, &caller, &wants, BeneficiaryKind::External, query).await
}

/// Lists the bills that the caller keeps.
#[utoipa::path(
    get, path = "/v1/payments/beneficiaries/bills", tag = "Beneficiaries",
    params(ListBeneficiaries, ReadHeaders),
    responses((status = 200, description = "The beneficiaries.", body = BeneficiaryList<BillsBeneficiary>), ReadProblems)
)]
async fn list_bills_beneficiaries(
    State(app): State<App>,
    caller: Allowed<ReadAccount>,
    wants: Conditions,
    Queried(query): Queried<ListBeneficiaries>,
) -> Result<Answer<BeneficiaryList<BillsBeneficiary>>, Problem> {
    kept(&app, &caller, &wants, BeneficiaryKind::Bills, query).await
}

/// Lists the mobile wallets that the caller keeps.
#[utoipa::path(
    get, path = "/v1/payments/beneficiaries/mwallet", tag = "Beneficiaries",
    params(ListBeneficiaries, ReadHeaders),
    responses((status = 200, description = "The beneficiaries.", body = BeneficiaryList<WalletBeneficiary>), ReadProblems)
)]
async fn list_wallet_beneficiaries(
    State(app): State<App>,
    caller: Allowed<ReadAccount>,
    wants: Conditions,
    Queried(query): Queried<ListBeneficiaries>,
) -> Result<Answer<BeneficiaryList<WalletBeneficiary>>, Problem> {
    kept(&app, &caller, &wants, BeneficiaryKind::Mwallet, query).await
}

/// Keeps an account of this bank, to be paid again.
#[utoipa::path(
    post, path = "/v1/payments/beneficiaries/internal", tag = "Beneficiaries",
    params(WriteHeaders), request_body = NewInternalBeneficiary,
    responses((status = 201, description = "Added.", body = AddedBeneficiary), WriteProblems)
)]
async fn add_internal_beneficiary(
    State(app): State<App>,
    write: Write<WriteTransactions, NewInternalBeneficiary>,
) -> Result<Answer<AddedBeneficiary>, Problem> {
    let Write { caller, body, context, .. } = write;
    let new = NewBeneficiary {
        payee: Payee::Internal { account_number: body.account_number },
        name: body.account_name.map(String::from),
        institution: None,
        nickname: body.nickname.map(String::from),
        is_favorite: body.is_favorite.unwrap_or(false),
    };
    add(&app, &caller, context, body.transfer_type, new).await
}

/// Keeps an account of another bank, to be paid again.
#[utoipa::path(
    post, path = "/v1/payments/beneficiaries/external", tag = "Beneficiaries",
    params(WriteHeaders), request_body = NewExternalBeneficiary,
    responses((status = 201, description = "Added.", body = AddedBeneficiary), WriteProblems)
)]
async fn add_external_beneficiary(
    State(app): State<App>,
    write: Write<WriteTransactions, NewExternalBeneficiary>,
) -> Result<Answer<AddedBeneficiary>, Problem> {
    let Write { caller, body, context, .. } = write;
    let bank = app.reference.payable_bank(&body.bank_code.0).map_err(CommandError::refused)?;
    let account_number = Personal::new(body.account_number.into());
    let new = NewBeneficiary {
        payee: Payee::External { bank_code: bank.bank_code.clone(), account_number },
        name: body.account_name.map(String::from),
        institution: Some(body.bank_name.map_or_else(|| bank.bank_name.clone(), String::from)),
        nickname: body.nickname.map(String::from),
        is_favorite: body.is_favorite.unwrap_or(false),
    };
    add(&app, &caller, context, body.transfer_type, new).await
}

/// Keeps a bill, to be paid again.
#[utoipa::path(
    post, path = "/v1/payments/beneficiaries/bills", tag = "Beneficiaries",
    params(WriteHeaders), request_body = NewBillsBeneficiary,
    responses((status = 201, description = "Added.", body = AddedBeneficiary), WriteProblems)
)]
async fn add_bills_beneficiary(
    State(app): State<App>,
    write: Write<WriteTransactions, NewBillsBeneficiary>,
) -> Result<Answer<AddedBeneficiary>, Problem> {
    let Write { caller, body, context, .. } = write;
    let biller = app.reference.payable_biller(&body.biller_id.0, &body.account_number.0);
    let biller = biller.map_err(CommandError::refused)?;
    let account_number = Personal::new(body.account_number.into());
    let new = NewBeneficiary {
        payee: Payee::Biller { biller_id: biller.biller_code.clone(), account_number },
        name: body.customer_name.map(String::from),
        institution: Some(body.biller_name.map_or_else(|| biller.biller_name.clone(), String::from)),
        nickname: body.nickname.map(String::from),
        is_favorite: body.is_favorite.unwrap_or(false),
    };
    add(&app, &caller, context, body.transfer_type, new).await
}

/// Keeps a mobile wallet, to be paid again.
#[utoipa::path(
    post, path = "/v1/payments/beneficiaries/mwallet", tag = "Beneficiaries",
    params(WriteHeaders), request_body = NewWalletBeneficiary,
    responses((status = 201, description = "Added.", body = AddedBeneficiary), WriteProblems)
)]
async fn add_wallet_beneficiary(
    State(app): State<App>,
    write: Write<WriteTransactions, NewWalletBeneficiary>,
) -> Result<Answer<AddedBeneficiary>, Problem> {
    let Write { caller, body, context, .. } = write;
    let phone_number = Personal::new(body.phone_number.into());
    let new = NewBeneficiary {
        payee: Payee::Wallet { provider: wallet_provider(&app, body.wallet_provider)?, phone_number },
        name: None,
        institution: None,
        nickname: body.nickname.map(String::from),
        is_favorite: body.is_favorite.unwrap_or(false),
    };
    add(&app, &caller, context, body.transfer_type, new).await
}

/// Keeps a beneficiary no longer.
#[utoipa::path(
    delete, path = "/v1/payments/beneficiaries/{beneficiaryId}", tag = "Beneficiaries",
    params(InPath<BeneficiaryId>, WriteHeaders),
    responses((status = 200, description = "Removed.", body = RemovedBeneficiary), WriteProblems)
)]
async fn remove_beneficiary(
    State(app): State<App>,
    id: InPath<BeneficiaryId>,
    write: Write<WriteTransactions, Nothing>,
) -> Result<Answer<RemovedBeneficiary>, Problem> {
    let Write { caller, context, .. } = write;
    let committed = beneficiaries::remove(&app.journal, context, caller.user(), id.get()?).await?;
    let (recorded, id) = committed.event(|event| match event {
        Event::Beneficiaries(BeneficiariesEvent::Removed { id }) => Some(id),
        _ => None,
    })?;
    let result = RemovedBeneficiary {
        status: "SUCCESS",
        beneficiary_id: id.to_string(),
        deleted_at: recorded.recorded_at,
        message: "Beneficiary removed",
    };
    Ok(Answer::ok(result).at(&committed))
}

/// One page of those of a kind whom the caller keeps.
async fn kept<T: From<BeneficiaryRow> + ToSchema>(
    app: &App,
    caller: &Caller,
    wants: &Conditions,
    kind: BeneficiaryKind,
    query: ListBeneficiaries,
) -> Result<Answer<BeneficiaryList<T>>, Problem> {
    app.fresh(caller, wants, &["beneficiaries"]).await?;
    let filter = BeneficiaryFilter { is_favorite: query.is_favorite, q: query.q.0 };
    let found = of_owner(&app.pool, caller.user(), kind, &filter, query.sort, query.page).await?;
    Ok(Answer::ok(BeneficiaryList {
        pagination: Pagination::of(query.page, found.total),
        beneficiaries: found.items.into_iter().map(T::from).collect(),
    }))
}

/// Adds somebody to the caller's list. A `transferType` that is given must be that of the route.
async fn add(
    app: &App,
    caller: &Caller,
    context: Context,
    given: Option<OneOf<BeneficiaryKind>>,
    new: NewBeneficiary,
) -> Result<Answer<AddedBeneficiary>, Problem> {
    let kind = new.payee.kind();
    if given.is_some_and(|OneOf(given)| given != kind) {
        let message = format!("expected {kind} here");
        return Err(Problem::bad_request("/transferType", "UNKNOWN_VALUE", message));
    }
    let committed = beneficiaries::add(&app.journal, context, caller.user(), new).await?;
    let (recorded, added) = committed.event(|event| match event {
        Event::Beneficiaries(BeneficiariesEvent::Added(added)) => Some(&**added),
        _ => None,
    })?;
    let result = AddedBeneficiary::of(recorded, added);
    let location = format!("/v1/payments/beneficiaries/{}", result.beneficiary_id);
    Ok(Answer::ok(result).at(&committed).created(&location))
}
