//! Banks that money can be sent to.

use serde_json::{Value, json};

use crate::support::{Bank, config};

const EXTERNAL: &str = "/v1/payments/banks/external";
const INTERNAL: &str = "/v1/payments/banks/internal";

/// What each bank of a list has at `member`.
fn all<'a>(banks: &'a [Value], member: &str) -> Vec<&'a str> {
    banks.iter().map(|bank| bank[member].as_str().unwrap()).collect()
}

#[tokio::test]
async fn this_bank_is_the_one_it_is_configured_to_be() {
    let bank = Bank::open().await;
    let ada = bank.ada().await.client;
    let expected = json!({
        "banks": [{
            "bankCode": "999999", "bankName": "Bursar Demo Bank", "bankType": "COMMERCIAL", "isActive": true,
            "logo": null, "transferChannels": ["MOBILE_APP", "WEB"],
        }],
        "totalBanks": 1,
    });
    assert_eq!(ada.get(INTERNAL).await.is(200).body, expected);
    bank.close().await;

    // A bank that others know is not one of the others to itself.
    let mut other = config();
    other.bank.code = "090110".to_owned();
    other.bank.channels = vec!["USSD".to_owned()];
    let bank = Bank::configured(other).await;
    let ada = bank.ada().await.client;
    let this = ada.get(INTERNAL).await.is(200);
    assert_eq!(this.list_at("banks")[0]["bankType"], "MICROFINANCE");
    assert_eq!(this.list_at("banks")[0]["transferChannels"], json!(["USSD"]));
    assert_eq!(ada.get(EXTERNAL).await.is(200).body["pagination"]["total"], 322);
    assert_eq!(ada.get(&format!("{EXTERNAL}?q=090110")).await.is(200).list_at("banks").len(), 0);
    bank.close().await;
}

#[tokio::test]
async fn other_banks_are_paged_filtered_and_in_the_order_of_names() {
    let bank = Bank::open().await;
    let ada = bank.ada().await.client;
    let get = async |query: &str| ada.get(&format!("{EXTERNAL}?{query}")).await.is(200);
    let mut names = Vec::new();
    for page in 1..=4 {
        let answer = get(&format!("size=100&page={page}")).await;
        names.extend(
            answer.list_at("banks").iter().map(|bank| bank["bankName"].as_str().unwrap().to_lowercase()),
        );
        let pagination =
            json!({"page": page, "size": 100, "total": 323, "hasNext": page < 4, "hasPrevious": page > 1});
        assert_eq!(answer.body["pagination"], pagination);
    }
    assert_eq!(names.len(), 323);
    assert!(names.is_sorted());
    assert_eq!(get("page=5&size=100").await.list_at("banks").len(), 0);
    assert_eq!(get("").await.list_at("banks").len(), 20);

    let found = get("country=KE&bankType=MICROFINANCE").await;
    let [faulu] = found.list_at("banks") else { panic!("{}", found.text) };
    assert_eq!((&faulu["country"], &faulu["bankType"]), (&json!("KE"), &json!("MICROFINANCE")));
    assert_eq!(faulu["processingTime"], "1 to 3 working days");
    // By name whatever its case, by the code that routes, and by the one people know.
    for query in ["q=WEMA", "q=000017", "q=035&bankType=COMMERCIAL"] {
        let found = get(query).await;
        let [wema] = found.list_at("banks") else { panic!("{query}: {}", found.text) };
        assert_eq!(
            *wema,
            json!({
                "bankCode": "000017", "bankName": "Wema Bank", "bankType": "COMMERCIAL", "country": "NG",
                "isActive": true, "logo": null, "transferChannels": ["MOBILE_APP", "WEB"],
                "processingTime": "Within minutes",
            })
        );
    }
    // A bank whose licence is gone is shown, and cannot be paid to.
    let heritage = get("q=heritage").await;
    assert_eq!(heritage.list_at("banks")[0]["isActive"], false);
    // A text is text, not a pattern.
    assert_eq!(all(get("q=%25").await.list_at("banks"), "bankName"), Vec::<&str>::new());
    assert_eq!(get("country=ZZ").await.list_at("banks").len(), 0);
    let wrong = ada.get(&format!("{EXTERNAL}?country=NGA&bankType=CENTRAL&page=0")).await;
    assert_eq!(wrong.pointers(), ["/country", "/bankType", "/page"]);
    bank.close().await;
}

#[tokio::test]
async fn what_a_client_has_it_need_not_fetch_again() {
    let bank = Bank::open().await;
    let ada = bank.ada().await.client;
    let first = ada.get(EXTERNAL).await.is(200);
    assert_eq!(first.header("cache-control"), "private, max-age=300");
    let with = async |path: &str, tag: &str| {
        ada.request(reqwest::Method::GET, path).header("If-None-Match", tag).send().await
    };
    let again = with(EXTERNAL, first.header("etag")).await.is(304);
    assert_eq!((again.text.as_str(), again.header("cache-control")), ("", "private, max-age=300"));
    // Another page is another thing.
    with(&format!("{EXTERNAL}?page=2"), first.header("etag")).await.is(200);
    bank.close().await;
}
