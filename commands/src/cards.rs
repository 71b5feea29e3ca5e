//! Linking cards, blocking and removing them. A card's number and security code come as far as this file and no further.

use bursar_domain::Personal;
use bursar_domain::cards::{
    Card, CardCommand, CardError, CardExpiry, CardForm, CardLimits, CardNumber, CardType, DeliveryAddress,
    END_BLOCK, Linked, Requested, masked,
};
use bursar_domain::kernel::{CardId, CardRequestId, Origin, UserId, end_of_day, seconds_until, utc_date};
use bursar_domain::messages::{Category, MessagesCommand};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use jiff::civil::Date;

use crate::journal::Holding;
use crate::keys::{Keys, hex, sha256};
use crate::messages::notice;
use crate::owned::{CommandError, Owned, once};
use crate::processes::{self, Done, Task, Work};
use crate::{Committed, Context, Journal, Unit};

/// The namespace in which cards are claimed, one by each holder.
const CARD: &str = "card";
/// The namespace in which the places for cards that somebody links in a day are claimed.
const LINKED: &str = "card link";
/// Said of a place that is taken.
const LINKED_ENOUGH: &str = "TOO_MANY_CARDS";
/// The namespace in which the numbers of the bank's own cards are claimed.
const OWN_CARD: &str = "own card";
/// How many numbers are tried before giving up. There are a thousand million for each issuer identification number.
const DRAWS: usize = 8;

/// A card of another bank that a customer wants to link.
#[derive(Debug, Clone)]
pub struct NewCard {
    /// Its full number.
    pub number: CardNumber,
    /// The brand's code.
    pub brand: String,
    /// Whose money it spends.
    pub card_type: CardType,
    /// Until when it is good.
    pub expiry: CardExpiry,
    /// The name on it.
    pub holder_name: Option<String>,
    /// Who issued it.
    pub issuing_bank: Option<String>,
    /// Whether it takes the place of the holder's default.
    pub is_default: bool,
    /// What may be taken from it.
    pub limits: CardLimits,
}

/// A card of the bank's own that a customer wants.
#[derive(Debug, Clone)]
pub struct WantedCard {
    /// Whether it is something to hold.
    pub form: CardForm,
    /// The issuer identification number: six digits.
    pub bin: String,
    /// The brand's code.
    pub brand: String,
    /// Until when it is good.
    pub expiry: CardExpiry,
    /// The name on it.
    pub holder_name: Option<String>,
    /// Where it is sent.
    pub deliver_to: Option<DeliveryAddress>,
    /// The day it should be there.
    pub deliver_by: Date,
    /// Whether it takes the place of the holder's default once it is active.
    pub is_default: bool,
    /// What may be spent with it.
    pub limits: CardLimits,
}

/// A card that its holder has.
#[derive(Debug, Clone)]
pub struct HeldCard {
    /// Its id.
    pub id: CardId,
    /// Its number, all but the last four digits masked.
    pub masked_number: String,
}

/// How a card is claimed: the namespace, and the code of the refusal.
pub(crate) const CLAIM: (&str, &str) = (CARD, "CARD_EXISTS");

/// Those of `tokens` that are linked to their holders, or were.
///
/// # Errors
/// When the store cannot be reached.
pub async fn known_tokens(
    journal: &Journal,
    tokens: &[[u8; 32]],
) -> Result<std::collections::HashSet<[u8; 32]>, CommandError> {
    Ok(journal.held(CARD, tokens).await?)
}

/// The card as the log holds it: neither its number nor its security code.
#[must_use]
pub fn linked(token: &[u8; 32], owner: UserId, new: NewCard, origin: Option<Origin>) -> Linked {
    Linked {
        owner,
        token: Personal::new(hex(token)),
        bin: new.number.bin().to_owned(),
        last_four: new.number.last_four().to_owned(),
        brand: new.brand,
        card_type: new.card_type,
        expiry: new.expiry,
        holder_name: new.holder_name.map(Personal::new),
        issuing_bank: new.issuing_bank,
        is_default: new.is_default,
        limits: new.limits,
        origin,
    }
}

/// Links a card to its holder, of whom so many are linked `a_day` (UTC). One that they had linked before and removed comes
/// back under its id, with what was spent on it.
///
/// # Errors
/// `CARD_EXISTS` while it is linked, `CARD_EXPIRED`, `TOO_MANY_CARDS`.
pub async fn link(
    journal: &Journal,
    keys: &Keys,
    context: Context,
    owner: UserId,
    new: NewCard,
    a_day: u32,
) -> Result<Committed, CommandError> {
    let token = keys.card_token(owner, &new.number);
    let card = Box::new(linked(&token, owner, new, None));
    let now = journal.sources().clock.now();
    let (today, holder) = (utc_date(now), journal.holder(CARD, &token).await?);
    let places: Vec<_> = (0..a_day).map(|nth| sha256(format!("{owner}:{today}:{nth}").as_bytes())).collect();
    let taken = journal.held(LINKED, &places).await?;
    // The last one is tried taken or not: a repeat is told what it was told before.
    for place in places.iter().filter(|place| !taken.contains(*place)).chain(places.last()) {
        let link = CardCommand::Link { card: card.clone(), at: now };
        // Whoever holds a claim may claim it again: each try is somebody else.
        let unit =
            Unit::new(context.clone()).claim(LINKED, *place, CardId::mint(journal.sources()), LINKED_ENOUGH);
        let unit = match &holder {
            Some(id) => unit.step_of(owner, id, link),
            None => {
                let id = CardId::mint(journal.sources());
                unit.create(id, link).claim(CARD, token, id, "CARD_EXISTS")
            }
        };
        match journal.submit(unit).await.map_err(CommandError::from) {
            // Somebody else has taken this place since.
            Err(error) if error.code() == Some(LINKED_ENOUGH) => {}
            answer => return answer,
        }
    }
    let retry_after = seconds_until(now, end_of_day(today));
    Err(CommandError::refused(CardError::TooManyLinks { allowed: a_day, retry_after }))
}

/// Asks for a card of the bank's own that spends the money of `account`.
///
/// # Errors
/// `CARD_NOT_OFFERED`, when the bank's issuer identification number is none.
pub async fn request(
    journal: &Journal,
    keys: &Keys,
    context: Context,
    account: &Owned<Holding>,
    wanted: WantedCard,
) -> Result<Committed, CommandError> {
    let (owner, sources) = (account.owner(), journal.sources());
    let mut taken = None;
    for _ in 0..DRAWS {
        let id = CardId::mint(sources);
        let number = CardNumber::issue(&wanted.bin, keys.card_serial(id));
        let number = number.map_err(|_| CommandError::refused(CardError::NotIssued))?;
        let request = CardCommand::Request(Box::new(Requested {
            owner,
            request_id: CardRequestId::mint(sources),
            form: wanted.form,
            linked_account: account.number.clone(),
            bin: number.bin().to_owned(),
            last_four: number.last_four().to_owned(),
            brand: wanted.brand.clone(),
            expiry: wanted.expiry,
            holder_name: wanted.holder_name.clone().map(Personal::new),
            deliver_to: wanted.deliver_to.clone().map(Personal::new),
            deliver_by: wanted.deliver_by,
            is_default: wanted.is_default,
            limits: wanted.limits,
        }));
        let unit = Unit::new(context.clone()).create(id, request);
        let unit = unit.claim(OWN_CARD, keys.own_card_token(&number), id, "CARD_EXISTS");
        match journal.submit(unit).await.map_err(CommandError::from) {
            Err(error) if error.code() == Some("CARD_EXISTS") => taken = Some(error),
            answer => return answer,
        }
    }
    Err(taken.unwrap_or_else(CommandError::unavailable))
}

/// Staff: a card of the bank's own is in its holder's hands, and can be used.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` unless it is pending; `CARD_EXPIRED`.
pub async fn activate(
    journal: &Journal,
    context: Context,
    id: CardId,
    note: Option<String>,
) -> Result<Committed, CommandError> {
    // Answered as then: its holder may have removed it since.
    once(journal, context, async |context| {
        let sources = journal.sources();
        let (card, _) = journal.load::<Card>(&id.to_string()).await?;
        let held = card.kept().ok_or_else(|| CommandError::refused(CardError::Unknown))?;
        let told = format!("Your card {} can be used.", masked(&held.last_four));
        let notice = notice(sources, Category::Security, "Card activated", told);
        let unit = Unit::new(context).step(id, CardCommand::Activate { note, at: sources.clock.now() });
        Ok(journal.submit(unit.step(held.owner, MessagesCommand::Post(Box::new(notice)))).await?)
    })
    .await
}

/// Takes a card from its holder's cards.
///
/// # Errors
/// `NOT_FOUND`.
pub async fn remove(
    journal: &Journal,
    context: Context,
    owner: UserId,
    id: CardId,
) -> Result<Committed, CommandError> {
    Ok(journal.submit(Unit::new(context).step_of(owner, id, CardCommand::Remove)).await?)
}

/// Lets no money be taken from a card: until `until`, until somebody unblocks it, or, when the reason is that it was
/// lost or stolen, ever again.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` unless it is active.
pub async fn block(
    journal: &Journal,
    context: Context,
    owner: UserId,
    id: CardId,
    reason: Option<String>,
    until: Option<Timestamp>,
) -> Result<Committed, CommandError> {
    let block = CardCommand::Block { reason, until };
    Ok(journal.submit(Unit::new(context).step_of(owner, id, block)).await?)
}

/// Lets money be taken from a card again.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` unless it is blocked, or when it was reported lost or stolen.
pub async fn unblock(
    journal: &Journal,
    context: Context,
    owner: UserId,
    id: CardId,
) -> Result<Committed, CommandError> {
    Ok(journal.submit(Unit::new(context).step_of(owner, id, CardCommand::Unblock)).await?)
}

/// Ends blocks that were for a while.
pub struct EndBlocks(Journal);

impl EndBlocks {
    /// The task of this bank.
    #[must_use]
    pub const fn new(journal: Journal) -> Self {
        Self(journal)
    }

    async fn end(&self, work: &Work) -> Result<Done, CommandError> {
        let end = CardCommand::EndBlock { at: work.now };
        let context = processes::context(END_BLOCK, &work.subject, &work.due_at.to_string());
        self.0.submit(Unit::new(context).step(&work.subject, end)).await?;
        Ok(Done::Finished)
    }
}

impl Task for EndBlocks {
    fn name(&self) -> &'static str {
        END_BLOCK
    }

    fn run<'a>(&'a self, work: &'a Work) -> BoxFuture<'a, Result<Done, CommandError>> {
        self.end(work).boxed()
    }
}

/// The card `id`, if `owner` has it.
///
/// # Errors
/// `NOT_FOUND` when it does not exist, was removed or is somebody else's; the three cannot be told apart.
pub async fn owned(journal: &Journal, owner: UserId, id: CardId) -> Result<Owned<HeldCard>, CommandError> {
    let (card, _) = journal.load::<Card>(&id.to_string()).await?;
    let held = card.kept().filter(|held| held.owner == owner);
    let held = held.ok_or_else(|| CommandError::refused(CardError::Unknown))?;
    Ok(Owned::new(owner, HeldCard { id, masked_number: masked(&held.last_four) }))
}
