//! Communities: people who put money by together.

mod money;
mod seats;
mod views;

use axum::extract::State;
use bursar_commands::communities::{self, Wanted};
use bursar_domain::communities::{Category, CommunityEvent, Rules, WithdrawalPolicy};
use bursar_domain::kernel::{CommunityId, Frequency, UserId};
use bursar_domain::{Amount, Currency, Event};
use bursar_projections::Page;
use bursar_projections::communities::{CommunityRow, joined, of_user, participants};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, Caller, ManageProfile};
use crate::devices::is_caller;
use crate::openapi::{IfMatch, ReadHeaders, ReadProblems, WriteHeaders, WriteProblems};
use crate::paging::Pagination;
use crate::problem::Problem;
use crate::request::{Conditions, Edit, InPath, OneOf, Queried, Text, Title, Whole, Write};
use crate::{query, request};
use views::{CommunityDetails, CommunityInfo, CommunityList, CommunityResult, RulesResult};

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_communities, create_community))
        .routes(routes!(read_community, set_community_rules))
        .merge(seats::routes())
        .merge(money::routes())
}

/// The read model of communities.
const MODEL: &str = "communities";
/// Participants that a community is shown with.
const SHOWN: Page = Page { page: 1, size: 100 };
/// Seats of a community whose founder names none.
const SEATS: u32 = 50;

/// Seats that a community can have.
type Seats = Whole<1, 1000>;

request! {
    /// A community to be begun.
    CommunityRequest {
        /// What it is called.
        community_name: Title<140> = "communityName",
        /// What it is about.
        description: Option<Text<500>> = "description",
        /// What it is for; `OTHER` when absent.
        category: Option<OneOf<Category>> = "category",
        /// How many may be in it, the admin included; 50 when absent.
        max_participants: Option<Seats> = "maxParticipants",
        /// Whether nobody joins without the invite code or an invitation of the admin's; true when absent.
        is_private: Option<bool> = "isPrivate",
        /// Its rules in words.
        initial_rules: Option<Vec<Title<500>>> = "initialRules",
        /// The caller.
        admin_user_id: Option<UserId> = "adminUserId",
        /// Where its picture is.
        logo: Option<Text<2000>> = "logo",
        /// Words to find it by.
        tags: Option<Vec<Title<50>>> = "tags",
        /// In which currency it holds money, ISO 4217; `NGN` when absent.
        currency: Option<Currency> = "currency",
    }
}

request! {
    /// What is to be different about the rules. What is absent stays as it is.
    RulesRequest {
        /// In words: all of them.
        rules: Option<Vec<Title<500>>> = "rules",
        /// How many may be in it, the admin included.
        max_participants: Option<Seats> = "maxParticipants",
        /// Whether nobody joins without the invite code or an invitation of the admin's.
        is_private: Option<bool> = "isPrivate",
        /// Whether whoever may join does so without being let in by the admin.
        auto_approve: Option<bool> = "autoApprove",
        /// A contribution, minor units; null for none.
        contribution_amount: Edit<Amount> = "contributionAmount",
        /// How often one is due; null for never.
        contribution_frequency: Edit<OneOf<Frequency>> = "contributionFrequency",
        /// Who may take money out. It cannot change while the community holds money.
        withdrawal_policy: Option<OneOf<WithdrawalPolicy>> = "withdrawalPolicy",
    }
}

query! {
    /// Which communities are listed.
    ListCommunities {
        /// Which part.
        page: Page = "page",
    }
}

/// Lists the communities that the caller is in, the newest first.
#[utoipa::path(
    get, path = "/v1/communities", tag = "Communities", params(ListCommunities, ReadHeaders),
    responses((status = 200, description = "The communities.", body = CommunityList), ReadProblems)
)]
async fn list_communities(
    State(app): State<App>,
    caller: Allowed<ManageProfile>,
    wants: Conditions,
    Queried(query): Queried<ListCommunities>,
) -> Result<Answer<CommunityList>, Problem> {
    app.fresh(&caller, &wants, &[MODEL]).await?;
    let found = of_user(&app.pool, caller.user(), query.page).await?;
    Ok(Answer::ok(CommunityList {
        pagination: Pagination::of(query.page, found.total),
        communities: found.items.into_iter().map(CommunityInfo::from).collect(),
    }))
}

/// Begins a community, which the caller administers, with an account of its own for what its participants put by.
///
/// `inviteCode` lets anybody join who has it. It is shown here and nowhere else.
#[utoipa::path(
    post, path = "/v1/communities", tag = "Communities",
    params(WriteHeaders), request_body = CommunityRequest,
    responses((status = 201, description = "Begun.", body = CommunityResult), WriteProblems)
)]
async fn create_community(
    State(app): State<App>,
    write: Write<ManageProfile, CommunityRequest>,
) -> Result<Answer<CommunityResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    is_caller(&caller, body.admin_user_id)?;
    let wanted = Wanted {
        name: body.community_name.into(),
        description: body.description.map(String::from),
        category: body.category.map_or(Category::Other, |OneOf(category)| category),
        logo: body.logo.map(String::from),
        tags: texts(body.tags),
        currency: body.currency.unwrap_or(Currency::NGN),
        rules: Rules {
            texts: texts(body.initial_rules),
            seats: body.max_participants.map_or(SEATS, |Whole(seats)| seats),
            is_private: body.is_private.unwrap_or(true),
            auto_approve: false,
            contribution_amount: None,
            contribution_frequency: None,
            withdrawal_policy: WithdrawalPolicy::AdminOnly,
        },
    };
    let committed = communities::create(&app.journal, context, caller.user(), wanted).await?;
    let (recorded, created) = committed.event(|event| match event {
        Event::Community(CommunityEvent::Created(created)) => Some(&**created),
        _ => None,
    })?;
    let id = recorded.stream.id.parse().map_err(|_| Problem::internal())?;
    let result = CommunityResult::of(recorded, created, app.keys.invite_code(id));
    Ok(Answer::ok(result).at(&committed).created(&format!("/v1/communities/{id}")).secret())
}

/// Reads a community that the caller is in: its rules, its money, and its first hundred participants.
#[utoipa::path(
    get, path = "/v1/communities/{communityId}", tag = "Communities", params(InPath<CommunityId>, ReadHeaders),
    responses((status = 200, description = "The community.", body = CommunityDetails), ReadProblems)
)]
async fn read_community(
    State(app): State<App>,
    caller: Allowed<ManageProfile>,
    wants: Conditions,
    id: InPath<CommunityId>,
) -> Result<Answer<CommunityDetails>, Problem> {
    let row = community(&app, &caller, &wants, id, &[MODEL]).await?;
    let people = participants(&app.pool, row.community_id, SHOWN).await?;
    let account = app.journal.ledger_account(&row.account_number).await?;
    let balance = account.map_or(0, |account| account.balance);
    let turn = communities::club(&app.journal, caller.user(), row.community_id).await?.turn();
    Ok(Answer::ok(CommunityDetails::of(row, people.items, balance, turn)))
}

/// Sets the rules of a community that the caller administers.
#[utoipa::path(
    put, path = "/v1/communities/{communityId}", tag = "Communities",
    params(InPath<CommunityId>, WriteHeaders, IfMatch), request_body = RulesRequest,
    responses((status = 200, description = "Set.", body = RulesResult), WriteProblems)
)]
async fn set_community_rules(
    State(app): State<App>,
    id: InPath<CommunityId>,
    write: Write<ManageProfile, RulesRequest>,
) -> Result<Answer<RulesResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    let edit = |rules: Rules| Rules {
        texts: body.rules.map_or(rules.texts, |rules| texts(Some(rules))),
        seats: body.max_participants.map_or(rules.seats, |Whole(seats)| seats),
        is_private: body.is_private.unwrap_or(rules.is_private),
        auto_approve: body.auto_approve.unwrap_or(rules.auto_approve),
        contribution_amount: body.contribution_amount.change(|it| it).unwrap_or(rules.contribution_amount),
        contribution_frequency: body
            .contribution_frequency
            .change(|OneOf(it)| it)
            .unwrap_or(rules.contribution_frequency),
        withdrawal_policy: body.withdrawal_policy.map_or(rules.withdrawal_policy, |OneOf(it)| it),
    };
    let committed = communities::set_rules(&app.journal, context, caller.user(), id.get()?, edit).await?;
    let (recorded, (by, rules)) = committed.event(|event| match event {
        Event::Community(CommunityEvent::RulesSet { by, rules }) => Some((*by, &**rules)),
        _ => None,
    })?;
    Ok(Answer::ok(RulesResult::of(recorded, by, rules)).at(&committed))
}

/// The community, if the caller is in it.
async fn community(
    app: &App,
    caller: &Caller,
    wants: &Conditions,
    id: InPath<CommunityId>,
    models: &[&str],
) -> Result<CommunityRow, Problem> {
    let id = id.get()?;
    app.fresh(caller, wants, models).await?;
    let row = joined(&app.pool, caller.user(), id).await?;
    row.ok_or_else(|| Problem::not_found("community"))
}

fn texts<const MOST: usize>(titles: Option<Vec<Title<MOST>>>) -> Vec<String> {
    titles.unwrap_or_default().into_iter().map(String::from).collect()
}
