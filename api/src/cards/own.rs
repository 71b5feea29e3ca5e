//! Cards of the bank's own: asked for, and activated by staff when they are in their holder's hands.

use axum::extract::State;
use bursar_commands::cards::WantedCard;
use bursar_commands::journal::Holding;
use bursar_commands::{accounts, cards};
use bursar_domain::cards::{
    CardError, CardEvent, CardExpiry, CardForm, CardLimits, CardNumber, DeliveryAddress, masked,
};
use bursar_domain::kernel::{CardId, utc_date};
use bursar_domain::{AccountNumber, Event};
use bursar_projections::accounts::{Account, owned};
use bursar_projections::cards::CardRow;
use jiff::ToSpan as _;

use super::views::{ActivatedCard, RequestedCard};
use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Caller, CardOps, WriteTransactions};
use crate::compliance::fields::Country;
use crate::openapi::{IfMatch, WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request;
use crate::request::{Conditions, InPath, Minor, OneOf, Text, Title, Write};

request! {
    /// Where a card is sent.
    DeliverTo {
        /// House and street.
        street_address: Title<200> = "streetAddress",
        /// The city or town.
        city: Title<100> = "city",
        /// The state.
        state: Option<Title<100>> = "state",
        /// The postal code.
        postal_code: Option<Title<20>> = "postalCode",
        /// The country: its ISO 3166-1 code of two or three letters, or its English name.
        country: Country = "country",
    }
}

request! {
    /// A card of the bank's own that is wanted.
    RequestCard {
        /// `PHYSICAL` when absent, or `VIRTUAL`.
        card_type: Option<OneOf<CardForm>> = "cardType",
        /// One of the brands that the bank issues; the usual one when absent.
        card_brand: Option<Text<32>> = "cardBrand",
        /// The caller's account whose money it shall spend.
        linked_account: AccountNumber = "linkedAccount",
        /// The name on the card.
        card_holder_name: Option<Text<140>> = "cardHolderName",
        /// Where a `PHYSICAL` card is sent; passed over for any other.
        delivery_address: Option<DeliverTo> = "deliveryAddress",
        /// Whether it takes the place of the caller's default once it is active.
        is_default: Option<bool> = "isDefault",
        /// What may be spent a UTC day, minor units: the bank's limit or less; that when absent.
        daily_limit: Option<Minor> = "dailyLimit",
        /// What may be spent a UTC month, minor units: the bank's limit or less; that when absent.
        monthly_limit: Option<Minor> = "monthlyLimit",
    }
}

request! {
    /// A card of the bank's own that is in its holder's hands.
    CardOrder {
        /// How staff know, for the file.
        note: Option<Text<500>> = "note",
    }
}

/// Asks for a card of the bank's own. It is `PENDING` until staff say that it is in the caller's hands.
#[utoipa::path(
    post, path = "/v1/cards/internal", tag = "Cards", params(WriteHeaders), request_body = RequestCard,
    responses((status = 201, description = "Requested.", body = RequestedCard), WriteProblems)
)]
pub(super) async fn request_card(
    State(app): State<App>,
    write: Write<WriteTransactions, RequestCard>,
) -> Result<Answer<RequestedCard>, Problem> {
    let Write { caller, body, context, .. } = write;
    let account = accounts::owned(&app.journal, caller.user(), &body.linked_account).await?;
    let wanted = wanted(&app, &account, body)?;
    let committed = cards::request(&app.journal, &app.keys, context, &account, wanted).await?;
    let (recorded, card) = committed.event(|event| match event {
        Event::Card(CardEvent::Requested(card)) => Some(card),
        _ => None,
    })?;
    let result = RequestedCard {
        status: "SUCCESS",
        request_id: card.request_id.to_string(),
        card_id: recorded.stream.id.to_string(),
        card_type: card.form.as_str(),
        card_brand: card.brand.clone(),
        card_status: "PENDING",
        card_number: masked(&card.last_four),
        expiry_date: card.expiry.to_string(),
        daily_limit: card.limits.daily,
        monthly_limit: card.limits.monthly,
        estimated_delivery_date: card.deliver_by,
        requested_at: recorded.recorded_at,
        message: "Card requested",
    };
    let location = format!("/v1/cards/{}", result.card_id);
    Ok(Answer::ok(result).at(&committed).created(&location))
}

/// Staff: a card of the bank's own is in its holder's hands, and can be used.
#[utoipa::path(
    post, path = "/v1/staff/cards/{cardId}/activate", tag = "Staff",
    params(InPath<CardId>, WriteHeaders, IfMatch), request_body = CardOrder,
    responses((status = 200, description = "Active.", body = ActivatedCard), WriteProblems)
)]
pub(super) async fn activate_card(
    State(app): State<App>,
    id: InPath<CardId>,
    write: Write<CardOps, CardOrder>,
) -> Result<Answer<ActivatedCard>, Problem> {
    let Write { body, context, .. } = write;
    let note = body.note.map(String::from);
    let committed = cards::activate(&app.journal, context, id.get()?, note).await?;
    let (recorded, ()) =
        committed.event(|event| matches!(event, Event::Card(CardEvent::Activated(_))).then_some(()))?;
    let result = ActivatedCard {
        status: "SUCCESS",
        card_id: recorded.stream.id.to_string(),
        card_status: "ACTIVE",
        activated_at: recorded.recorded_at,
        message: "Card activated",
    };
    Ok(Answer::ok(result).at(&committed))
}

/// The account that a card of the bank's own spends.
pub(super) async fn account(
    app: &App,
    caller: &Caller,
    wants: &Conditions,
    row: &CardRow,
) -> Result<Option<Account>, Problem> {
    let Some(number) = &row.linked_account else { return Ok(None) };
    app.fresh(caller, wants, &[ACCOUNTS]).await?;
    Ok(owned(&app.pool, row.owner, number).await?)
}

/// The read model that knows what is on an account.
const ACCOUNTS: &str = "accounts";

/// The card that the body describes, if the bank issues such.
fn wanted(app: &App, account: &Holding, body: RequestCard) -> Result<WantedCard, Problem> {
    let settings = &app.config.cards;
    let brand = body.card_brand.map(String::from);
    let issued = settings.issued.iter().filter_map(|bin| {
        // The digits after it do not tell the brand.
        let number = CardNumber::issue(bin, 0).ok()?;
        Some((bin, app.reference.card_brands.of(&number)?))
    });
    let mut issued = issued.filter(|(_, range)| {
        brand.as_ref().is_none_or(|brand| {
            brand.eq_ignore_ascii_case(&range.brand_code) || brand.eq_ignore_ascii_case(&range.brand_name)
        })
    });
    let (bin, range) = issued.next().ok_or_else(|| Problem::refused(&CardError::NotIssued))?;
    let form = body.card_type.map_or(CardForm::Physical, |OneOf(form)| form);
    let deliver_to = match (form, body.delivery_address) {
        (CardForm::Virtual, _) => None,
        (CardForm::Physical, Some(address)) => Some(address.into()),
        (CardForm::Physical, None) => {
            let message = "a card that is sent needs an address";
            return Err(Problem::bad_request("/deliveryAddress", "REQUIRED", message));
        }
    };
    let limits = CardLimits {
        currency: account.currency,
        daily: lowered("dailyLimit", body.daily_limit, settings.daily_limit)?,
        monthly: lowered("monthlyLimit", body.monthly_limit, settings.monthly_limit)?,
    };
    let today = utc_date(app.journal.sources().clock.now());
    let days = if form == CardForm::Physical { settings.delivery_days } else { 0 };
    // The calendar goes on for eight thousand years.
    let last = today.saturating_add(i32::from(settings.validity_months).months());
    Ok(WantedCard {
        form,
        bin: bin.clone(),
        brand: range.brand_code.clone(),
        expiry: CardExpiry::of(last),
        holder_name: body.card_holder_name.map(String::from),
        deliver_to,
        deliver_by: today.saturating_add(i32::from(days).days()),
        is_default: body.is_default.unwrap_or(false),
        limits,
    })
}

/// A limit of the caller's choice, which the bank's is the upper end of.
fn lowered(limit: &'static str, wanted: Option<Minor>, allowed: i64) -> Result<i64, Problem> {
    match wanted {
        None => Ok(allowed),
        Some(Minor(wanted)) if wanted <= allowed => Ok(wanted),
        Some(_) => Err(Problem::refused(&CardError::LimitTooHigh { limit, allowed })),
    }
}

impl From<DeliverTo> for DeliveryAddress {
    fn from(to: DeliverTo) -> Self {
        Self {
            street_address: to.street_address.0,
            city: to.city.0,
            state: to.state.map(|state| state.0),
            postal_code: to.postal_code.map(|code| code.0),
            country: to.country.code.to_owned(),
        }
    }
}
