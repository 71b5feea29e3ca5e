use bursar_domain::AccountNumber;
use bursar_domain::{Amount, Currency};
use bursar_projections::statement_entries::{AsOf, EntryType};
use bursar_projections::{Page, Sort, accounts::AccountSort};
use jiff::Timestamp;

use super::body::parse;
use super::write::idempotency_key;
use super::*;
use crate::problem::FieldError;

crate::request! {
    /// Where a payment goes.
    Target {
        /// An account.
        account: AccountNumber = "account",
    }
}

crate::request! {
    /// A payment.
    Pay {
        /// Minor units.
        amount: Amount = "amount",
        /// ISO 4217.
        currency: Currency = "currency",
        /// Free text.
        note: Option<Text<5>> = "note",
        /// Where to.
        target: Target = "target",
    }
}

fn faults(json: &str) -> Vec<(String, &'static str)> {
    let value = serde_json::from_str(json).unwrap();
    let faults = Pay::read(value).err().unwrap_or_default();
    faults.into_iter().map(|FieldError { pointer, code, .. }| (pointer, code)).collect()
}

fn fault_of(amount: &str) -> &'static str {
    let json = format!(r#"{{"amount":{amount},"currency":"NGN","target":{{"account":"1234567897"}}}}"#);
    faults(&json).first().map_or("", |(_, code)| code)
}

#[test]
fn a_good_body_is_read_and_unknown_fields_are_passed_over() {
    let json = r#"{"amount":5,"currency":"NGN","note":null,"target":{"account":"1234567897"},"admin":true}"#;
    let pay = Pay::read(serde_json::from_str(json).unwrap()).ok().unwrap();
    assert_eq!((pay.amount.minor(), pay.currency, pay.note), (5, Currency::NGN, None));
    assert_eq!(pay.target.account.as_str(), "1234567897");
}

#[test]
fn every_error_is_found_at_once() {
    let wrong = r#"{"amount":"5","currency":"ngn","note":"too long","target":{"account":"1234567890"}}"#;
    assert_eq!(
        faults(wrong),
        [
            ("/amount".to_owned(), "WRONG_TYPE"),
            ("/currency".to_owned(), "MALFORMED"),
            ("/note".to_owned(), "LENGTH"),
            ("/target/account".to_owned(), "MALFORMED"),
        ]
    );
    let missing: Vec<_> = faults("{}").into_iter().map(|(pointer, _)| pointer).collect();
    assert_eq!(missing, ["/amount", "/currency", "/target"]);
    assert_eq!(faults("[]"), [(String::new(), "WRONG_TYPE")]);
}

#[test]
fn an_amount_is_a_positive_whole_number_of_64_bits() {
    for wrong in ["0", "-1", "1.5", "1e3", "1000000000000001", "9223372036854775808"] {
        assert_eq!(fault_of(wrong), "OUT_OF_RANGE", "{wrong}");
    }
    for wrong in ["\"1\"", "true", "[1]", "{}"] {
        assert_eq!(fault_of(wrong), "WRONG_TYPE", "{wrong}");
    }
    assert_eq!(fault_of("1000000000000000"), "");
}

#[test]
fn control_characters_are_refused() {
    let json = r#"{"amount":1,"currency":"NGN","note":"a\u0000b","target":{"account":"1234567897"}}"#;
    assert_eq!(faults(json), [("/note".to_owned(), "CONTROL_CHARACTER")]);
}

#[test]
fn garbage_is_a_problem_and_is_not_quoted() {
    let problem = parse::<Pay>(b"{\"password\": hunter2}").err().unwrap();
    assert_eq!(problem.status(), 400);
    assert!(!format!("{problem:?}").contains("hunter2"));
    assert!(parse::<Pay>(b"").is_err());
    // serde_json stops before the stack does.
    assert!(parse::<Pay>("[".repeat(100_000).as_bytes()).is_err());
}

#[test]
fn an_idempotency_key_is_short_and_printable() {
    let key = |value: &[u8]| {
        let mut headers = axum::http::HeaderMap::new();
        headers.insert("idempotency-key", axum::http::HeaderValue::from_bytes(value).unwrap());
        idempotency_key(&headers)
    };
    assert_eq!(key(b"order 17").unwrap().as_deref(), Some("order 17"));
    assert!(key(b"").is_err());
    assert!(key(&[b'x'; 256]).is_err());
    assert!(key("nai\u{308}ve".as_bytes()).is_err());
    assert_eq!(idempotency_key(&axum::http::HeaderMap::new()).unwrap(), None);
}

fn now() -> Timestamp {
    "2026-03-15T12:00:00Z".parse().unwrap()
}

fn params(pairs: &[(&str, &str)]) -> Params {
    Params::new(pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(), now())
}

/// The answer of `read`, or the pointers of what was wrong.
fn ask<T>(pairs: &[(&str, &str)], read: impl FnOnce(&mut Params) -> T) -> Result<T, Vec<String>> {
    let mut params = params(pairs);
    let answer = read(&mut params);
    params.finish(answer).map_err(|faults| faults.into_iter().map(|f| f.pointer).collect())
}

fn page(params: &mut Params) -> Page {
    Param::take(params, "page")
}

fn sort(params: &mut Params) -> Sort<AccountSort> {
    Param::take(params, "sort")
}

fn range_of(params: &mut Params) -> DateRange {
    Param::take(params, "from")
}

fn as_of(params: &mut Params) -> Option<AsOf> {
    Param::take(params, "asOf")
}

#[test]
fn pages_count_from_one_and_large_ones_are_clamped() {
    assert_eq!(ask(&[], page), Ok(Page { page: 1, size: 20 }));
    assert_eq!(ask(&[("page", "3"), ("size", "50")], page), Ok(Page { page: 3, size: 50 }));
    assert_eq!(ask(&[("size", "5000000000")], page), Ok(Page { page: 1, size: 100 }));
    for wrong in ["0", "-1", "1.5", "x", ""] {
        assert_eq!(ask(&[("page", wrong), ("size", wrong)], page), Err(vec!["/page".into(), "/size".into()]));
    }
}

#[test]
fn a_list_is_sorted_by_what_is_allowed() {
    assert_eq!(ask(&[], sort), Ok(Sort::<AccountSort>::default()));
    let by_name = Sort { field: AccountSort::Name, descending: false };
    assert_eq!(ask(&[("sort", "accountName")], sort), Ok(by_name));
    assert_eq!(ask(&[("sort", "1; DROP TABLE x")], sort), Err(vec!["/sort".into()]));
}

#[test]
fn a_range_includes_its_last_day_and_a_timestamp_excludes_itself() {
    let range = |from: &str, to: &str| ask(&[("from", from), ("to", to)], range_of).map(|r| (r.from, r.to));
    let time = |text: &str| text.parse::<Timestamp>().unwrap();
    assert_eq!(
        range("2026-01-01", "2026-01-01"),
        Ok((time("2026-01-01T00:00:00Z"), time("2026-01-02T00:00:00Z")))
    );
    let (from, to) = ("2026-01-01T06:00:00Z", "2026-01-01T07:00:00+01:00");
    assert_eq!(range(from, to), Ok((time(from), time(from))));
    assert!(range("2026-01-02", "2026-01-01").is_err());
    assert!(range("2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z").is_err());
    assert!(range("2025-01-01", "2026-01-01").is_ok());
    assert!(range("2024-01-01", "2026-01-01").is_err());
    assert!(range("yesterday", "2026-01-01").is_err());
    let usual = ask(&[], range_of).unwrap();
    assert_eq!((usual.from, usual.to), (time("2026-02-14T00:00:00Z"), time("2026-03-16T00:00:00Z")));
}

#[test]
fn a_range_touches_whole_days() {
    let days = |from: &str, to: &str| {
        let (first, last) = ask(&[("from", from), ("to", to)], range_of).unwrap().days();
        (first.to_string(), last.to_string())
    };
    assert_eq!(days("2026-01-01", "2026-01-31"), ("2026-01-01".to_owned(), "2026-01-31".to_owned()));
    let instants = days("2026-01-01T05:00:00Z", "2026-01-02T00:00:00Z");
    assert_eq!(instants, ("2026-01-01".to_owned(), "2026-01-01".to_owned()));
}

#[test]
fn time_travel_goes_back_and_one_way_at_a_time() {
    let yesterday = "2026-03-14T00:00:00Z";
    assert_eq!(ask(&[], as_of), Ok(None));
    assert_eq!(ask(&[("asOf", yesterday)], as_of), Ok(Some(AsOf::Time(yesterday.parse().unwrap()))));
    assert_eq!(ask(&[("asOfPosition", "7")], as_of), Ok(Some(AsOf::Position(7))));
    for wrong in [
        &[("asOf", yesterday), ("asOfPosition", "7")][..],
        &[("asOf", "2026-03-16T00:00:00Z")],
        &[("asOf", "2026-03-14")],
        &[("asOfPosition", "-1")],
    ] {
        assert!(ask(wrong, as_of).is_err(), "{wrong:?}");
    }
}

#[test]
fn every_wrong_parameter_is_found_at_once() {
    let pairs = [("page", "0"), ("type", "x"), ("minAmount", "-5"), ("q", "a\u{7}b")];
    let wrong = ask(&pairs, |params| {
        let _ = page(params);
        let _: Option<OneOf<EntryType>> = Param::take(params, "type");
        let _: Option<Minor> = Param::take(params, "minAmount");
        let _: Search = Param::take(params, "q");
    });
    assert_eq!(wrong, Err(vec!["/page".into(), "/type".into(), "/minAmount".into(), "/q".into()]));
}
