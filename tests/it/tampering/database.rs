//! What somebody can do who owns the database.

use bursar_commands::audit;
use bursar_commands::proof::merkle::{Frontier, Hash, leaf_hash};
use sqlx::PgPool;

use super::{Done, Kept};
use crate::support::chance::Chance;

/// How many ways there are.
pub const KINDS: usize = 20;

const TABLES: [&str; 4] = ["events", "tiles", "seals", "head"];

/// The tables as they were.
pub struct Keep;

impl Keep {
    pub async fn of(kept: &Kept) -> Self {
        for table in TABLES {
            run(&kept.bank.pool, &format!("CREATE TABLE kept_{table} AS TABLE {table}")).await;
        }
        Self
    }

    pub async fn restore(&self, kept: &Kept) {
        for table in TABLES {
            run(&kept.bank.pool, &format!("DELETE FROM {table}")).await;
            run(&kept.bank.pool, &format!("INSERT INTO {table} SELECT * FROM kept_{table}")).await;
        }
    }

    pub async fn forget(&self, kept: &Kept) {
        for table in TABLES {
            run(&kept.bank.pool, &format!("DROP TABLE kept_{table}")).await;
        }
    }

    /// Does one of them somewhere.
    pub async fn tamper(&self, kept: &Kept, kind: usize, chance: &mut Chance) -> Done {
        let pool = &kept.bank.pool;
        let newest = kept.newest();
        let p = i64::try_from(chance.between(2, newest.unsigned_abs() - 1)).unwrap();
        let other = loop {
            let other = i64::try_from(chance.between(1, newest.unsigned_abs())).unwrap();
            if other != p {
                break other;
            }
        };
        let (before, seal) = kept.around(p);
        let column = |column: &str| format!("UPDATE events SET {column} WHERE position = {p}");
        let done = match kind {
            0 => return flipped(pool, "payload", p, chance).await,
            1 => return flipped(pool, "metadata", p, chance).await,
            2 => (column("recorded_at = recorded_at + interval '1 microsecond'"), Done::at("time", p)),
            3 => (column("event_type = 'payment.settled'"), Done::at("type", p)),
            4 => (column("aggregate_id = aggregate_id || 'x'"), Done::at("stream", p)),
            5 => (column("sequence = sequence + 1000"), Done::at("sequence", p)),
            6 => (column("event_version = '2'"), Done::at("version", p)),
            7 => (format!("DELETE FROM events WHERE position = {p}"), Done::at("deleted", p)),
            8 => (
                format!("DELETE FROM events WHERE position = {p}; {}", shifted(p, -1)),
                Done::at("deleted, and closed up", p),
            ),
            9 => (
                format!(
                    "DELETE FROM events WHERE position = {newest}; {};
                     INSERT INTO events SELECT position + 1, sequence + 1000, recorded_at, aggregate_type,
                         aggregate_id, event_type, event_version, payload, metadata
                       FROM events WHERE position = {p}",
                    shifted(p, 1)
                ),
                Done::at("inserted", p + 1),
            ),
            10 => (
                format!(
                    "UPDATE events e SET payload = o.payload, metadata = o.metadata, recorded_at = o.recorded_at,
                            event_type = o.event_type
                       FROM events o WHERE e.position = {p} AND o.position = {other}"
                ),
                Done::at(format!("a copy of {other}"), p),
            ),
            11 => (
                format!(
                    "UPDATE events e SET payload = o.payload, metadata = o.metadata, recorded_at = o.recorded_at,
                            event_type = o.event_type
                       FROM events o WHERE (e.position, o.position) IN (({p}, {other}), ({other}, {p}))"
                ),
                Done::at(format!("swapped with {other}"), p.min(other)),
            ),
            12 => (format!("DELETE FROM events WHERE position >= {p}"), Done::at("truncated", p)),
            13 => (
                format!("DELETE FROM events WHERE position >= {p}; UPDATE head SET position = {p} - 1"),
                Done::at("truncated with its head", p),
            ),
            14 => (hash(p, chance.between(0, 31)), Done::at("hash", p)),
            15 => (
                format!(
                    "UPDATE tiles SET hashes = substr(hashes, 1, {}) WHERE level = 0 AND index = {}",
                    (p - 1) % 256 * 32,
                    (p - 1) / 256
                ),
                Done::at("hashes truncated", p),
            ),
            16 => return forged(kept, p).await,
            17 => (
                format!(
                    "UPDATE seals SET note = overlay(note PLACING '{}' FROM {} FOR 1) WHERE size = {seal}",
                    ["#", "\u{e9}", "%"][usize::try_from(chance.between(0, 2)).unwrap()],
                    chance.between(1, 150)
                ),
                Done::at("note", before + 1),
            ),
            18 => (
                format!("UPDATE seals SET root = set_byte(root, 3, get_byte(root, 3) # 4) WHERE size = {seal}"),
                Done::at("root of a checkpoint", before + 1),
            ),
            _ => {
                // Whole: nothing inside tells, but a checkpoint that was kept elsewhere.
                let old = kept.around(p.min(kept.seals[kept.seals.len() - 2])).1;
                (
                    format!(
                        "DELETE FROM events WHERE position > {old}; DELETE FROM seals WHERE size > {old};
                         UPDATE head SET position = {old}"
                    ),
                    Done::at("cut off whole", old + 1),
                )
            }
        };
        run(pool, &done.0).await;
        done.1
    }
}

async fn run(pool: &PgPool, sql: &str) {
    sqlx::raw_sql(sql).execute(pool).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
}

/// Moves everything behind a position; through negative numbers, because no two rows may have one.
fn shifted(p: i64, by: i64) -> String {
    format!(
        "UPDATE events SET position = -(position + {by}) WHERE position > {p};
         UPDATE events SET position = -position WHERE position < 0"
    )
}

/// Another byte in the hash of an event.
fn hash(p: i64, byte: u64) -> String {
    let (tile, place) = ((p - 1) / 256, (p - 1) % 256 * 32 + i64::try_from(byte).unwrap());
    format!(
        "UPDATE tiles SET hashes = set_byte(hashes, {place}, get_byte(hashes, {place}) # 1)
          WHERE level = 0 AND index = {tile}"
    )
}

/// Another letter or digit somewhere in what is stored, which still is JSON.
async fn flipped(pool: &PgPool, column: &str, p: i64, chance: &mut Chance) -> Done {
    let sql = format!("SELECT {column}::text FROM events WHERE position = $1");
    let text: String = sqlx::query_scalar(&sql).bind(p).fetch_one(pool).await.unwrap();
    loop {
        let place = usize::try_from(chance.between(0, text.len() as u64 - 1)).unwrap();
        let mut bytes = text.clone().into_bytes();
        bytes[place] = match bytes[place] {
            digit @ b'0'..=b'9' => b'1' + (digit - b'0') % 9,
            b'z' | b'Z' => b'q',
            letter if letter.is_ascii_alphabetic() => letter + 1,
            _ => continue,
        };
        let changed = String::from_utf8(bytes).unwrap();
        let sql = format!("UPDATE events SET {column} = $2::json WHERE position = $1");
        // Where `true` became something else, it is not JSON.
        if changed != text && sqlx::query(&sql).bind(p).bind(&changed).execute(pool).await.is_ok() {
            return Done::at(format!("{column} at {place}"), p);
        }
    }
}

/// An event is changed, with its hash, all roots since, and the signatures: of somebody who has not the bank's key.
async fn forged(kept: &Kept, p: i64) -> Done {
    let pool = &kept.bank.pool;
    let sql = format!("UPDATE events SET metadata = '{{\"actor\":\"nobody\"}}' WHERE position = {p}");
    run(pool, &sql).await;
    let mut lines = Vec::new();
    audit::write_events(pool, 0, None, &mut lines).await.unwrap();
    let leaves: Vec<Hash> =
        lines.split(|byte| *byte == b'\n').filter(|l| !l.is_empty()).map(leaf_hash).collect();
    let (impostor, (before, _)) = (kept.impostor(), kept.around(p));
    let mut tree = Frontier::default();
    for (size, leaf) in (1..).zip(&leaves) {
        tree.push(*leaf);
        let (tile, place) = ((size - 1) / 256, i32::try_from((size - 1) % 256 * 32 + 1).unwrap());
        let sql =
            "UPDATE tiles SET hashes = overlay(hashes PLACING $1 FROM $2) WHERE level = 0 AND index = $3
                      AND octet_length(hashes) > $2";
        sqlx::query(sql).bind(leaf.as_slice()).bind(place).bind(tile).execute(pool).await.unwrap();
        if kept.seals.contains(&size) && size > before {
            let note = impostor.sign(tree.size(), tree.root());
            let sql = "UPDATE seals SET root = $1, note = $2 WHERE size = $3";
            let root = tree.root();
            sqlx::query(sql).bind(root.as_slice()).bind(note).bind(size).execute(pool).await.unwrap();
        }
    }
    Done::at("signed by an impostor", before + 1)
}
