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

use crate::support::chance::{Chance, scaled};
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
async fn busy() -> Bank {
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
struct Bundle(Scratch);

impl Bundle {
    async fn of(bank: &Bank) -> Self {
        let bundle = Self(Scratch::new("bundle"));
        bundle.again(bank).await;
        bundle
    }

    async fn again(&self, bank: &Bank) -> audit::Exported {
        audit::export(&bank.pool, bank.app.signer.verifier(), self.path(), &mut |_, _| {}).await.unwrap()
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn verified(&self, trusted: &Trusted) -> Verified {
        audit::verify(self.path(), trusted, &mut |_, _| {}).unwrap()
    }

    /// What the checker that shares no code with us prints, and whether it is content.
    async fn second_opinion(&self) -> (bool, String) {
        let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("verify_bundle.py");
        let ran = Command::new("python3").arg(script).arg(self.path()).output().await.unwrap();
        assert!(ran.stderr.is_empty(), "{}", String::from_utf8_lossy(&ran.stderr));
        (ran.status.success(), String::from_utf8(ran.stdout).unwrap())
    }
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

/// What somebody who owns the database can do, and the positions at which it may show.
#[derive(Debug, Clone, Copy)]
enum Tampering {
    Payload,
    Time,
    Actor,
    Deleted,
    Swapped,
    Truncated,
    /// And the sealed hash with it: only a signature is left.
    WithItsHash,
}

impl Tampering {
    const ALL: [Self; 7] = [
        Self::Payload,
        Self::Time,
        Self::Actor,
        Self::Deleted,
        Self::Swapped,
        Self::Truncated,
        Self::WithItsHash,
    ];

    async fn done(self, bank: &Bank, position: i64, other: i64) -> (i64, i64) {
        let change = |set: &str| format!("UPDATE events SET {set} WHERE position = $1 AND $2 > 0");
        let sql = match self {
            Self::Payload => change(
                "payload = CASE WHEN payload::text LIKE '{%' THEN replace(payload::text, '{', '{ ') ELSE '\"other\"' END::json",
            ),
            Self::Time => change("recorded_at = recorded_at + interval '1 microsecond'"),
            Self::Actor => change("metadata = '{\"actor\":\"nobody\",\"correlation_id\":\"\"}'"),
            Self::Deleted => "DELETE FROM events WHERE position = $1 AND $2 > 0".to_owned(),
            Self::Truncated => "DELETE FROM events WHERE position >= $1 AND $2 > 0".to_owned(),
            Self::Swapped => {
                "UPDATE events e SET payload = o.payload, metadata = o.metadata, recorded_at = o.recorded_at
                                FROM events o WHERE (e.position, o.position) IN (($1, $2), ($2, $1))"
                    .to_owned()
            }
            Self::WithItsHash => change("metadata = '{\"actor\":\"nobody\",\"correlation_id\":\"x\"}'"),
        };
        let done = sqlx::query(&sql).bind(position).bind(other).execute(&bank.pool).await.unwrap();
        assert!(done.rows_affected() > 0, "{self:?} at {position}");
        if matches!(self, Self::WithItsHash) {
            let mut line = Vec::new();
            audit::write_events(&bank.pool, position - 1, Some(1), &mut line).await.unwrap();
            let hash = bursar_commands::proof::merkle::leaf_hash(line.trim_ascii_end());
            let sql =
                "UPDATE tiles SET hashes = overlay(hashes PLACING $1 FROM $2) WHERE level = 0 AND index = $3";
            let (tile, within) = ((position - 1) / 256, (position - 1) % 256 * 32 + 1);
            let within = i32::try_from(within).unwrap();
            let sql = sqlx::query(sql).bind(hash.as_slice()).bind(within).bind(tile);
            sql.execute(&bank.pool).await.unwrap();
            let sql = "SELECT size FROM seals WHERE size >= $1 ORDER BY size LIMIT 1";
            let seal = sqlx::query_scalar(sql).bind(position).fetch_one(&bank.pool).await.unwrap();
            return (seal, seal);
        }
        let first = if matches!(self, Self::Swapped) { position.min(other) } else { position };
        (first, first)
    }
}

#[tokio::test]
async fn whatever_a_superuser_changes_is_named_by_both_checkers() {
    let bank = busy().await;
    let newest = seal(&bank, Outside::default()).await;
    for table in ["events", "tiles"] {
        let sql = format!("CREATE TABLE kept_{table} AS TABLE {table}");
        sqlx::query(&sql).execute(&bank.pool).await.unwrap();
    }
    let mut chance = Chance::new();
    for round in 0..scaled(28) {
        let how = Tampering::ALL[round % Tampering::ALL.len()];
        let last = u64::try_from(newest).unwrap();
        let position = i64::try_from(chance.between(2, last)).unwrap();
        let other = if position == newest { position - 1 } else { position + 1 };
        let (from, to) = how.done(&bank, position, other).await;
        let bundle = Bundle::of(&bank).await;
        let what = format!("{how:?} at {position}");
        let found = bundle.verified(&Trusted::default()).report.difference;
        let found = found.unwrap_or_else(|| panic!("not found: {what}"));
        assert!((from..=to).contains(&found.position), "{what}: {found}");
        let (content, said) = bundle.second_opinion().await;
        assert!(!content, "not found: {what}");
        assert!(said.contains(&format!("at position {}:", found.position)), "{what}: {said}, {found}");
        for table in ["events", "tiles"] {
            sqlx::query(&format!("TRUNCATE {table}")).execute(&bank.pool).await.unwrap();
            let sql = format!("INSERT INTO {table} SELECT * FROM kept_{table}");
            sqlx::query(&sql).execute(&bank.pool).await.unwrap();
        }
    }
    assert_eq!(Bundle::of(&bank).await.verified(&Trusted::default()).report.difference, None);
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
