//! T48: how long a wrong login takes says nothing of whether there is such a user.

use std::time::Instant;

use reqwest::Method;
use serde_json::json;

use crate::support::Bank;
use crate::support::chance::{Chance, did, scaled};

/// Logins of each kind.
const LOGINS: usize = 250;

/// Whether the times of the two are drawn from one distribution, by the Mann-Whitney test: the square of its z, in hundredths,
/// positive. Beyond 1,600 (z = 4) they are with one chance in 15,000.
fn z_squared(one: &[u64], other: &[u64]) -> u128 {
    let mut all: Vec<(u64, bool)> = one.iter().map(|time| (*time, true)).collect();
    all.extend(other.iter().map(|time| (*time, false)));
    all.sort_unstable();
    let ranks = (1_u128..).zip(&all).filter(|(_, (_, is_one))| *is_one).map(|(rank, _)| rank).sum::<u128>();
    let (n, m) = (one.len() as u128, other.len() as u128);
    // Twice the distance of U from its mean; its variance is n * m * (n + m + 1) / 12.
    let distance = (2 * (ranks - n * (n + 1) / 2)).abs_diff(n * m);
    100 * distance * distance * 12 / (4 * n * m * (n + m + 1))
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "just torture"]
async fn a_wrong_login_takes_as_long_for_somebody_as_for_nobody() {
    let mut chance = Chance::new();
    let bank = Bank::open().await;
    let client = bank.client();
    let mut times: [Vec<u64>; 2] = [Vec::new(), Vec::new()];
    for n in 0..2 * scaled(LOGINS) {
        // In random order, so that nothing that the machine does at times hits one of them only.
        let who = usize::from(chance.between(0, 1) == 0);
        let username = [format!("bola{}@example.com", n % 10), "bola@example.com".to_owned()][who].clone();
        let body = json!({
            "username": username, "password": "not-the-password-1",
            "deviceInfo": {"deviceId": "timing", "deviceType": "DESKTOP"},
        });
        let began = Instant::now();
        let answer = client.request(Method::POST, "/v1/users/password/login").json(&body).send().await;
        let took = u64::try_from(began.elapsed().as_nanos()).unwrap();
        answer.problem(401, "INVALID_CREDENTIALS");
        times[who].push(took);
        // After five in a row everybody would have to wait.
        sqlx::query("TRUNCATE guesses").execute(&bank.pool).await.unwrap();
    }
    let [nobody, somebody] = &mut times;
    did(nobody.len() + somebody.len(), "wrong logins");
    let z = z_squared(nobody, somebody);
    nobody.sort_unstable();
    somebody.sort_unstable();
    let (half, other_half) = (nobody[nobody.len() / 2], somebody[somebody.len() / 2]);
    println!("medians {half} and {other_half} ns, 100 z^2 = {z}");
    assert!(z < 1_600, "one can tell: medians {half} and {other_half} ns, 100 z^2 = {z}");
    // Control: were nobody answered by a fourth sooner, it would show. Without the hash it would be nearly all of it.
    let sooner: Vec<u64> = nobody.iter().map(|time| time - time / 4).collect();
    assert!(z_squared(&sooner, somebody) > 1_600, "too few to tell anything");
    bank.close().await;
}
