//! Cards of the caller.

mod fields;
mod hotlist;
mod own;
mod staff;
mod views;

use axum::extract::State;
use bursar_commands::cards::{self, NewCard};
use bursar_domain::Event;
use bursar_domain::cards::{CardError, CardEvent, CardExpiry, CardLimits, CardNumber, CardStatus, CardType};
use bursar_domain::kernel::{CardId, UserId};
use bursar_domain::reference::CardRange;
use bursar_projections::cards::{CardSort, as_of as as_of_card, of_owner, owned};
use bursar_projections::{Page, Sort};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, Caller, ReadAccount, WriteTransactions};
use crate::openapi::{IfMatch, ReadHeaders, ReadProblems, WriteHeaders, WriteProblems};
use crate::paging::Pagination;
use crate::past::{PastQuery, within_log};
use crate::problem::Problem;
use crate::request::{Conditions, Ignored, InPath, Nothing, OneOf, Queried, Text, Write};
use crate::{query, request};
use fields::SecurityCode;
use views::{CardDetails, CardItem, CardList, LinkedCard, RemovedCard};

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_cards))
        .routes(routes!(read_card, remove_card))
        .routes(routes!(link_card))
        .routes(routes!(hotlist::hotlist_card))
        .routes(routes!(own::request_card))
        .routes(routes!(own::activate_card))
        .routes(routes!(staff::list_customer_cards))
}

/// The read model behind these pages.
const MODEL: &str = "cards";

query! {
    /// Which cards are listed, and how.
    ListCards {
        /// Only in this state.
        status: Option<OneOf<CardStatus>> = "status",
        /// The order; newest first when absent.
        sort: Sort<CardSort> = "sort",
        /// Which part.
        page: Page = "page",
    }
}

request! {
    /// A card of another bank to be linked.
    LinkCard {
        /// The full number: 12 to 19 digits; spaces and hyphens may stand between them. It is not kept.
        card_number: CardNumber = "cardNumber",
        /// `MM/YY`.
        expiry_date: CardExpiry = "expiryDate",
        /// The security code: three digits, four for American Express. It is not kept.
        cvv: SecurityCode = "cvv",
        /// The name on the card.
        card_holder_name: Option<Text<140>> = "cardHolderName",
        /// `DEBIT` when absent.
        card_type: Option<OneOf<CardType>> = "cardType",
        /// Passed over: the number tells.
        card_brand: Option<Ignored> = "cardBrand",
        /// Who issued it.
        issuing_bank: Option<Text<140>> = "issuingBank",
        /// Whether it takes the place of the caller's default.
        is_default: Option<bool> = "isDefault",
    }
}

/// Lists the caller's cards.
#[utoipa::path(
    get, path = "/v1/cards", tag = "Cards", params(ListCards, ReadHeaders),
    responses((status = 200, description = "The cards.", body = CardList), ReadProblems)
)]
async fn list_cards(
    State(app): State<App>,
    caller: Allowed<ReadAccount>,
    wants: Conditions,
    Queried(query): Queried<ListCards>,
) -> Result<Answer<CardList>, Problem> {
    listed(&app, &caller, &wants, caller.user(), query).await
}

/// The cards that `holder` has.
async fn listed(
    app: &App,
    caller: &Caller,
    wants: &Conditions,
    holder: UserId,
    query: ListCards,
) -> Result<Answer<CardList>, Problem> {
    app.fresh(caller, wants, &[MODEL]).await?;
    let now = app.journal.sources().clock.now();
    let status = query.status.map(|OneOf(status)| status);
    let found = of_owner(&app.pool, holder, status, now, query.sort, query.page).await?;
    Ok(Answer::ok(CardList {
        pagination: Pagination::of(query.page, found.total),
        cards: found.items.iter().map(|row| CardItem::of(row, now)).collect(),
    }))
}

/// Reads one card of the caller, now or as it was.
#[utoipa::path(
    get, path = "/v1/cards/{cardId}", tag = "Cards", params(InPath<CardId>, PastQuery, ReadHeaders),
    responses((status = 200, description = "The card.", body = CardDetails), ReadProblems)
)]
async fn read_card(
    State(app): State<App>,
    caller: Allowed<ReadAccount>,
    wants: Conditions,
    id: InPath<CardId>,
    Queried(PastQuery { as_of }): Queried<PastQuery>,
) -> Result<Answer<CardDetails>, Problem> {
    let id = id.get()?;
    app.fresh(&caller, &wants, &[MODEL]).await?;
    within_log(&app, as_of)?;
    let now = app.journal.sources().clock.now();
    let found = match as_of {
        None => owned(&app.pool, caller.user(), id).await?.map(|row| (row, now)),
        Some(then) => as_of_card(&app.pool, app.journal.codec(), caller.user(), id, then).await?,
    };
    let (row, now) = found.ok_or_else(|| Problem::not_found("card"))?;
    let version = row.version;
    let account = match (own::account(&app, &caller, &wants, &row).await?, as_of) {
        (Some(account), Some(then)) => Some(crate::accounts::past(&app, account, then).await?),
        (account, _) => account,
    };
    // What is on the account changes without the card.
    let none_match = wants.none_match.filter(|_| account.is_none());
    let details = CardDetails::of(row, account, &app.config.bank.name, now);
    Ok(Answer::ok(details).tagged(version, none_match))
}

/// Links a card of another bank, to bring money from it. Its number and security code are not kept.
#[utoipa::path(
    post, path = "/v1/cards/external", tag = "Cards",
    params(WriteHeaders), request_body = LinkCard,
    responses((status = 201, description = "Linked.", body = LinkedCard), WriteProblems)
)]
async fn link_card(
    State(app): State<App>,
    write: Write<WriteTransactions, LinkCard>,
) -> Result<Answer<LinkedCard>, Problem> {
    let Write { caller, body, context, .. } = write;
    let (new, a_day) = (printed(&app, body)?, app.config.cards.links_a_day);
    let committed = cards::link(&app.journal, &app.keys, context, caller.user(), new, a_day).await?;
    let (recorded, card) = committed.event(|event| match event {
        Event::Card(CardEvent::Linked(card)) => Some(&**card),
        _ => None,
    })?;
    let result = LinkedCard::of(recorded, card);
    let location = format!("/v1/cards/{}", result.card_id);
    Ok(Answer::ok(result).at(&committed).created(&location))
}

/// Removes a card of the caller. Money that is on its way from it still arrives.
#[utoipa::path(
    delete, path = "/v1/cards/{cardId}", tag = "Cards", params(InPath<CardId>, WriteHeaders, IfMatch),
    responses((status = 200, description = "Removed.", body = RemovedCard), WriteProblems)
)]
async fn remove_card(
    State(app): State<App>,
    id: InPath<CardId>,
    write: Write<WriteTransactions, Nothing>,
) -> Result<Answer<RemovedCard>, Problem> {
    let Write { caller, context, .. } = write;
    let committed = cards::remove(&app.journal, context, caller.user(), id.get()?).await?;
    let (recorded, ()) =
        committed.event(|event| matches!(event, Event::Card(CardEvent::Removed { .. })).then_some(()))?;
    let result = RemovedCard {
        status: "SUCCESS",
        card_id: recorded.stream.id.to_string(),
        removed_at: recorded.recorded_at,
        message: "Card removed",
    };
    Ok(Answer::ok(result).at(&committed))
}

/// The card that the body describes, if what is printed on it fits together. The security code ends here.
fn printed(app: &App, body: LinkCard) -> Result<NewCard, Problem> {
    let range = app.reference.card_brands.of(&body.card_number);
    let range: &CardRange = range.ok_or_else(|| Problem::refused(&CardError::UnknownBrand))?;
    let wrong = |pointer: &str, message: String| Problem::bad_request(pointer, "MALFORMED", message);
    if !range.pan_lengths.contains(&body.card_number.digits().len()) {
        let message = format!("a {} number has not so many digits", range.brand_name);
        return Err(wrong("/cardNumber", message));
    }
    if body.cvv.length != range.security_code_length {
        let message = format!(
            "the security code of a {} card has {} digits",
            range.brand_name, range.security_code_length
        );
        return Err(wrong("/cvv", message));
    }
    let settings = &app.config.cards;
    Ok(NewCard {
        number: body.card_number,
        brand: range.brand_code.clone(),
        card_type: body.card_type.map_or(CardType::Debit, |OneOf(card_type)| card_type),
        expiry: body.expiry_date,
        holder_name: body.card_holder_name.map(String::from),
        issuing_bank: body.issuing_bank.map(String::from),
        is_default: body.is_default.unwrap_or(false),
        limits: CardLimits {
            currency: settings.currency,
            daily: settings.daily_limit,
            monthly: settings.monthly_limit,
        },
    })
}
