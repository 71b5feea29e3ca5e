//! What forms offer to choose from.

use serde_json::{Value, json};

use crate::support::Bank;

/// Codes of a list.
fn codes<'a>(list: &'a [Value], name: &str) -> Vec<&'a str> {
    list.iter().map(|one| one[name].as_str().unwrap()).collect()
}

#[tokio::test]
async fn places_are_found_from_the_country_down() {
    let bank = Bank::open().await;
    let ada = bank.ada().await.client;
    let countries = ada.get("/v1/datasets/countries").await.is(200);
    assert_eq!(countries.body["totalCountries"], 249);
    let nigeria = countries.list_at("countries").iter().find(|one| one["countryCode"] == "NG").unwrap();
    assert_eq!(
        *nigeria,
        json!({
            "countryCode": "NG", "countryName": "Nigeria", "phoneCode": "+234", "currency": "Nigerian Naira",
            "currencyCode": "NGN", "isActive": true, "flag": "🇳🇬",
        })
    );
    let states = ada.get("/v1/datasets/NG/states").await.is(200);
    assert_eq!((&states.body["countryName"], &states.body["totalStates"]), (&json!("Nigeria"), &json!(37)));
    assert!(codes(states.list_at("states"), "stateName").is_sorted());
    let lagos = states.list_at("states").iter().find(|one| one["stateCode"] == "NG-LA").unwrap();
    assert_eq!((&lagos["stateName"], &lagos["capital"]), (&json!("Lagos"), &json!("Ikeja")));
    let cities = ada.get("/v1/datasets/NG-LA/cities").await.is(200);
    assert_eq!(cities.body["totalCities"], cities.list_at("cities").len());
    let ikeja = cities.list_at("cities").iter().find(|one| one["cityName"] == "Ikeja").unwrap();
    assert_eq!((&ikeja["isCapital"], &ikeja["isActive"]), (&json!(true), &json!(true)));
    bank.close().await;
}

#[tokio::test]
async fn what_people_choose_from_comes_in_its_order() {
    let bank = Bank::open().await;
    let ada = bank.ada().await.client;
    for (path, list, total, code, expected) in [
        ("person/genders", "genders", "totalGenders", "genderCode", &["F", "M", "O"][..]),
        (
            "person/maritalStatus",
            "maritalStatuses",
            "totalStatuses",
            "statusCode",
            &["DIVORCED", "MARRIED", "SINGLE", "WIDOWED"],
        ),
        (
            "periods",
            "periods",
            "totalPeriods",
            "periodCode",
            &["DAILY", "WEEKLY", "MONTHLY", "QUARTERLY", "YEARLY"],
        ),
        (
            "loan/duration",
            "intervals",
            "totalIntervals",
            "intervalCode",
            &["3_MONTHS", "6_MONTHS", "12_MONTHS", "24_MONTHS", "36_MONTHS"],
        ),
    ] {
        let answer = ada.get(&format!("/v1/datasets/{path}")).await.is(200);
        assert_eq!(codes(answer.list_at(list), code), expected);
        assert_eq!(answer.body[total], expected.len());
    }
    let relationships = ada.get("/v1/datasets/person/relationships").await.is(200);
    let all = codes(relationships.list_at("relationships"), "relationshipCode");
    for shown in ["SPOUSE", "PARENT", "CHILD", "SIBLING", "OTHER"] {
        assert!(all.contains(&shown), "{shown}");
    }
    bank.close().await;
}

#[tokio::test]
async fn professions_are_many_and_so_they_are_paged_and_searched() {
    let bank = Bank::open().await;
    let ada = bank.ada().await.client;
    let get = async |query: &str| ada.get(&format!("/v1/datasets/person/professions?{query}")).await;
    let first = get("").await.is(200);
    assert_eq!(
        first.body["pagination"],
        json!({"page": 1, "size": 20, "total": 436, "hasNext": true, "hasPrevious": false})
    );
    let found = get("q=SOFTWARE%20dev").await.is(200);
    let [developers] = found.list_at("professions") else { panic!("{}", found.text) };
    assert_eq!(
        *developers,
        json!({
            "professionCode": "2512", "professionName": "Software developers", "category": "Professionals",
            "isActive": true,
        })
    );
    assert_eq!(get("page=0").await.pointers(), ["/page"]);
    bank.close().await;
}

#[tokio::test]
async fn a_dataset_is_kept_by_the_client_until_it_is_another() {
    let bank = Bank::open().await;
    let ada = bank.ada().await.client;
    let first = ada.get("/v1/datasets/countries").await.is(200);
    assert_eq!(first.header("cache-control"), "private, max-age=300");
    let request = ada.request(reqwest::Method::GET, "/v1/datasets/countries");
    let again = request.header("If-None-Match", first.header("etag")).send().await.is(304);
    assert_eq!(again.text, "");
    bank.close().await;
}
