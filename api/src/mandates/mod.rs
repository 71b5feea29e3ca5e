//! Standing instructions: paying somebody on certain days.

mod views;

use axum::extract::State;
use bursar_commands::accounts;
use bursar_commands::mandates::{self, Order, Payee};
use bursar_domain::kernel::{Frequency, MandateId, micros, utc_date};
use bursar_domain::mandates::{Edits, MandateEvent, MandateStatus, MandateType, Plan};
use bursar_domain::{AccountNumber, Amount, Currency, Event};
use bursar_projections::mandates::{
    MandateFilter, MandateSort, as_of as as_of_mandate, history, of_owner, owned,
};
use bursar_projections::{Page, Sort};
use jiff::Timestamp;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, ReadAccount, WriteTransactions};
use crate::calendar::calendar;
use crate::openapi::{IfMatch, ReadHeaders, ReadProblems, WriteHeaders, WriteProblems};
use crate::paging::Pagination;
use crate::past::{PastQuery, within_log};
use crate::payments::rail;
use crate::problem::Problem;
use crate::request::{
    BillerId, Code, Conditions, DayNumber, Edit, InPath, OneOf, Queried, Search, Text, Title, Write,
};
use crate::{query, request};
use views::{MandateCancelled, MandateChanged, MandateDetails, MandateInfo, MandateList, MandateResult};

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list_mandates, create_mandate)).routes(routes!(
        read_mandate,
        change_mandate,
        cancel_mandate
    ))
}

/// The read model of mandates.
const MODEL: &str = "mandates";
/// Days of its history that a mandate is shown with.
const SHOWN: Page = Page { page: 1, size: 100 };

request! {
    /// A standing instruction. Days are UTC days; a payment is made at 00:00 UTC.
    MandateRequest {
        /// What the caller calls it; the description or the beneficiary's name when absent.
        mandate_name: Option<Title<140>> = "mandateName",
        /// `PAYMENT` when absent.
        mandate_type: Option<OneOf<MandateType>> = "mandateType",
        /// Each payment, minor units, 1 to 10^15.
        amount: Amount = "amount",
        /// ISO 4217; both accounts must have it.
        currency: Currency = "currency",
        /// How often.
        frequency: OneOf<Frequency> = "frequency",
        /// From when on. Days before today are passed over.
        start_date: Timestamp = "startDate",
        /// Until when, that day included; for ever when absent.
        end_date: Option<Timestamp> = "endDate",
        /// The account that is credited: of this bank; of the bank in `bankCode`; or the customer's number at `billerId`.
        beneficiary_account: Text<64> = "beneficiaryAccount",
        /// The beneficiary's name as the payer knows it.
        beneficiary_name: Option<Text<140>> = "beneficiaryName",
        /// The beneficiary's bank, as in `/v1/payments/banks/external`; this bank when absent.
        bank_code: Option<Code<40>> = "bankCode",
        /// The biller, as in `/v1/billers`, when it is a bill.
        biller_id: Option<BillerId> = "billerId",
        /// What is bought of the biller; whatever costs the amount when absent.
        item_id: Option<Code<40>> = "itemId",
        /// What it is for; the narration of its payments.
        description: Option<Text<500>> = "description",
        /// The caller's account that is debited.
        source_account: AccountNumber = "sourceAccount",
        /// The day of the month (1 to 31; a shorter month has its last day instead) or, for `WEEKLY`, of the week (1 to 7, 1
        /// is Monday); that of `startDate` when absent. Nothing to `DAILY`.
        execution_day: Option<DayNumber> = "executionDay",
        /// Whether it begins at once; true when absent.
        is_active: Option<bool> = "isActive",
    }
}

request! {
    /// What is to be different about a mandate. What is absent stays as it is.
    MandateChange {
        /// What the caller calls it.
        mandate_name: Option<Title<140>> = "mandateName",
        /// Each payment, minor units, 1 to 10^15.
        amount: Option<Amount> = "amount",
        /// How often.
        frequency: Option<OneOf<Frequency>> = "frequency",
        /// Until when, that day included; null for ever.
        end_date: Edit<Timestamp> = "endDate",
        /// What it is for; null for nothing.
        description: Edit<Text<500>> = "description",
        /// The day of the month or week.
        execution_day: Option<DayNumber> = "executionDay",
        /// False: no payments for a while. True: payments again; what was due in between is passed over.
        is_active: Option<bool> = "isActive",
    }
}

request! {
    /// Why a mandate is ended. Nothing needs to be said.
    MandateCancellation {
        /// Why, in the caller's words.
        cancellation_reason: Option<Text<500>> = "cancellationReason",
    }
}

query! {
    /// Which mandates are listed, and how.
    ListMandates {
        /// Only in this state.
        status: Option<OneOf<MandateStatus>> = "status",
        /// Only of this kind.
        mandate_type: Option<OneOf<MandateType>> = "mandateType",
        /// Text in name, description, or the beneficiary's name or number.
        q: Search = "q",
        /// The order; newest first when absent.
        sort: Sort<MandateSort> = "sort",
        /// Which part.
        page: Page = "page",
    }
}

/// Lists the caller's standing instructions.
#[utoipa::path(
    get, path = "/v1/mandates", tag = "Standing instructions", params(ListMandates, ReadHeaders),
    responses((status = 200, description = "The mandates.", body = MandateList), ReadProblems)
)]
async fn list_mandates(
    State(app): State<App>,
    caller: Allowed<ReadAccount>,
    wants: Conditions,
    Queried(query): Queried<ListMandates>,
) -> Result<Answer<MandateList>, Problem> {
    app.fresh(&caller, &wants, &[MODEL]).await?;
    let filter = MandateFilter {
        status: query.status.map(|OneOf(status)| status),
        mandate_type: query.mandate_type.map(|OneOf(kind)| kind),
        q: query.q.0,
    };
    let found = of_owner(&app.pool, caller.user(), &filter, query.sort, query.page).await?;
    Ok(Answer::ok(MandateList {
        pagination: Pagination::of(query.page, found.total),
        mandates: found.items.into_iter().map(MandateInfo::from).collect(),
    }))
}

/// Gives a standing instruction: to pay an account of this bank or of another, or a bill, at 00:00 UTC on certain days.
///
/// A payment that is refused is tried again twice on the same day, four hours apart. After three failed days in a row the
/// mandate is paused. After downtime, what was missed is made up for, oldest first.
#[utoipa::path(
    post, path = "/v1/mandates", tag = "Standing instructions",
    params(WriteHeaders), request_body = MandateRequest,
    responses((status = 201, description = "Given.", body = MandateResult), WriteProblems)
)]
async fn create_mandate(
    State(app): State<App>,
    write: Write<WriteTransactions, MandateRequest>,
) -> Result<Answer<MandateResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    let source = body.source_account.clone();
    let order = order(&app, body)?;
    let source = accounts::owned(&app.journal, caller.user(), &source).await?;
    let committed = mandates::set_up(&app.journal, app.reference, context, &source, order).await?;
    let (recorded, set_up) = committed.event(|event| match event {
        Event::Mandate(MandateEvent::SetUp(set_up)) => Some(&**set_up),
        _ => None,
    })?;
    let location = format!("/v1/mandates/{}", recorded.stream.id);
    Ok(Answer::ok(MandateResult::of(recorded, set_up)).at(&committed).created(&location))
}

/// Reads a standing instruction of the caller's, with what became of its last hundred days; now, or as it was.
#[utoipa::path(
    get, path = "/v1/mandates/{mandateId}", tag = "Standing instructions", params(InPath<MandateId>, PastQuery, ReadHeaders),
    responses((status = 200, description = "The mandate.", body = MandateDetails), ReadProblems)
)]
async fn read_mandate(
    State(app): State<App>,
    caller: Allowed<ReadAccount>,
    wants: Conditions,
    id: InPath<MandateId>,
    Queried(PastQuery { as_of }): Queried<PastQuery>,
) -> Result<Answer<MandateDetails>, Problem> {
    app.fresh(&caller, &wants, &[MODEL]).await?;
    within_log(&app, as_of)?;
    let missing = || Problem::not_found("mandate");
    let row = owned(&app.pool, caller.user(), id.get()?).await?.ok_or_else(missing)?;
    let (row, days) = match as_of {
        None => {
            let days = history(&app.pool, row.mandate_id, SHOWN).await?;
            (row, days.items)
        }
        Some(then) => {
            let (pool, shown) = (&app.pool, SHOWN.size as usize);
            let past = as_of_mandate(pool, app.journal.codec(), &row, then, shown).await?;
            past.ok_or_else(missing)?
        }
    };
    let version = row.version;
    Ok(Answer::ok(MandateDetails::of(row, days)).tagged(version, wants.none_match))
}

/// Changes a standing instruction, pauses it, or lets it go on.
#[utoipa::path(
    put, path = "/v1/mandates/{mandateId}", tag = "Standing instructions",
    params(InPath<MandateId>, WriteHeaders, IfMatch), request_body = MandateChange,
    responses((status = 200, description = "Changed.", body = MandateChanged), WriteProblems)
)]
async fn change_mandate(
    State(app): State<App>,
    id: InPath<MandateId>,
    write: Write<WriteTransactions, MandateChange>,
) -> Result<Answer<MandateChanged>, Problem> {
    let Write { caller, body, context, .. } = write;
    let edits = Edits {
        name: body.mandate_name.map(String::from),
        amount: body.amount,
        frequency: body.frequency.map(|OneOf(frequency)| frequency),
        execution_day: body.execution_day.map(|DayNumber(day)| day),
        ends_at: body.end_date.change(micros),
        description: body.description.change(String::from),
        is_active: body.is_active,
        today: utc_date(app.journal.sources().clock.now()),
    };
    let committed = mandates::change(&app.journal, context, caller.user(), id.get()?, edits).await?;
    Ok(Answer::ok(MandateChanged::of(&committed)?).at(&committed))
}

/// Ends a standing instruction for good.
#[utoipa::path(
    delete, path = "/v1/mandates/{mandateId}", tag = "Standing instructions",
    params(InPath<MandateId>, WriteHeaders, IfMatch), request_body = MandateCancellation,
    responses((status = 200, description = "Ended.", body = MandateCancelled), WriteProblems)
)]
async fn cancel_mandate(
    State(app): State<App>,
    id: InPath<MandateId>,
    write: Write<WriteTransactions, MandateCancellation>,
) -> Result<Answer<MandateCancelled>, Problem> {
    let Write { caller, body, context, .. } = write;
    let (user, id, reason) = (caller.user(), id.get()?, body.cancellation_reason.map(String::from));
    let committed = mandates::cancel(&app.journal, context, user, id, reason).await?;
    Ok(Answer::ok(MandateCancelled::of(&committed)?).at(&committed))
}

/// The mandate that a request describes.
fn order(app: &App, body: MandateRequest) -> Result<Order, Problem> {
    let OneOf(frequency) = body.frequency;
    let calendar = calendar(frequency, body.start_date, body.end_date, body.execution_day)?;
    let payee_name = body.beneficiary_name.map(String::from);
    let description = body.description.map(String::from);
    let name = body.mandate_name.map(String::from).or_else(|| description.clone());
    let name = name.or_else(|| payee_name.clone()).unwrap_or_else(|| "Standing instruction".to_owned());
    let number = String::from(body.beneficiary_account);
    let payee = match (body.bank_code, body.biller_id) {
        (Some(_), Some(_)) => {
            let message = "a beneficiary is at a bank or at a biller, not at both";
            return Err(Problem::bad_request("/billerId", "CONTRADICTION", message));
        }
        (Some(bank), None) => {
            rail(app)?;
            Payee::Bank { bank_code: bank.into(), account_number: number }
        }
        (None, Some(biller)) => {
            rail(app)?;
            Payee::Biller {
                biller_id: biller.0,
                item_id: body.item_id.map(String::from),
                account_number: number,
            }
        }
        (None, None) => Payee::Account(number.parse().map_err(|_| {
            let message = "an account number is ten digits, the last one a check digit";
            Problem::bad_request("/beneficiaryAccount", "MALFORMED", message)
        })?),
    };
    Ok(Order {
        mandate_type: body.mandate_type.map_or(MandateType::Payment, |OneOf(kind)| kind),
        payee,
        payee_name,
        currency: body.currency,
        plan: Plan {
            name,
            amount: body.amount,
            calendar,
            starts_at: micros(body.start_date),
            ends_at: body.end_date.map(micros),
            description,
        },
        is_active: body.is_active.unwrap_or(true),
    })
}
