//! Erasing somebody who is at work: whatever they were in the midst of, nothing is left.

use bursar_domain::kernel::Permission;
use futures_util::future::join_all;
use serde_json::json;
use tokio::time::sleep;

use super::{erase, two};
use crate::support::chance::{Chance, did, scaled};
use crate::support::secrets::tables_with;
use crate::support::{Bank, Client, quiet};

/// People whom a usual run erases.
const PEOPLE: usize = 4;

/// Writes down something personal again and again, until nobody takes it: how often that was done.
async fn writes(client: Client, word: &str) -> usize {
    for n in 0.. {
        let answer = client.post("/v1/transactions/tags", &json!({"tagName": format!("{word} {n}")})).await;
        match answer.status {
            // There is room for a hundred.
            201 => drop(client.delete(&format!("/v1/transactions/tags/{}", answer.text_at("tagId"))).await),
            // Nobody has such a session any more, or such a person.
            401 => return n,
            _ => {
                answer.problem(409, "SUBJECT_ERASED");
                return n;
            }
        }
    }
    unreachable!("they are erased at some time")
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_erased_while_they_write_leaves_nothing() {
    let bank = Bank::configured(quiet()).await;
    let (second, address) = bank.second_configured(quiet()).await;
    let (maker, checker) = two(&bank).await;
    let (mut chance, mut written) = (Chance::new(), 0);
    for round in 0..scaled(PEOPLE) {
        let (name, word) = (format!("leaver-{round}"), format!("Canary-{round}"));
        let user = bank.registered(&name).await;
        let session = bank.session(user, Permission::CUSTOMER).await;
        let client = bank.client().with_token(&bank.token(user, session, Permission::CUSTOMER, 0));
        client.post("/v1/transactions/tags", &json!({"tagName": format!("{word} first")})).await.is(201);
        bank.caught_up().await;
        for secret in [&name, &word] {
            // The control: it could be found before.
            assert!(!tables_with(&bank, secret).await.is_empty(), "{secret}");
        }
        let writers = (0..4).map(|n| {
            let client = if n % 2 == 0 { client.clone() } else { client.at(address) };
            let word = format!("{word} {n}");
            async move { writes(client, &word).await }
        });
        let erasing = async {
            sleep(chance.millis(0, 30)).await;
            erase(&maker, user).await.is(200);
            sleep(chance.millis(0, 30)).await;
            let checker = if chance.between(0, 1) == 0 { checker.clone() } else { checker.at(address) };
            erase(&checker, user).await
        };
        let (wrote, erased) = tokio::join!(join_all(writers), erasing);
        assert_eq!(erased.is(200).text_at("status"), "ERASED");
        written += wrote.into_iter().sum::<usize>();
        bank.caught_up().await;
        for secret in [&name, &word] {
            assert_eq!(tables_with(&bank, secret).await, [""; 0], "{secret}");
        }
        let keys = "SELECT count(*) FROM data_keys WHERE subject = $1 AND (wrapped IS NOT NULL OR erased_at IS NULL)";
        let keys: i64 = sqlx::query_scalar(keys).bind(user.to_string()).fetch_one(&bank.pool).await.unwrap();
        assert_eq!(keys, 0, "a key is left, or made anew");
    }
    assert!(written > 0, "nobody was at work");
    did(scaled(PEOPLE), "people erased");
    did(written, "things written down meanwhile");
    second.close().await;
    // Compares every read model with the log, and the log with itself.
    bank.close().await;
}
