//! Blocking cards, for good or for a while, and unblocking them.

use axum::extract::State;
use bursar_commands::{Committed, cards};
use bursar_domain::Event;
use bursar_domain::cards::{CardEvent, is_report};
use bursar_domain::kernel::{CardId, micros};
use jiff::{SignedDuration, Timestamp};

use super::views::HotlistedCard;
use crate::answer::Answer;
use crate::app::App;
use crate::auth::WriteTransactions;
use crate::openapi::{IfMatch, WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request;
use crate::request::{InPath, OneOf, Text, Write};

/// The longest block that ends by itself.
const LONGEST: SignedDuration = SignedDuration::from_hours(366 * 24);

bursar_domain::spelled! {
    /// What is to be done with a card.
    pub enum HotlistAction {
        /// Let no money be taken from it.
        Block = "BLOCK",
        /// Let money be taken from it again.
        Unblock = "UNBLOCK",
    }
}

request! {
    /// What is to be done with a card.
    Hotlist {
        /// `BLOCK` or `UNBLOCK`.
        action: OneOf<HotlistAction> = "action",
        /// Why. `LOST` and `STOLEN` are final: nothing unblocks the card.
        reason: Option<Text<500>> = "reason",
        /// Whether the block ends by itself.
        temporary: Option<bool> = "temporary",
        /// After how long a temporary block ends: ISO 8601 such as `PT24H`, or `24h`, `7d`; at most 366 days.
        duration: Option<SignedDuration> = "duration",
    }
}

/// Blocks or unblocks a card of the caller. A temporary block ends by itself; `LOST` or `STOLEN` is final.
#[utoipa::path(
    post, path = "/v1/cards/{cardId}/hotlist", tag = "Cards",
    params(InPath<CardId>, WriteHeaders, IfMatch), request_body = Hotlist,
    responses((status = 200, description = "Blocked or unblocked.", body = HotlistedCard), WriteProblems)
)]
pub(super) async fn hotlist_card(
    State(app): State<App>,
    id: InPath<CardId>,
    write: Write<WriteTransactions, Hotlist>,
) -> Result<Answer<HotlistedCard>, Problem> {
    let Write { caller, body, context, .. } = write;
    let id = id.get()?;
    let until = until(&body, app.journal.sources().clock.now())?;
    let reason = body.reason.map(String::from);
    let committed = match body.action.0 {
        HotlistAction::Block => cards::block(&app.journal, context, caller.user(), id, reason, until).await?,
        HotlistAction::Unblock => cards::unblock(&app.journal, context, caller.user(), id).await?,
    };
    let result = hotlisted(&committed)?;
    Ok(Answer::ok(result).at(&committed))
}

/// When the block that is asked for ends by itself.
fn until(body: &Hotlist, now: Timestamp) -> Result<Option<Timestamp>, Problem> {
    if body.action.0 == HotlistAction::Unblock || body.temporary != Some(true) {
        return Ok(None);
    }
    let wrong = |pointer: &str, code, message: &str| Problem::bad_request(pointer, code, message);
    if body.reason.as_ref().is_some_and(|reason| is_report(&reason.0)) {
        return Err(wrong("/temporary", "CONTRADICTION", "a lost or stolen card is blocked for good"));
    }
    let duration =
        body.duration.ok_or_else(|| wrong("/duration", "REQUIRED", "a temporary block has a duration"))?;
    if !duration.is_positive() || duration > LONGEST {
        return Err(wrong("/duration", "OUT_OF_RANGE", "expected more than nothing and at most 366 days"));
    }
    // The clock is far from the end of time; what the schedule cannot hold would come a moment too early.
    now.checked_add(duration).map(|until| Some(micros(until))).map_err(|_| Problem::internal())
}

fn hotlisted(committed: &Committed) -> Result<HotlistedCard, Problem> {
    let (recorded, (action, card_status, message, unblock_date)) = committed.event(|event| match event {
        Event::Card(CardEvent::Blocked(block)) => Some(("BLOCK", "BLOCKED", "Card blocked", block.until)),
        Event::Card(CardEvent::Unblocked { .. }) => Some(("UNBLOCK", "ACTIVE", "Card unblocked", None)),
        _ => None,
    })?;
    Ok(HotlistedCard {
        status: "SUCCESS",
        card_id: recorded.stream.id.to_string(),
        action,
        card_status,
        processed_at: recorded.recorded_at,
        message,
        unblock_date,
    })
}
