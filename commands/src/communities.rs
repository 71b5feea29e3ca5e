//! Communities: beginning one, who is in it, what they contribute, and what they take out.

use bursar_domain::accounts::{AccountCommand, OpenAccount};
use bursar_domain::communities::{
    Answer, Category as CommunityCategory, Club, Community, CommunityCommand, CommunityError, Contacts,
    Member, NewCommunity, NewInvitation, NewRequest, NewWithdrawal, Role, Rules,
};
use bursar_domain::kernel::{
    Calendar, CommunityId, InvitationId, MandateId, ParticipantId, TransactionId, UserId, WithdrawalId,
    add_seconds, utc_date,
};
use bursar_domain::ledger::LedgerError;
use bursar_domain::mandates::{
    Mandate, MandateCommand, MandateStatus, MandateType, NewMandate, Plan, Target,
};
use bursar_domain::messages::{Category, Channel, MessagesCommand, Notice, Recipient};
use bursar_domain::payments::{Pay, PaymentCommand, PaymentKind};
use bursar_domain::products::{AccountType, ProductTerms};
use bursar_domain::users::User;
use bursar_domain::{AccountNumber, Amount, Currency, Personal};
use jiff::Timestamp;

use crate::journal::Holding;
use crate::messages::notice;
use crate::owned::{CommandError, Owned, once};
use crate::payments;
use crate::{Committed, Context, Journal, Unit};

/// How long somebody has to answer, in seconds: a week.
const PATIENCE: i64 = 7 * 24 * 60 * 60;
/// How often a decision is looked at again that others have overtaken.
const LOOKS: usize = 5;
/// What an account of a community says it was opened on.
const PRODUCT: &str = "COMMUNITY";

/// A community to be begun.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// What it is called.
    pub name: String,
    /// What it is about.
    pub description: Option<String>,
    /// What it is for.
    pub category: CommunityCategory,
    /// Where its picture is.
    pub logo: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// In which currency it holds money.
    pub currency: Currency,
    /// Its rules.
    pub rules: Rules,
}

/// Begins a community, with `admin` in it and an account that nobody but the community holds.
///
/// # Errors
/// `RULES_INCOMPLETE`.
pub async fn create(
    journal: &Journal,
    context: Context,
    admin: UserId,
    wanted: Wanted,
) -> Result<Committed, CommandError> {
    let sources = journal.sources();
    let (id, holder) = (CommunityId::mint(sources), UserId::mint(sources));
    for look in 0.. {
        let account = AccountNumber::draw(&*sources.entropy);
        let open = OpenAccount {
            owner: holder,
            name: wanted.name.clone(),
            product_id: PRODUCT.to_owned(),
            product: terms(wanted.currency),
            account_type: AccountType::Current,
            initial_deposit: None,
            plan: None,
        };
        let new = NewCommunity {
            id,
            admin,
            participant: ParticipantId::mint(sources),
            holder,
            account: account.clone(),
            currency: wanted.currency,
            name: wanted.name.clone(),
            description: wanted.description.clone(),
            category: wanted.category,
            logo: wanted.logo.clone(),
            tags: wanted.tags.clone(),
            rules: wanted.rules.clone(),
        };
        let unit = Unit::new(context.clone())
            .create(id, CommunityCommand::Create(Box::new(new)))
            .create(account, AccountCommand::Open(Box::new(open)));
        match journal.submit(unit).await.map_err(CommandError::from) {
            Err(error) if error.code() == Some("ACCOUNT_EXISTS") && look < LOOKS => {}
            answer => return answer,
        }
    }
    Err(CommandError::unavailable())
}

/// An account without conditions: what may go out is the community's own rule.
fn terms(currency: Currency) -> ProductTerms {
    ProductTerms {
        name: "Community".to_owned(),
        account_type: AccountType::Current,
        description: "The money of a community.".to_owned(),
        currency,
        interest_rate: Default::default(),
        minimum_balance: 0,
        minimum_deposit: 0,
        maximum_balance: None,
        overdraft_limit: 0,
        daily_limit: None,
        monthly_limit: None,
        features: Vec::new(),
        eligibility_criteria: Vec::new(),
        is_active: true,
    }
}

/// The community, if `user` takes part.
///
/// # Errors
/// `NOT_FOUND`, to anybody else as well.
pub async fn club(journal: &Journal, user: UserId, id: CommunityId) -> Result<Club, CommandError> {
    let (community, _) = journal.load::<Community>(&id.to_string()).await?;
    community.of(user).cloned().map_err(CommandError::refused)
}

/// The community, whoever asks.
///
/// # Errors
/// `NOT_FOUND`.
pub async fn any(journal: &Journal, id: CommunityId) -> Result<Club, CommandError> {
    let (community, _) = journal.load::<Community>(&id.to_string()).await?;
    community.open().cloned().map_err(CommandError::refused)
}

/// Gives a community new rules: those that `edit` makes of the ones it has.
///
/// # Errors
/// `NOT_FOUND`, `ADMIN_ONLY`, `TOO_FEW_SEATS`, `RULES_INCOMPLETE`; `FUNDS_HELD` for another withdrawal policy while there is
/// money that people paid in under this one.
pub async fn set_rules(
    journal: &Journal,
    context: Context,
    by: UserId,
    id: CommunityId,
    edit: impl FnOnce(Rules) -> Rules,
) -> Result<Committed, CommandError> {
    // Answered as then: they may have left since, and money may have come.
    once(journal, context, async |context| {
        let club = club(journal, by, id).await?;
        let rules = edit(club.rules().clone());
        if rules.withdrawal_policy != club.rules().withdrawal_policy {
            let account = journal.ledger_account(&club.created.account).await?;
            if account.is_some_and(|account| account.balance != 0) {
                return Err(CommandError::refused(CommunityError::FundsHeld));
            }
        }
        let set = CommunityCommand::SetRules { by, rules: Box::new(rules) };
        Ok(journal.submit(Unit::new(context).step(id, set)).await?)
    })
    .await
}

/// Somebody to be asked.
#[derive(Debug, Clone)]
pub struct Invitee {
    /// Email address.
    pub email: Option<String>,
    /// Phone number, E.164.
    pub phone_number: Option<String>,
    /// What the inviter calls them.
    pub name: Option<String>,
    /// What they are to be.
    pub role: Role,
    /// What the inviter says.
    pub message: Option<String>,
    /// Until when they may answer; a week when absent.
    pub expires_at: Option<Timestamp>,
}

/// Asks somebody to join, and sends them word: whoever has the address or the number may answer.
///
/// # Errors
/// `NOT_FOUND`, `ADMIN_ONLY` where the community is private, `COMMUNITY_FULL`.
pub async fn invite(
    journal: &Journal,
    context: Context,
    by: UserId,
    id: CommunityId,
    invitee: Invitee,
) -> Result<Committed, CommandError> {
    // Answered as then: they may have left since.
    once(journal, context, async |context| {
        let club = club(journal, by, id).await?;
        let now = journal.sources().clock.now();
        let invitation = InvitationId::mint(journal.sources());
        let contacts = Contacts {
            email: invitee.email.map(Personal::new),
            phone_number: invitee.phone_number.map(Personal::new),
        };
        let told = asked(journal, &club, id, invitation, &contacts);
        let new = NewInvitation {
            id: invitation,
            by,
            contacts,
            name: invitee.name.map(Personal::new),
            role: invitee.role,
            message: invitee.message.map(Personal::new),
            now,
            expires_at: invitee.expires_at.unwrap_or_else(|| add_seconds(now, PATIENCE)),
        };
        let unit = Unit::new(context)
            .step(id, CommunityCommand::Invite(Box::new(new)))
            .step(by, MessagesCommand::Post(Box::new(told)));
        Ok(journal.submit(unit).await?)
    })
    .await
}

/// What somebody is told who is asked to join. They need not be a customer: it goes where the inviter said.
fn asked(
    journal: &Journal,
    club: &Club,
    id: CommunityId,
    invitation: InvitationId,
    contacts: &Contacts,
) -> Notice {
    let body = format!("You are asked to join \"{}\". Answer {invitation} in the app.", club.created.name);
    let about =
        [("communityId".to_owned(), id.to_string()), ("invitationId".to_owned(), invitation.to_string())];
    let mut channels = std::collections::BTreeSet::new();
    channels.extend(contacts.email.as_ref().map(|_| Channel::Email));
    channels.extend(contacts.phone_number.as_ref().map(|_| Channel::Sms));
    let to = Recipient { email: contacts.email.clone(), phone_number: contacts.phone_number.clone() };
    let notice = notice(journal.sources(), Category::General, "An invitation", body);
    Notice { channels, to: Some(to), about: about.into(), ..notice }
}

/// Joins a community, or asks its admin to be let in.
///
/// # Errors
/// `NOT_FOUND`, `ALREADY_PARTICIPANT`, `COMMUNITY_FULL`.
pub async fn ask(
    journal: &Journal,
    context: Context,
    user: UserId,
    id: CommunityId,
) -> Result<Committed, CommandError> {
    let club = any(journal, id).await?;
    let sources = journal.sources();
    let invitation = InvitationId::mint(sources);
    let now = sources.clock.now();
    let ask = NewRequest {
        invitation,
        user,
        participant: ParticipantId::mint(sources),
        now,
        expires_at: add_seconds(now, PATIENCE),
    };
    let mut unit = Unit::new(context).step(id, CommunityCommand::Ask(ask));
    if !club.rules().auto_approve {
        let body = format!("Somebody wants to join \"{}\". Answer {invitation}.", club.created.name);
        let about =
            [("communityId".to_owned(), id.to_string()), ("invitationId".to_owned(), invitation.to_string())];
        let notice = notice(sources, Category::General, "Somebody wants to join", body);
        let told = Notice { about: about.into(), ..notice };
        unit = unit.step(club.created.admin, MessagesCommand::Post(Box::new(told)));
    }
    Ok(journal.submit(unit).await?)
}

/// Answers an invitation, or somebody who has asked to be let in.
///
/// # Errors
/// `NOT_FOUND` for an invitation of somebody else's; `INVALID_STATE`; `ALREADY_PARTICIPANT`; `COMMUNITY_FULL`.
pub async fn answer(
    journal: &Journal,
    context: Context,
    user: UserId,
    id: CommunityId,
    invitation: InvitationId,
    accept: bool,
) -> Result<Committed, CommandError> {
    let (known, _) = journal.load::<User>(&user.to_string()).await?;
    // Whoever has not proved who they are may have anybody's address.
    let contacts = match &known {
        User::Active(person) => {
            Contacts { email: Some(person.email.clone()), phone_number: Some(person.phone_number.clone()) }
        }
        User::Absent | User::Pending(_) | User::Erased => Contacts::default(),
    };
    let answer = Answer {
        invitation,
        user,
        contacts,
        accept,
        participant: ParticipantId::mint(journal.sources()),
        now: journal.sources().clock.now(),
    };
    let unit = Unit::new(context).step(id, CommunityCommand::Answer(Box::new(answer)));
    Ok(journal.submit(unit).await?)
}

/// Takes somebody out of a community. What they contribute by ends with it; what they have contributed stays.
///
/// # Errors
/// `NOT_FOUND`, `ADMIN_ONLY`, `ADMIN_STAYS`.
pub async fn remove(
    journal: &Journal,
    context: Context,
    by: UserId,
    id: CommunityId,
    participant: ParticipantId,
) -> Result<Committed, CommandError> {
    let (community, _) = journal.load::<Community>(&id.to_string()).await?;
    let members = community.open().map(|club| club.members.clone()).unwrap_or_default();
    let member = members.into_iter().find(|member| member.participant == participant);
    let mut unit = Unit::new(context).step(id, CommunityCommand::Remove { participant, by });
    if let Some(mandate) = member.and_then(|member| member.mandate)
        && is_live(journal, mandate).await?
    {
        let reason = Some("No longer a participant".to_owned());
        unit = unit.step(mandate, MandateCommand::Cancel { reason });
    }
    Ok(journal.submit(unit).await?)
}

async fn is_live(journal: &Journal, mandate: MandateId) -> Result<bool, CommandError> {
    let (mandate, _) = journal.load::<Mandate>(&mandate.to_string()).await?;
    Ok(matches!(mandate.status(), Some(MandateStatus::Active | MandateStatus::Paused)))
}

/// That the rules ask for no contributions.
#[must_use]
pub fn no_contributions() -> CommandError {
    CommandError::refused(CommunityError::NoContributions)
}

/// From when on, and on which day, somebody contributes.
#[derive(Debug, Clone)]
pub struct Pledge {
    /// The account of theirs that pays.
    pub source: Owned<Holding>,
    /// From when on; the frequency and the day are in it.
    pub starts_at: Timestamp,
    /// The days, for the frequency that the rules ask for.
    pub calendar: Calendar,
}

/// Contributes what the rules ask for by a mandate. It is the participant's own: they may end it as any other.
///
/// # Errors
/// `NOT_FOUND`, `NO_CONTRIBUTION_RULE`, `CURRENCY_MISMATCH`; `ALREADY_CONTRIBUTING` while there is such a mandate.
pub async fn pledge(
    journal: &Journal,
    context: Context,
    id: CommunityId,
    pledge: Pledge,
) -> Result<Committed, CommandError> {
    let Pledge { source, starts_at, calendar } = pledge;
    let club = club(journal, source.owner(), id).await?;
    let amount = club.rules().contribution_amount;
    let amount = amount.ok_or_else(no_contributions)?;
    let created = &club.created;
    if source.currency != created.currency {
        let (account, expected) = (source.number.clone(), source.currency);
        let actual = created.currency;
        return Err(CommandError::refused(LedgerError::CurrencyMismatch { account, expected, actual }));
    }
    let before = club.member(source.owner()).and_then(|member: &Member| member.mandate);
    if let Some(before) = before
        && is_live(journal, before).await?
    {
        return Err(CommandError::refused(CommunityError::AlreadyContributing));
    }
    let mandate = MandateId::mint(journal.sources());
    let new = NewMandate {
        owner: source.owner(),
        mandate_type: MandateType::Savings,
        source: source.number.clone(),
        target: Target::Account { account_number: created.account.clone() },
        payee_name: Some(Personal::new(created.name.clone())),
        currency: created.currency,
        plan: Plan {
            name: created.name.clone(),
            amount,
            calendar,
            starts_at,
            ends_at: None,
            description: Some(format!("Contribution to {}", created.name)),
        },
        is_active: true,
        today: utc_date(journal.sources().clock.now()),
        origin: None,
    };
    let unit = Unit::new(context)
        .step(id, CommunityCommand::Pledge { user: source.owner(), mandate, amount, before })
        .create(mandate, MandateCommand::SetUp(Box::new(new)));
    Ok(journal.submit(unit).await?)
}

/// Takes money out into an account of the participant's, or asks the others whether they agree, as the policy says.
///
/// # Errors
/// `NOT_FOUND`, `WITHDRAWAL_NOT_ALLOWED`, `CURRENCY_MISMATCH`, `INSUFFICIENT_FUNDS`.
pub async fn withdraw(
    journal: &Journal,
    context: Context,
    id: CommunityId,
    destination: &Owned<Holding>,
    amount: Amount,
    narration: Option<String>,
) -> Result<Committed, CommandError> {
    let by = destination.owner();
    let withdrawal = WithdrawalId::mint(journal.sources());
    once(journal, context, async |context| {
        for look in 1.. {
            let club = club(journal, by, id).await?;
            let at_once = club.pays_at_once(by).map_err(CommandError::refused)?;
            let paid_by = at_once.then(|| payments::mint(journal));
            let new = NewWithdrawal {
                id: withdrawal,
                by,
                amount,
                destination: destination.number.clone(),
                narration: narration.clone(),
                paid_by,
            };
            let unit = Unit::new(context.clone()).step(id, CommunityCommand::Withdraw(Box::new(new)));
            let to = (destination.number.clone(), amount, narration.clone());
            match journal.submit(paying(unit, &club, paid_by, to)).await.map_err(CommandError::from) {
                // Somebody else has changed the community in the meantime.
                Err(error) if error.code() == Some("CONFLICT") && look < LOOKS => {}
                answer => return answer,
            }
        }
        Err(CommandError::unavailable())
    })
    .await
}

/// Says what a participant thinks of a withdrawal. The vote that makes it more than half pays it.
///
/// # Errors
/// `NOT_FOUND`, `ALREADY_VOTED`, `INVALID_STATE`, `INSUFFICIENT_FUNDS`.
pub async fn vote(
    journal: &Journal,
    context: Context,
    by: UserId,
    id: CommunityId,
    withdrawal: WithdrawalId,
    approve: bool,
) -> Result<Committed, CommandError> {
    once(journal, context, async |context| {
        for look in 1.. {
            let club = club(journal, by, id).await?;
            let decides = club.is_paid_with(withdrawal, by, approve).map_err(CommandError::refused)?;
            let paid_by = decides.then(|| payments::mint(journal));
            let vote = CommunityCommand::Vote { id: withdrawal, by, approve, paid_by };
            let unit = Unit::new(context.clone()).step(id, vote);
            let wanted = club.withdrawals.get(&withdrawal).map(|wanted| wanted.requested.clone());
            let wanted = wanted.ok_or_else(|| CommandError::refused(CommunityError::UnknownWithdrawal))?;
            let to = (wanted.destination, wanted.amount, wanted.narration);
            match journal.submit(paying(unit, &club, paid_by, to)).await.map_err(CommandError::from) {
                // Somebody else has changed the community in the meantime.
                Err(error) if error.code() == Some("CONFLICT") && look < LOOKS => {}
                answer => return answer,
            }
        }
        Err(CommandError::unavailable())
    })
    .await
}

/// Adds the payment that a withdrawal is.
fn paying(
    unit: Unit,
    club: &Club,
    paid_by: Option<TransactionId>,
    (destination, amount, narration): (AccountNumber, Amount, Option<String>),
) -> Unit {
    let Some(id) = paid_by else { return unit };
    let created = &club.created;
    let (source, reference) = (created.account.clone(), payments::reference_of(id));
    let narration = narration.unwrap_or_else(|| format!("Withdrawal from {}", created.name));
    let pay = Pay {
        payer: Some(created.holder),
        narration: Some(narration),
        ..Pay::between(PaymentKind::Internal, source, destination, amount, created.currency, reference)
    };
    unit.create(id, PaymentCommand::Pay(Box::new(pay)))
}
