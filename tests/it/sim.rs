//! `bursar sim`: what a user of it sees. What a simulation must find is tested beside it, in `commands`.

use crate::support::chance::scaled;
use crate::support::process::{Ended, bursar, directory, run};

/// A simulation in a process of its own.
async fn sim(arguments: &[&str]) -> Ended {
    run(bursar(&[&["sim"], arguments].concat())).await
}

fn line<'a>(ended: &'a Ended, name: &str) -> &'a str {
    let found = ended.out.lines().find_map(|line| line.strip_prefix(name));
    found.unwrap_or_else(|| panic!("no {name} in {ended:?}")).trim()
}

#[tokio::test]
async fn a_seed_makes_the_same_log_in_two_processes() {
    let days = scaled(12).to_string();
    let arguments = ["--seed", "7", "--days", &days, "--customers", "20", "--operations", "24"];
    let (once, again) = tokio::join!(sim(&arguments), sim(&arguments));
    assert_eq!((once.code, again.code), (0, 0), "{} {}", once.err, again.err);
    for name in ["root", "events", "operations", "refusals", "trouble", "checks"] {
        assert_eq!(line(&once, name), line(&again, name));
    }
    assert_eq!(line(&once, "root").len(), 64);
    let other = sim(&["--seed", "8", "--days", "2"]).await;
    assert_ne!(line(&once, "root"), line(&other, "root"));
}

#[tokio::test]
async fn what_is_found_is_said_with_the_command_that_finds_it_again() {
    let broken = ["--seed", "1", "--days", "30", "--customers", "20", "--broken", "forgets-commit"];
    let first = sim(&broken).await;
    assert_eq!(first.code, 1, "{} {}", first.out, first.err);
    assert!(first.err.contains("FAILED on day "), "{}", first.err);
    let command = first.err.lines().find_map(|line| line.trim().strip_prefix("bursar sim ")).unwrap();
    let again = sim(&command.split(' ').collect::<Vec<_>>()).await;
    let what = |ended: &Ended| ended.err.lines().find(|line| line.starts_with("FAILED")).map(str::to_owned);
    assert_eq!((again.code, what(&again)), (1, what(&first)));
}

#[tokio::test]
async fn a_bank_is_simulated_on_its_own_products() {
    let dir = directory("sim");
    let file = dir.join("products.json");
    let mut terms = serde_json::json!({
        "productId": "CUR-009", "productName": "Everyday", "productType": "CURRENT", "currency": "NGN",
        "description": "For every day", "interestRate": 0, "minimumBalance": 0, "minimumDeposit": 0,
        "features": [], "eligibilityCriteria": [], "isActive": true,
    });
    std::fs::write(&file, serde_json::json!({"accountProducts": [terms]}).to_string()).unwrap();
    let path = file.to_str().unwrap();
    let few = ["--days", "2", "--customers", "5", "--operations", "6"];
    let (own, usual) = (sim(&[&few[..], &["--products", path]].concat()).await, sim(&few).await);
    assert_eq!((own.code, usual.code), (0, 0), "{} {}", own.err, usual.err);
    assert_ne!(line(&own, "root"), line(&usual, "root"));

    terms["interestRate"] = (-1).into();
    std::fs::write(&file, serde_json::json!({"accountProducts": [terms]}).to_string()).unwrap();
    let wrong = sim(&["--products", path]).await;
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("/accountProducts/0"), "{}", wrong.err);
    std::fs::remove_dir_all(dir).unwrap();
}

#[tokio::test]
async fn a_fault_that_does_not_exist_is_refused() {
    let ended = sim(&["--faults", "crash,flood"]).await;
    assert_eq!(ended.code, 2);
    assert!(ended.err.contains("flood") && ended.err.contains("duplicate"), "{}", ended.err);
}
