use serde_json::{Value, json};

use super::*;
use crate::Rejection as _;
use crate::kernel::{Amount, Currency};

fn rows<T: serde::de::DeserializeOwned>(rows: &[Value]) -> Vec<T> {
    rows.iter().map(|row| serde_json::from_value(row.clone()).unwrap()).collect()
}

fn biller(code: &str, is_active: bool) -> Value {
    json!({
        "biller_code": code, "biller_name": code, "category_code": "UTILITIES", "country": "NG",
        "currency_code": "NGN", "customer_reference_label": "Meter number",
        "customer_reference_pattern": "[0-9]{4}", "is_active": is_active,
    })
}

/// An item of the biller `POWER`.
fn item(code: &str, fixed: Option<i64>, bounds: Option<(i64, i64)>, fee: i64, is_active: bool) -> Value {
    json!({
        "item_code": code, "biller_code": "POWER", "item_name": code, "amount_minor": fixed,
        "is_amount_fixed": fixed.is_some(), "min_amount_minor": bounds.map(|(least, _)| least),
        "max_amount_minor": bounds.map(|(_, most)| most), "fee_minor": fee, "validity_days": null,
        "currency_code": "NGN", "is_active": is_active,
    })
}

fn category() -> Value {
    json!({"category_code": "UTILITIES", "category_name": "Utilities", "description": "", "is_active": true})
}

fn bank(code: &str, name: &str) -> Value {
    json!({
        "bank_code": code, "bank_name": name, "bank_type": "COMMERCIAL", "country": "NG", "cbn_code": null,
        "is_active": true,
    })
}

fn of(billers: &[Value], items: &[Value]) -> Result<Reference, ReferenceError> {
    Reference::new(Vec::new(), rows(&[category()]), rows(billers), rows(items))
}

/// `POWER` sells tokens and a reconnection, `WATER` lists nothing, `CLOSED` is not paid any more.
fn reference() -> Reference {
    let items = [
        item("PREPAID", None, Some((1_000, 50_000)), 100, true),
        item("POSTPAID", None, Some((1_000, 90_000)), 20, true),
        item("RECONNECT", Some(2_500), None, 200, true),
        item("OLD", Some(70), None, 0, false),
    ];
    of(&[biller("POWER", true), biller("WATER", true), biller("CLOSED", false)], &items).unwrap()
}

fn range(brand: &str, start: &str, end: &str) -> Value {
    json!({
        "brand_code": brand, "brand_name": brand, "range_start": start, "range_end": end,
        "prefix_length": start.len(), "pan_lengths": "16|19", "security_code_length": 3,
    })
}

#[test]
fn of_overlapping_ranges_of_card_numbers_the_longest_prefix_is_meant() {
    let ranges = [range("DISCOVER", "65", "65"), range("VERVE", "650002", "650027"), range("VISA", "4", "4")];
    let brands = CardBrands::new(rows(&ranges)).unwrap();
    let brand = |number: &str| brands.of(&number.parse().unwrap()).map(|range| range.brand_code.clone());
    assert_eq!(brand("6500020000000000").as_deref(), Some("VERVE"));
    assert_eq!(brand("6500280000000000").as_deref(), Some("DISCOVER"));
    assert_eq!(brand("4111111111111111").as_deref(), Some("VISA"));
    assert_eq!(brand("5555555555554444"), None);
    assert_eq!(brands.iter().next().unwrap().pan_lengths, [16, 19]);
    for wrong in [range("X", "66", "65"), range("X", "6", "65"), range("X", "6x", "6y")] {
        assert!(matches!(CardBrands::new(rows(&[wrong])), Err(ReferenceError::Range(_))));
    }
}

fn amount(minor: i64) -> Amount {
    minor.try_into().unwrap()
}

/// Code of the item and fee, or the refusal.
fn pay(biller: &str, item: Option<&str>, number: &str, minor: i64) -> Result<(String, i64), BillError> {
    let reference = reference();
    let bill = reference.bill(biller, item, number, amount(minor), Currency::NGN)?;
    Ok((bill.item.map(|item| item.item_code.clone()).unwrap_or_default(), bill.fee))
}

fn refused(result: Result<(String, i64), BillError>) -> &'static str {
    result.unwrap_err().code()
}

#[test]
fn a_bill_is_for_the_item_that_was_named() {
    assert_eq!(pay("POWER", Some("PREPAID"), "1234", 1_000), Ok(("PREPAID".to_owned(), 100)));
    assert_eq!(pay("POWER", Some("PREPAID"), "1234", 50_000), Ok(("PREPAID".to_owned(), 100)));
    assert_eq!(pay("POWER", Some("RECONNECT"), "1234", 2_500), Ok(("RECONNECT".to_owned(), 200)));
}

#[test]
fn without_an_item_it_is_for_the_one_that_costs_this_much() {
    // A fixed price is meant, even when a range holds it too and the fee is lower there.
    assert_eq!(pay("POWER", None, "1234", 2_500), Ok(("RECONNECT".to_owned(), 200)));
    assert_eq!(pay("POWER", None, "1234", 2_501), Ok(("POSTPAID".to_owned(), 20)));
}

#[test]
fn a_biller_that_lists_nothing_takes_any_amount() {
    assert_eq!(pay("WATER", None, "1234", 1), Ok((String::new(), 0)));
    assert_eq!(pay("WATER", None, "1234", Amount::MAX), Ok((String::new(), 0)));
}

#[test]
fn what_is_not_there_or_not_offered_is_refused() {
    assert_eq!(refused(pay("GAS", None, "1234", 1)), "NOT_FOUND");
    assert_eq!(refused(pay("POWER", Some("NONE"), "1234", 1)), "NOT_FOUND");
    // An item of somebody else's.
    assert_eq!(refused(pay("WATER", Some("PREPAID"), "1234", 1_000)), "NOT_FOUND");
    assert_eq!(refused(pay("CLOSED", None, "1234", 1)), "NOT_OFFERED");
    assert_eq!(refused(pay("POWER", Some("OLD"), "1234", 70)), "NOT_OFFERED");
    assert_eq!(refused(pay("POWER", None, "1234", 70)), "AMOUNT_NOT_OFFERED");
}

#[test]
fn an_amount_that_is_not_offered_is_told_what_is() {
    let refusal = pay("POWER", Some("PREPAID"), "1234", 50_001).unwrap_err();
    let offers = json!([{"itemId": "PREPAID", "minAmount": 1_000, "maxAmount": 50_000}]);
    assert_eq!(refusal.members(), [("offers", offers)]);
    let refusal = pay("POWER", None, "1234", 999).unwrap_err();
    let offers = json!([
        {"itemId": "POSTPAID", "minAmount": 1_000, "maxAmount": 90_000},
        {"itemId": "PREPAID", "minAmount": 1_000, "maxAmount": 50_000},
        {"itemId": "RECONNECT", "amount": 2_500},
    ]);
    assert_eq!((refusal.code(), refusal.members()), ("AMOUNT_NOT_OFFERED", vec![("offers", offers)]));
}

#[test]
fn the_whole_customer_reference_must_fit() {
    for wrong in ["", "123", "12345", "x1234", "1234\n", " 1234", "١٢٣٤"] {
        let refusal = pay("POWER", None, wrong, 2_500).unwrap_err();
        assert_eq!(refusal.code(), "CUSTOMER_REFERENCE_INVALID", "{wrong:?}");
        assert_eq!(refusal.to_string(), "not a meter number of this biller");
        assert_eq!(refusal.members()[1], ("customerReferencePattern", json!("[0-9]{4}")));
    }
}

#[test]
fn a_biller_is_paid_in_its_own_currency() {
    let reference = reference();
    let dollars = "USD".parse().unwrap();
    let refusal = reference.bill("POWER", None, "1234", amount(2_500), dollars).unwrap_err();
    assert_eq!(
        (refusal.code(), refusal.members()),
        ("CURRENCY_MISMATCH", vec![("expectedCurrency", json!("NGN"))])
    );
}

#[test]
fn rows_that_do_not_fit_together_are_refused() {
    let power = biller("POWER", true);
    assert_eq!(
        of(&[power.clone(), power.clone()], &[]).unwrap_err(),
        ReferenceError::Duplicate("POWER".to_owned())
    );
    let tokens = item("PREPAID", None, Some((1, 2)), 0, true);
    let dangling = ReferenceError::Dangling { code: "PREPAID".to_owned(), missing: "POWER".to_owned() };
    assert_eq!(of(&[], std::slice::from_ref(&tokens)).unwrap_err(), dangling);
    let mut homeless = power.clone();
    homeless["category_code"] = json!("NONE");
    assert!(matches!(of(&[homeless], &[]), Err(ReferenceError::Dangling { .. })));
    let mut dollars = tokens;
    dollars["currency_code"] = json!("USD");
    assert_eq!(of(&[power], &[dollars]).unwrap_err(), ReferenceError::Currency("PREPAID".to_owned()));
}

#[test]
fn a_row_that_makes_no_sense_is_not_read() {
    let wrong = [
        item("NEITHER", None, None, 0, true),
        item("BOTH", Some(1), Some((1, 2)), 0, true),
        item("BACKWARDS", None, Some((2, 1)), 0, true),
        item("NOTHING", Some(0), None, 0, true),
        item("FEE", Some(1), None, -1, true),
    ];
    for row in wrong {
        assert!(serde_json::from_value::<BillerItem>(row.clone()).is_err(), "{row}");
    }
    let mut wrong = biller("POWER", true);
    wrong["customer_reference_pattern"] = json!("[0-9");
    assert!(serde_json::from_value::<Biller>(wrong).is_err());
}

#[test]
fn a_dataset_is_in_the_order_of_names_and_by_code() {
    let banks = rows(&[bank("2", "beta"), bank("3", "Alpha"), bank("1", "Beta")]);
    let reference = Reference::new(banks, Vec::new(), Vec::new(), Vec::new()).unwrap();
    let codes: Vec<&str> = reference.banks.iter().map(|bank| &*bank.bank_code).collect();
    assert_eq!(codes, ["3", "1", "2"]);
    assert_eq!(reference.banks.get("3").map(|bank| &*bank.bank_name), Some("Alpha"));
    assert!(reference.banks.get("4").is_none());
    let alpha = reference.banks.get("3").unwrap();
    assert_ne!(alpha.processing_time("NG"), alpha.processing_time("GH"));
}

/// Two countries; a state of the one has a city of its own, and one city is in no state.
fn places() -> Places {
    let country = |code: &str, alpha3: &str, name: &str, active: bool| {
        json!({
            "country_code": code, "alpha3_code": alpha3, "country_name": name, "phone_code": null,
            "currency": null, "currency_code": null, "is_active": active, "flag": null,
        })
    };
    let state = |code: &str, name: &str| {
        json!({
            "country_code": &code[..2], "state_code": code, "state_name": name, "capital": null, "is_active": true,
        })
    };
    let city = |code: &str, state: Option<&str>, name: &str| {
        json!({
            "city_code": code, "state_code": state, "country_code": "NG", "city_name": name,
            "is_capital": false, "is_active": true,
        })
    };
    let countries = [
        country("NG", "NGA", "Nigeria", true),
        country("GH", "GHA", "Ghana", true),
        country("AQ", "ATA", "Antarctica", false),
    ];
    let states = [state("NG-LA", "Lagos"), state("NG-KN", "Kano"), state("GH-AA", "Greater Accra")];
    let cities = [city("1", Some("NG-LA"), "Ikeja"), city("2", None, "Somewhere")];
    Places::new(rows(&countries), rows(&states), rows(&cities)).unwrap()
}

#[test]
fn a_place_is_found_by_code_or_name_whatever_the_case() {
    let places = places();
    for text in ["NG", "ng", "NGA", "nga", "Nigeria", " nigeria "] {
        assert_eq!(places.country(text).map(|country| &*country.country_code), Some("NG"), "{text}");
    }
    for text in ["", "N", "NGAA", "Nigerien", "AQ"] {
        assert_eq!(places.country(text), None, "{text}");
    }
    let nigeria = places.country("NG").unwrap();
    for text in ["NG-LA", "LA", "la", "Lagos", "LAGOS"] {
        assert_eq!(places.state(nigeria, text).map(|state| &*state.state_code), Some("NG-LA"), "{text}");
    }
    // A state of another country is none of this one's.
    for text in ["GH-AA", "AA", "Greater Accra", "NG"] {
        assert_eq!(places.state(nigeria, text), None, "{text}");
    }
}

#[test]
fn a_city_lies_in_the_state_or_without_one_in_the_country() {
    let places = places();
    let nigeria = places.country("NG").unwrap();
    let (lagos, kano) = (places.state(nigeria, "LA"), places.state(nigeria, "KN"));
    assert!(places.has_city(nigeria, lagos, "ikeja"));
    assert!(!places.has_city(nigeria, kano, "Ikeja"));
    assert!(places.has_city(nigeria, None, "Ikeja") && places.has_city(nigeria, None, "Somewhere"));
    assert!(!places.has_city(places.country("GH").unwrap(), None, "Ikeja"));
    let dangling = json!({
        "city_code": "3", "state_code": null, "country_code": "ZZ", "city_name": "Nowhere", "is_capital": false,
        "is_active": true,
    });
    let error = Places::new(Vec::new(), Vec::new(), rows(&[dangling])).unwrap_err();
    assert_eq!(error.to_string(), "3 names ZZ, which is not there");
}
