//! Whoever owns the database, or gets at an export, and changes anything: two checkers that share no code say so, and
//! where.

mod bundle;
mod database;

use std::path::Path;

use bursar_commands::audit::{self, Trusted};
use bursar_commands::proof::Outside;
use bursar_commands::proof::note::{Signer, split};

use crate::proof::{busy, seal, second_opinion};
use crate::support::chance::{Chance, did, scaled};
use crate::support::{Bank, Scratch};

/// What was done, and the positions at which it may show.
#[derive(Debug)]
pub struct Done {
    what: String,
    from: i64,
    to: i64,
    /// It shows in no event: the manifest is not this bank's, and is refused by name.
    manifest: bool,
}

impl Done {
    fn at(what: impl Into<String>, position: i64) -> Self {
        Self::within(what, position, position)
    }

    fn within(what: impl Into<String>, from: i64, to: i64) -> Self {
        Self { what: what.into(), from, to, manifest: false }
    }
}

/// A bank with its checkpoints kept elsewhere.
pub struct Kept {
    bank: Bank,
    dir: Scratch,
    /// Sizes of the checkpoints, smallest first.
    seals: Vec<i64>,
}

impl Kept {
    async fn new() -> Self {
        let bank = busy().await;
        let dir = Scratch::new("kept");
        let file = dir.path().join("checkpoints.txt");
        let ada = bank.ada().await;
        for n in 0..3 {
            seal(&bank, Outside { file: Some(file.clone()), url: None }).await;
            ada.client.pay(&ada.current, &ada.savings, 100 + n, &format!("kept-{n}")).await.is(201);
        }
        // Read models have read everything: none of them takes what is tampered with for what happened.
        bank.caught_up().await;
        seal(&bank, Outside { file: Some(file), url: None }).await;
        let sql = "SELECT size FROM seals ORDER BY size";
        let seals = sqlx::query_scalar(sql).fetch_all(&bank.pool).await.unwrap();
        Self { bank, dir, seals }
    }

    fn newest(&self) -> i64 {
        *self.seals.last().unwrap()
    }

    /// The checkpoint before the one that vouches first for a position, and that one.
    fn around(&self, position: i64) -> (i64, i64) {
        let place = self.seals.partition_point(|size| *size < position);
        (place.checked_sub(1).map_or(0, |before| self.seals[before]), self.seals[place])
    }

    /// Somebody else who calls himself the bank.
    fn impostor(&self) -> Signer {
        Signer::new(self.bank.app.signer.verifier().name(), &[7; 32]).unwrap()
    }

    async fn export(&self, dir: &Path) -> Result<audit::Exported, audit::BundleError> {
        audit::export(&self.bank.pool, self.bank.app.signer.verifier(), dir, &mut |_, _| {}).await
    }

    /// Neither checker is content, and both say where; nothing was wrong before.
    async fn found_out(&self, dir: &Path, done: &Done) {
        let file = self.dir.path().join("checkpoints.txt");
        let key = self.bank.app.signer.verifier().clone();
        let arguments = ["--key", &key.to_string(), "--checkpoints", file.to_str().unwrap()];
        let trusted = Trusted { key: Some(key), notes: split(&std::fs::read_to_string(&file).unwrap()) };
        let first = audit::verify(dir, &trusted, &mut |_, _| {});
        let (content, said, complaint) = second_opinion(dir, &arguments).await;
        assert!(!content, "the second checker lets {done:?} through: {said}");
        if done.manifest {
            let refused = first.unwrap_err().to_string();
            assert!(
                refused.contains("bundle.json") && complaint.contains("bundle.json"),
                "{refused} {complaint}"
            );
            return;
        }
        let found = first.unwrap().report.difference.unwrap_or_else(|| panic!("let through: {done:?}"));
        assert!(complaint.is_empty(), "{done:?}: {complaint}");
        let second =
            said.strip_prefix("DIFFERENT at position ").unwrap_or_else(|| panic!("{done:?}: {said}"));
        let second: i64 = second.split_once(':').unwrap().0.parse().unwrap();
        for position in [found.position, second] {
            assert!((done.from..=done.to).contains(&position), "{done:?}: {found}; {said}");
        }
    }
}

/// Copies the files of a directory.
fn copied(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let there = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copied(&entry.path(), &there);
        } else {
            std::fs::copy(entry.path(), there).unwrap();
        }
    }
}

#[tokio::test]
async fn whatever_a_superuser_changes_is_named_by_both_checkers() {
    let kept = Kept::new().await;
    let keep = database::Keep::of(&kept).await;
    let mut chance = Chance::new();
    for round in 0..scaled(database::KINDS) {
        let done = keep.tamper(&kept, round % database::KINDS, &mut chance).await;
        println!("{done:?}");
        let dir = Scratch::new("tampered");
        match kept.export(dir.path()).await {
            Ok(_) => kept.found_out(dir.path(), &done).await,
            // A hash that is gone cannot be exported.
            Err(refused) => {
                let refused = refused.to_string();
                assert!(refused.contains(&format!("position {} ", done.from)), "{done:?}: {refused}");
            }
        }
        keep.restore(&kept).await;
    }
    did(scaled(database::KINDS), "changes to the log");
    let dir = Scratch::new("restored");
    kept.export(dir.path()).await.unwrap();
    assert_eq!(
        audit::verify(dir.path(), &Trusted::default(), &mut |_, _| {}).unwrap().report.difference,
        None
    );
    kept.bank.close().await;
}

#[tokio::test]
async fn whatever_is_changed_in_an_export_is_named_by_both_checkers() {
    let kept = Kept::new().await;
    let pristine = Scratch::new("pristine");
    kept.export(pristine.path()).await.unwrap();
    let mut chance = Chance::new();
    for round in 0..scaled(bundle::KINDS) {
        let dir = Scratch::new("tampered");
        copied(pristine.path(), dir.path());
        let done = bundle::tamper(&kept, dir.path(), round % bundle::KINDS, &mut chance);
        println!("{done:?}");
        kept.found_out(dir.path(), &done).await;
    }
    did(scaled(bundle::KINDS), "changes to an export");
    kept.bank.close().await;
}

/// The tree of the store is changed at its growing edge, so that the next checkpoint would vouch for another past.
#[tokio::test]
async fn nothing_is_signed_on_top_of_a_tree_that_was_changed() {
    let kept = Kept::new().await;
    let keep = database::Keep::of(&kept).await;
    let edge = kept.newest() / 256;
    let flip = format!(
        "UPDATE tiles SET hashes = set_byte(hashes, 0, get_byte(hashes, 0) # 1) WHERE level = 0 AND index = {edge}"
    );
    sqlx::query(&flip).execute(&kept.bank.pool).await.unwrap();
    let ada = kept.bank.ada().await;
    ada.client.pay(&ada.current, &ada.savings, 5, "after").await.is(201);
    let clock = std::sync::Arc::clone(&kept.bank.app.journal.sources().clock);
    let signer = std::sync::Arc::clone(&kept.bank.app.signer);
    let pool = kept.bank.pool.clone();
    let sealer = bursar_commands::proof::Sealer::new(pool, signer, clock, Outside::default()).unwrap();
    let refused = sealer.seal().await.unwrap_err().to_string();
    assert!(refused.contains(&format!("the tree of {} events", kept.newest())), "{refused}");
    sqlx::query(&flip).execute(&kept.bank.pool).await.unwrap();
    assert!(sealer.seal().await.unwrap() > kept.newest().unsigned_abs());
    keep.forget(&kept).await;
    kept.bank.close().await;
}
