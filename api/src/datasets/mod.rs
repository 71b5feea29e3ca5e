//! Datasets: what forms offer to choose from. The same for everybody who is logged in.

mod views;

use axum::extract::State;
use bursar_domain::reference;
use bursar_projections::Page;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::Caller;
use crate::openapi::{ReadHeaders, ReadProblems};
use crate::paging::Pagination;
use crate::problem::Problem;
use crate::query;
use crate::request::{Conditions, CountryCode, InPath, PathId as _, Queried, Search, StateCode};
use views::{
    Cities, City, Countries, Country, Gender, Genders, LoanInterval, LoanIntervals, MaritalStatus,
    MaritalStatuses, Period, Periods, Profession, Professions, Relationship, Relationships, States,
    Subdivision,
};

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_countries))
        .routes(routes!(list_states))
        .routes(routes!(list_cities))
        .routes(routes!(list_genders))
        .routes(routes!(list_marital_statuses))
        .routes(routes!(list_professions))
        .routes(routes!(list_relationships))
        .routes(routes!(list_periods))
        .routes(routes!(list_loan_durations))
}

query! {
    /// Which professions are listed.
    ListProfessions {
        /// Text in name, code or category.
        q: Search = "q",
        /// Which part.
        page: Page = "page",
    }
}

/// Lists every country, in the order of names.
#[utoipa::path(
    get, path = "/v1/datasets/countries", tag = "Datasets", params(ReadHeaders),
    responses((status = 200, description = "The countries.", body = Countries), ReadProblems)
)]
async fn list_countries(State(app): State<App>, _: Caller, wants: Conditions) -> Answer<Countries> {
    let countries: Vec<_> = app.places.countries.iter().map(Country::of).collect();
    Answer::ok(Countries { total_countries: countries.len(), countries }).lasting(wants.none_match)
}

/// Lists what a country is divided into, in the order of names.
#[utoipa::path(
    get, path = "/v1/datasets/{countryCode}/states", tag = "Datasets", params(InPath<CountryCode>, ReadHeaders),
    responses((status = 200, description = "The states.", body = States), ReadProblems)
)]
async fn list_states(
    State(app): State<App>,
    code: InPath<CountryCode>,
    _: Caller,
    wants: Conditions,
) -> Result<Answer<States>, Problem> {
    let country = app.places.countries.get(&code.get()?.0);
    let country = country.ok_or_else(|| Problem::not_found(CountryCode::THING))?;
    let states: Vec<_> = app.places.states_of(country).map(Subdivision::of).collect();
    let (country_code, country_name) = (&*country.country_code, &*country.country_name);
    let states = States { country_code, country_name, total_states: states.len(), states };
    Ok(Answer::ok(states).lasting(wants.none_match))
}

/// Lists the cities of a state, in the order of names.
#[utoipa::path(
    get, path = "/v1/datasets/{stateCode}/cities", tag = "Datasets", params(InPath<StateCode>, ReadHeaders),
    responses((status = 200, description = "The cities.", body = Cities), ReadProblems)
)]
async fn list_cities(
    State(app): State<App>,
    code: InPath<StateCode>,
    _: Caller,
    wants: Conditions,
) -> Result<Answer<Cities>, Problem> {
    let state = app.places.states.get(&code.get()?.0);
    let state = state.ok_or_else(|| Problem::not_found(StateCode::THING))?;
    let cities: Vec<_> = app.places.cities_of(state).map(City::of).collect();
    let (state_code, state_name) = (&*state.state_code, &*state.state_name);
    Ok(Answer::ok(Cities { state_code, state_name, total_cities: cities.len(), cities })
        .lasting(wants.none_match))
}

/// Lists the genders that can be recorded.
#[utoipa::path(
    get, path = "/v1/datasets/person/genders", tag = "Datasets", params(ReadHeaders),
    responses((status = 200, description = "The genders.", body = Genders), ReadProblems)
)]
async fn list_genders(State(app): State<App>, _: Caller, wants: Conditions) -> Answer<Genders> {
    let genders: Vec<_> = app.choices.genders.iter().map(Gender::of).collect();
    Answer::ok(Genders { total_genders: genders.len(), genders }).lasting(wants.none_match)
}

/// Lists the marital statuses that can be recorded.
#[utoipa::path(
    get, path = "/v1/datasets/person/maritalStatus", tag = "Datasets", params(ReadHeaders),
    responses((status = 200, description = "The statuses.", body = MaritalStatuses), ReadProblems)
)]
async fn list_marital_statuses(
    State(app): State<App>,
    _: Caller,
    wants: Conditions,
) -> Answer<MaritalStatuses> {
    let marital_statuses: Vec<_> = app.choices.marital_statuses.iter().map(MaritalStatus::of).collect();
    let total_statuses = marital_statuses.len();
    Answer::ok(MaritalStatuses { marital_statuses, total_statuses }).lasting(wants.none_match)
}

/// Lists occupations, in the order of their codes.
#[utoipa::path(
    get, path = "/v1/datasets/person/professions", tag = "Datasets", params(ListProfessions, ReadHeaders),
    responses((status = 200, description = "The professions.", body = Professions), ReadProblems)
)]
async fn list_professions(
    State(app): State<App>,
    _: Caller,
    wants: Conditions,
    Queried(query): Queried<ListProfessions>,
) -> Answer<Professions> {
    let matching = app.choices.professions.iter().filter(|profession| {
        let reference::Profession { profession_code, profession_name, category } = profession;
        query.q.finds([&**profession_name, profession_code, category])
    });
    let (professions, pagination) = Pagination::cut(query.page, matching);
    let professions = professions.into_iter().map(Profession::of).collect();
    Answer::ok(Professions { professions, pagination }).lasting(wants.none_match)
}

/// Lists how somebody else can stand to a customer.
#[utoipa::path(
    get, path = "/v1/datasets/person/relationships", tag = "Datasets", params(ReadHeaders),
    responses((status = 200, description = "The relationships.", body = Relationships), ReadProblems)
)]
async fn list_relationships(State(app): State<App>, _: Caller, wants: Conditions) -> Answer<Relationships> {
    let relationships: Vec<_> = app.choices.relationships.iter().map(Relationship::of).collect();
    let total_relationships = relationships.len();
    Answer::ok(Relationships { relationships, total_relationships }).lasting(wants.none_match)
}

/// Lists how often something can repeat, the most often first.
#[utoipa::path(
    get, path = "/v1/datasets/periods", tag = "Datasets", params(ReadHeaders),
    responses((status = 200, description = "The periods.", body = Periods), ReadProblems)
)]
async fn list_periods(State(app): State<App>, _: Caller, wants: Conditions) -> Answer<Periods> {
    let periods: Vec<_> = app.choices.periods.iter().map(Period::of).collect();
    Answer::ok(Periods { total_periods: periods.len(), periods }).lasting(wants.none_match)
}

/// Lists how long loans usually run, the shortest first.
#[utoipa::path(
    get, path = "/v1/datasets/loan/duration", tag = "Datasets", params(ReadHeaders),
    responses((status = 200, description = "The durations.", body = LoanIntervals), ReadProblems)
)]
async fn list_loan_durations(State(app): State<App>, _: Caller, wants: Conditions) -> Answer<LoanIntervals> {
    let intervals: Vec<_> = app.choices.loan_intervals.iter().map(LoanInterval::of).collect();
    Answer::ok(LoanIntervals { total_intervals: intervals.len(), intervals }).lasting(wants.none_match)
}
