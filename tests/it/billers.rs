//! Who can be paid bills, and what for.

use serde_json::{Value, json};

use crate::support::Bank;
use crate::support::client::Answer;

#[tokio::test]
async fn billers_are_paged_filtered_and_in_the_order_of_names() {
    let bank = Bank::open().await;
    let ada = bank.ada().await.client;
    let get = async |query: &str| ada.get(&format!("/v1/billers?{query}")).await.is(200);
    let names = |answer: &Answer| -> Vec<String> {
        let billers = answer.list_at("billers").iter();
        billers.map(|biller| biller["billerName"].as_str().unwrap().to_lowercase()).collect()
    };
    let (first, second) = (get("").await, get("page=2").await);
    assert_eq!(
        first.body["pagination"],
        json!({"page": 1, "size": 20, "total": 32, "hasNext": true, "hasPrevious": false})
    );
    let listed = [names(&first), names(&second)].concat();
    assert_eq!(listed.len(), 32);
    assert!(listed.is_sorted());
    assert_eq!(names(&get("page=3").await), Vec::<String>::new());

    assert_eq!(get("category=UTILITIES").await.body["pagination"]["total"], 5);
    assert_eq!(get("category=NONE").await.body["pagination"]["total"], 0);
    assert_eq!(get("country=GH").await.body["pagination"]["total"], 0);
    let found = get("q=skyview&category=CABLE_TV&country=NG").await;
    let [skyview] = found.list_at("billers") else { panic!("{}", found.text) };
    assert_eq!(
        *skyview,
        json!({
            "billerId": "SBX_TV_SKYVIEW", "billerName": "Sandbox SkyView Satellite TV",
            "billerCode": "SBX_TV_SKYVIEW", "category": "CABLE_TV", "logo": null, "isActive": true,
            "supportedChannels": ["BANK_TRANSFER"], "country": "NG", "currency": "NGN",
            "customerReferenceLabel": "Smartcard number", "customerReferencePattern": "^[0-9]{10}$",
        })
    );
    assert_eq!(get("q=SBX_TV_").await.body["pagination"]["total"], 4);
    let wrong = ada.get("/v1/billers?country=NGA&size=0").await;
    assert_eq!(wrong.pointers(), ["/country", "/size"]);
    bank.close().await;
}

#[tokio::test]
async fn a_biller_sells_for_a_price_or_within_bounds() {
    let bank = Bank::open().await;
    let ada = bank.ada().await.client;
    let answer = ada.get("/v1/billers/SBX_TRN_METRO/items").await.is(200);
    assert_eq!(
        (answer.text_at("billerId"), answer.text_at("billerName")),
        ("SBX_TRN_METRO", "Sandbox Metro Transit Card")
    );
    let items = answer.list_at("items");
    assert_eq!(items.len(), 3);
    assert_eq!(
        items[0],
        json!({
            "itemId": "SBX_TRN_METRO_MONTHLY", "itemName": "Monthly transit pass",
            "itemCode": "SBX_TRN_METRO_MONTHLY", "amount": 1_250_000, "currency": "NGN",
            "description": "Valid for 30 days", "isActive": true, "isAmountFixed": true, "minAmount": null,
            "maxAmount": null, "fee": 0,
        })
    );
    let top_up = &items[2];
    assert_eq!(
        (&top_up["amount"], &top_up["isAmountFixed"], &top_up["minAmount"], &top_up["maxAmount"]),
        (&Value::Null, &json!(false), &json!(20_000), &json!(5_000_000))
    );
    let second = ada.get("/v1/billers/SBX_TRN_METRO/items?size=2&page=2").await.is(200);
    assert_eq!(second.list_at("items"), &items[2..]);
    assert_eq!(second.body["pagination"]["total"], 3);

    for unknown in ["SBX_NONE", "sbx_trn_metro", "a%20b", "%00"] {
        let path = format!("/v1/billers/{unknown}/items");
        let answer = ada.get(&path).await.problem(404, "NOT_FOUND");
        assert_eq!(answer.text_at("detail"), "no such biller");
    }
    bank.close().await;
}

#[tokio::test]
async fn categories_count_their_billers() {
    let bank = Bank::open().await;
    let ada = bank.ada().await.client;
    let answer = ada.get("/v1/billers/categories").await.is(200);
    assert_eq!(answer.number_at("totalCategories"), 8);
    let categories = answer.list_at("categories");
    assert_eq!(
        categories[1],
        json!({
            "categoryId": "CABLE_TV", "categoryName": "Cable TV", "categoryCode": "CABLE_TV",
            "description": "Pay television subscriptions.", "icon": null, "billerCount": 4, "isActive": true,
        })
    );
    let counted = categories.iter().map(|category| category["billerCount"].as_i64().unwrap());
    assert_eq!(counted.sum::<i64>(), 32);
    for category in categories {
        let path = format!("/v1/billers?category={}", category["categoryCode"].as_str().unwrap());
        assert_eq!(
            ada.get(&path).await.is(200).body["pagination"]["total"],
            category["billerCount"],
            "{path}"
        );
    }
    bank.close().await;
}
