//! Auditors who trust nobody: what was sealed is proven, and whoever changes it afterwards is found out by two checkers
//! that share no code.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bursar_commands::audit::{self, Trusted, Verified};
use bursar_commands::proof::merkle::{Hash, extends, includes};
use bursar_commands::proof::note::{Checkpoint, Verifier, split};
use bursar_commands::proof::{Outside, Sealer};
use serde_json::Value;
use tokio::process::Command;

use crate::support::{Bank, Client, Scratch, config};

/// Seals what is in the log.
pub async fn seal(bank: &Bank, outside: Outside) -> i64 {
    let clock = Arc::clone(&bank.app.journal.sources().clock);
    let sealer = Sealer::new(bank.pool.clone(), Arc::clone(&bank.app.signer), clock, outside).unwrap();
    sealer.seal().await.unwrap().try_into().unwrap()
}

async fn auditor(bank: &Bank) -> Client {
    bank.person("auditor@example.com").await.client
}

/// A bank with some payments in its log.
pub async fn busy() -> Bank {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    for n in 0..20 {
        ada.client.pay(&ada.current, &bola.current, 100 + n, &format!("busy-{n}")).await.is(201);
        if n == 10 {
            seal(&bank, Outside::default()).await;
        }
    }
    bank
}

fn hash(value: &Value) -> Hash {
    BASE64.decode(value.as_str().unwrap()).unwrap().try_into().unwrap()
}

fn path(value: &Value) -> Vec<Hash> {
    value.as_array().unwrap().iter().map(hash).collect()
}

/// The checkpoint of a proof, once its signature is checked.
fn opened(bank: &Bank, checkpoint: &Value) -> Checkpoint {
    let opened = bank.app.signer.verifier().open(checkpoint["note"].as_str().unwrap()).unwrap();
    assert_eq!(
        (opened.size, opened.root),
        (checkpoint["size"].as_u64().unwrap(), hash(&checkpoint["rootHash"]))
    );
    opened
}

#[tokio::test]
async fn a_receipt_proves_that_the_payment_is_in_the_log() {
    let bank = busy().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let paid = ada.client.pay(&ada.current, &bola.current, 77, "proven").await.is(201);
    let receipt = format!("/v1/transactions/{}/receipt", paid.text_at("transactionId"));
    let unsealed = ada.client.get(&receipt).await.is(200);
    assert_eq!((&unsealed.body["proof"], unsealed.header("etag")), (&Value::Null, ""));
    seal(&bank, Outside::default()).await;
    for reader in [&ada.client, &bola.client] {
        let proof = reader.get(&receipt).await.is(200).body["proof"].clone();
        let checkpoint = opened(&bank, &proof["checkpoint"]);
        let (position, leaf) = (proof["position"].as_i64().unwrap(), hash(&proof["leafHash"]));
        assert_eq!(position.to_string(), paid.header("bursar-position"));
        let leaf_number = u64::try_from(position - 1).unwrap();
        assert!(includes(&checkpoint.root, checkpoint.size, leaf_number, leaf, &path(&proof["path"])));
        assert!(!includes(&checkpoint.root, checkpoint.size, leaf_number - 1, leaf, &path(&proof["path"])));
    }
    bank.close().await;
}

#[tokio::test]
async fn an_auditor_is_shown_that_the_log_only_grew_and_each_event_in_it() {
    let bank = busy().await;
    let newest = seal(&bank, Outside::default()).await;
    let auditor = auditor(&bank).await;
    let list = auditor.get("/v1/audit/checkpoints").await.is(200).body;
    let key: Verifier = list["key"].as_str().unwrap().parse().unwrap();
    assert_eq!(key, *bank.app.signer.verifier());
    let [new, old] = [0, 1].map(|n| opened(&bank, &list["checkpoints"][n]));
    assert_eq!(i64::try_from(new.size).unwrap(), newest);
    let question = format!("/v1/audit/consistency?from={}&to={}", old.size, new.size);
    let proof = auditor.get(&question).await.is(200).body;
    assert!(extends((old.size, &old.root), (new.size, &new.root), &path(&proof["path"])));
    assert!(!extends((old.size, &new.root), (new.size, &new.root), &path(&proof["path"])));
    for position in [1, 7, newest] {
        let proven = auditor.get(&format!("/v1/audit/events/{position}/proof")).await.is(200);
        assert_eq!(proven.body["event"]["position"], position);
        // The bytes of the event, not what a parser makes of them, are what was hashed.
        let event = proven.text.split_once("\"event\":").unwrap().1.rsplit_once(",\"proof\":").unwrap().0;
        let leaf = bursar_commands::proof::merkle::leaf_hash(event.as_bytes());
        assert_eq!(leaf, hash(&proven.body["proof"]["leafHash"]));
    }
    let beyond = format!("/v1/audit/events/{}/proof", newest + 1);
    auditor.get(&beyond).await.problem(404, "NOT_FOUND");
    auditor.get(&format!("/v1/audit/consistency?to={}", newest + 1)).await.problem(404, "NOT_FOUND");
    bank.close().await;
}

#[tokio::test]
async fn a_server_seals_by_itself_and_tells_a_file() {
    let mut config = config();
    let scratch = Scratch::new("checkpoints");
    let file = scratch.path().join("elsewhere/checkpoints.txt");
    config.audit.seal_millis = 20;
    config.audit.checkpoint_file = Some(file.clone());
    let bank = Bank::configured(config).await;
    let ada = bank.ada().await;
    ada.client.pay(&ada.current, &bank.bola().await.current, 5, "sealed").await.is(201);
    let head = bank.events().await;
    let newest = loop {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let last = split(&text).pop().unwrap_or_default();
        match bank.app.signer.verifier().open(&last) {
            Ok(checkpoint) if i64::try_from(checkpoint.size).unwrap() >= head => break checkpoint,
            _ => tokio::time::sleep(std::time::Duration::from_millis(20)).await,
        }
    };
    let list = auditor(&bank).await.get("/v1/audit/checkpoints?size=100").await.is(200).body;
    let known = list["checkpoints"].as_array().unwrap();
    assert!(known.iter().any(|one| opened(&bank, one) == newest));
    bank.close().await;
}

/// The bundle of a bank, and what both checkers say of it.
pub struct Bundle(Scratch);

impl Bundle {
    pub async fn of(bank: &Bank) -> Self {
        let bundle = Self(Scratch::new("bundle"));
        bundle.again(bank).await;
        bundle
    }

    async fn again(&self, bank: &Bank) -> audit::Exported {
        audit::export(&bank.pool, bank.app.signer.verifier(), self.path(), &mut |_, _| {}).await.unwrap()
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    fn verified(&self, trusted: &Trusted) -> Verified {
        audit::verify(self.path(), trusted, &mut |_, _| {}).unwrap()
    }

    /// What the checker that shares no code with us prints, and whether it is content.
    async fn second_opinion(&self) -> (bool, String) {
        let (content, said, complaint) = second_opinion(self.path(), &[]).await;
        assert!(complaint.is_empty(), "{complaint}");
        (content, said)
    }
}

/// What the checker that shares no code with us thinks of a directory: whether it is content, what it prints, and what it
/// complains of.
pub async fn second_opinion(dir: &Path, arguments: &[&str]) -> (bool, String, String) {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("verify_bundle.py");
    let ran = Command::new("python3").arg(script).arg(dir).args(arguments).output().await.unwrap();
    let [said, complaint] = [ran.stdout, ran.stderr].map(|text| String::from_utf8(text).unwrap());
    (ran.status.success(), said, complaint)
}

#[tokio::test]
async fn two_checkers_agree_on_every_balance_without_the_bank() {
    let bank = busy().await;
    seal(&bank, Outside::default()).await;
    let bundle = Bundle::of(&bank).await;
    let own = bundle.verified(&Trusted::default());
    assert_eq!(own.report.difference, None);
    assert_eq!((own.report.events, own.checkpoints), (bank.events().await, 2));
    let replay = audit::replay(&bank.pool, &bursar_domain::codec::Codec::default(), &mut |_, _| {}).await;
    let replay = replay.unwrap();
    assert_eq!(own.report.trial_balance, replay.trial_balance);
    let (content, said) = bundle.second_opinion().await;
    assert!(content, "{said}");
    for (line, balance) in replay.trial_balance.values().flatten() {
        let there = said.lines().any(|said| {
            let mut words = said.split_whitespace();
            (words.next(), words.next()) == (Some(line), Some(&balance.to_string()))
        });
        assert!(there, "{line} {balance} in {said}");
    }
    assert!(said.ends_with(&format!("root: {}\n", bursar_commands::keys::hex(&own.root))), "{said}");
    // Later, only what is new is added, and the older checkpoints still hold.
    let ada = bank.ada().await;
    ada.client.pay(&ada.current, &bank.bola().await.current, 5, "later").await.is(201);
    let unsealed = bundle.again(&bank).await;
    assert!(unsealed.unsealed > 0);
    seal(&bank, Outside::default()).await;
    assert_eq!(bundle.again(&bank).await.checkpoints, 3);
    assert_eq!(bundle.verified(&Trusted::default()).report.difference, None);
    bank.close().await;
}

/// Control for the checkpoints outside: whoever owns the database can take the last hour back, and nothing inside tells.
#[tokio::test]
async fn a_past_that_was_cut_off_whole_is_told_by_a_checkpoint_kept_elsewhere() {
    let bank = busy().await;
    let scratch = Scratch::new("kept");
    let file = scratch.path().join("checkpoints.txt");
    let newest = seal(&bank, Outside { file: Some(file.clone()), url: None }).await;
    for table in ["events", "tiles", "seals", "head"] {
        let sql = format!("CREATE TABLE kept_{table} AS TABLE {table}");
        sqlx::query(&sql).execute(&bank.pool).await.unwrap();
    }
    let cut = "WITH old AS (SELECT min(size) AS size FROM seals),
                    events_gone AS (DELETE FROM events WHERE position > (SELECT size FROM old)),
                    head_back AS (UPDATE head SET position = (SELECT size FROM old))
               DELETE FROM seals WHERE size > (SELECT size FROM old)";
    sqlx::query(cut).execute(&bank.pool).await.unwrap();
    let bundle = Bundle::of(&bank).await;
    assert_eq!(bundle.verified(&Trusted::default()).report.difference, None, "nothing inside tells");
    let key = Some(bank.app.signer.verifier().clone());
    let trusted = Trusted { key, notes: split(&std::fs::read_to_string(&file).unwrap()) };
    let found = bundle.verified(&trusted).report.difference.unwrap();
    assert!(found.subject.ends_with(&format!("to {newest}")), "{found}");
    for table in ["events", "tiles", "seals", "head"] {
        sqlx::query(&format!("DELETE FROM {table}")).execute(&bank.pool).await.unwrap();
        let sql = format!("INSERT INTO {table} SELECT * FROM kept_{table}");
        sqlx::query(&sql).execute(&bank.pool).await.unwrap();
    }
    bank.close().await;
}
