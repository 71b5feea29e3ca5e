//! Read models built anew: by staff, under load, and by whoever goes on after a process that was killed.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bursar_api::sources;
use bursar_projections::{Log, Order, RebuildState, RebuildStatus, Rebuilding, catalogue, rebuild_status};
use futures_util::future::join_all;
use serde_json::{Value, json};
use sqlx::{Connection as _, PgPool};

use crate::support::chance::{did, scaled};
use crate::support::client::Answer;
use crate::support::{Bank, Client, codec, config, forge, pool, rebuild, verify};

const PRODUCTS: &str = "/v1/staff/ops/projections/products/rebuild";

/// What has become of the rebuild of a read model.
async fn ended(client: &Client, path: &str) -> Value {
    for _ in 0..600 {
        let answer = client.get(path).await.is(200);
        if answer.body["state"] != "RUNNING" {
            return answer.body;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{path} does not end");
}

async fn ordered(client: &Client, verify: bool) -> Answer {
    let answer = client.post(PRODUCTS, &json!({"verify": verify})).await.is(202);
    assert_eq!((&answer.body["name"], &answer.body["verify"]), (&json!("products"), &json!(verify)));
    assert_eq!(answer.header("location"), PRODUCTS);
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn staff_see_what_differs_and_have_it_repaired() {
    let bank = Bank::open().await;
    let staff = bank.approver().await.client;
    let never = staff.get(PRODUCTS).await.is(200).body;
    assert_eq!((&never["state"], &never["startedAt"]), (&json!("NONE"), &Value::Null));
    let edit = "UPDATE products SET minimum_balance = minimum_balance + 1 WHERE product_id = 'SAV-001'";
    sqlx::query(edit).execute(&bank.pool).await.unwrap();

    let before = bank.events_of("rebuild.ordered").await;
    ordered(&staff, true).await;
    let checked = ended(&staff, PRODUCTS).await;
    assert_eq!((&checked["state"], &checked["verify"]), (&json!("DIFFERENT"), &json!(true)));
    assert_eq!((&checked["rowsCompared"], &checked["differing"]), (&json!(4), &json!(1)));
    let found = &checked["differences"][0];
    assert_eq!(found["key"], json!({"product_id": "SAV-001"}));
    assert_eq!((&found["kind"], &found["columns"]), (&json!("CHANGED"), &json!(["minimum_balance"])));
    let defined = "SELECT position FROM events WHERE aggregate_id = 'SAV-001'";
    let defined: i64 = sqlx::query_scalar(defined).fetch_one(&bank.pool).await.unwrap();
    assert_eq!(found["firstPosition"], defined);
    // Looking has changed nothing.
    ordered(&staff, true).await;
    assert_eq!(ended(&staff, PRODUCTS).await["differing"], 1);

    ordered(&staff, false).await;
    let swapped = ended(&staff, PRODUCTS).await;
    assert_eq!((&swapped["state"], &swapped["differing"]), (&json!("SWAPPED"), &json!(1)));
    assert!(swapped["finishedAt"].is_string() && swapped["position"] == swapped["target"], "{swapped}");
    ordered(&staff, true).await;
    assert_eq!(ended(&staff, PRODUCTS).await["state"], "EQUAL");
    assert_eq!(bank.events_of("rebuild.ordered").await, before + 4);
    let listed = staff.get("/v1/staff/ops/projections").await.is(200);
    let listed = listed.list_at("projections");
    assert_eq!(listed.len(), catalogue().len());
    assert!(listed.iter().any(|model| model["name"] == "products" && model["rebuild"] == "EQUAL"));
    bank.close().await;
}

/// A rebuild by somebody else, which has only begun.
async fn begun<R>(pool: &PgPool, then: impl AsyncFnOnce() -> R) -> R {
    let (codec, (sources, _)) = (codec(pool).await, sources::system());
    let log = Log { pool, codec: &codec, clock: &*sources.clock };
    let order = Order { verify: false, at: 0 };
    let other = Rebuilding::begin(log, &["products"], order, &()).await.unwrap();
    let result = then().await;
    drop(other);
    result
}

#[tokio::test(flavor = "multi_thread")]
async fn one_at_a_time_over_all_servers_and_another_goes_on() {
    let bank = Bank::open().await;
    let staff = bank.approver().await.client;
    begun(&bank.pool, async || {
        assert_eq!(staff.get(PRODUCTS).await.is(200).body["state"], "RUNNING");
        staff.post(PRODUCTS, &json!({})).await.problem(409, "REBUILD_RUNNING");
        // Another model is another matter.
        let tags = "/v1/staff/ops/projections/tags/rebuild";
        staff.post(tags, &json!({"verify": true})).await.is(202);
        assert_eq!(ended(&staff, tags).await["state"], "EQUAL");
    })
    .await;
    // Whoever began it is gone.
    assert_eq!(ended(&staff, PRODUCTS).await["state"], "INTERRUPTED");
    ordered(&staff, false).await;
    assert_eq!(ended(&staff, PRODUCTS).await["state"], "SWAPPED");
    bank.close().await;
}

/// As Postgres does, which looks through a table as soon as it is full.
#[tokio::test]
async fn a_rebuild_waits_for_whoever_has_its_new_table() {
    let bank = Bank::open().await;
    let (codec, (sources, _)) = (codec(&bank.pool).await, sources::system());
    let log = Log { pool: &bank.pool, codec: &codec, clock: &*sources.clock };
    let order = Order { verify: false, at: 0 };
    let rebuilding = Rebuilding::begin(log, &["products"], order, &()).await.unwrap();
    let mut reader = bank.pool.acquire().await.unwrap().detach();
    sqlx::raw_sql("BEGIN; LOCK TABLE read_next.products IN ACCESS SHARE MODE")
        .execute(&mut reader)
        .await
        .unwrap();
    let (swapped, ()) = tokio::join!(rebuilding.finish(), async {
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        reader.close().await.unwrap();
    });
    assert!(swapped.unwrap().iter().all(|report| report.differing == 0));
    assert_eq!(rebuild_status(&bank.pool, "products").await.unwrap().state, RebuildState::Swapped);
    bank.close().await;
}

/// Customers who pay and read, and what they were answered.
#[derive(Default)]
struct Load {
    stop: AtomicBool,
    requests: AtomicU64,
    slowest_millis: AtomicU64,
}

impl Load {
    async fn answered(&self, status: u16, request: impl Future<Output = Answer>) {
        let began = Instant::now();
        request.await.is(status);
        let millis = u64::try_from(began.elapsed().as_millis()).unwrap();
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.slowest_millis.fetch_max(millis, Ordering::Relaxed);
    }
}

/// Set in the child: the address of the database.
const URL: &str = "TEST_REBUILD_URL";

fn every_model() -> Vec<&'static str> {
    catalogue().iter().map(|entry| entry.name).collect()
}

/// Not a test: the door through which a child becomes a rebuild of everything. Without the variable it does nothing.
#[tokio::test(flavor = "multi_thread")]
async fn become_a_rebuild() {
    let Ok(url) = std::env::var(URL) else { return };
    let reports = rebuild(&pool(&url), &every_model()).await.unwrap();
    assert!(reports.iter().all(|report| report.differing == 0), "{reports:?}");
}

/// A rebuild in a process of its own.
fn child(url: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "rebuilds::become_a_rebuild"]).env(URL, url);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command
}

/// A rebuild that is killed while it is at work; answers how far it was.
async fn killed_at_work(pool: &PgPool, url: &str) -> RebuildStatus {
    let mut child = child(url).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        let status = rebuild_status(pool, "statement_entries").await.unwrap();
        if status.state == RebuildState::Running && status.position > 0 {
            break;
        }
        assert!(Instant::now() < deadline, "nothing is ever written: {status:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // SIGKILL.
    child.kill().unwrap();
    child.wait().unwrap();
    loop {
        let status = rebuild_status(pool, "statement_entries").await.unwrap();
        if status.state == RebuildState::Interrupted {
            return status;
        }
        assert!(status.finished_at.is_none() && Instant::now() < deadline, "{status:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// `TEST_SCALE=17` makes it more than a million events.
#[tokio::test(flavor = "multi_thread")]
async fn a_rebuild_under_load_is_killed_goes_on_and_no_request_fails() {
    let bank = Bank::open().await;
    let people = [bank.ada().await.current, bank.bola().await.current, bank.chidi().await.current];
    let (straight, database) = bank.stop().await;
    let count = i64::try_from(scaled(60_000)).unwrap();
    let began = Instant::now();
    let mut connection = straight.acquire().await.unwrap();
    forge::circle(&mut connection, [&people[0], &people[1], &people[2]], count).await.unwrap();
    drop(connection);
    straight.close().await;
    println!("{count} events forged in {:.1?}", began.elapsed());

    // However long it takes at full size, nobody is logged out meanwhile.
    let mut lasting = config();
    lasting.auth.access_seconds = 24 * 60 * 60;
    let bank = Bank::on(database, lasting).await;
    let all = every_model();
    let began = Instant::now();
    let head = bank.events().await;
    bank.app.freshness.wait(&[], head, Duration::from_secs(3_600)).await.unwrap();
    println!("the live models caught up in {:.1?}", began.elapsed());
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let had = ada.client.balance(&ada.current).await;
    let load = Arc::new(Load::default());
    let customers: Vec<_> = (0..4)
        .map(|customer| {
            let (load, ada, payee) = (Arc::clone(&load), ada.clone(), bola.current.clone());
            tokio::spawn(async move {
                let statement = format!("/v1/accounts/{}/statement?size=1", ada.current);
                let mut paid = 0;
                while !load.stop.load(Ordering::Relaxed) {
                    let key = format!("{customer}-{paid}");
                    load.answered(201, ada.client.pay(&ada.current, &payee, 1, &key)).await;
                    load.answered(200, ada.client.get(&statement)).await;
                    load.answered(200, ada.client.get("/v1/accounts")).await;
                    paid += 1;
                }
                paid
            })
        })
        .collect();

    let killed = killed_at_work(&bank.pool, bank.url()).await;
    let began = Instant::now();
    let mut again = child(bank.url());
    let again = tokio::task::spawn_blocking(move || again.status()).await.unwrap().unwrap();
    let took = began.elapsed();
    assert!(again.success());
    let swapped = rebuild_status(&bank.pool, "statement_entries").await.unwrap();
    assert_eq!(swapped.state, RebuildState::Swapped);
    // It went on: one that begins anew says that it began later.
    assert_eq!(swapped.started_at, killed.started_at);
    assert!(swapped.position > killed.position);
    // And once more from nothing, by this process, while they go on.
    let whole = Instant::now();
    let reports = rebuild(&bank.pool, &all).await.unwrap();
    let whole = whole.elapsed();
    assert!(reports.iter().all(|report| report.differing == 0), "{reports:?}");

    load.stop.store(true, Ordering::Relaxed);
    let paid: i64 = join_all(customers).await.into_iter().map(Result::unwrap).sum();
    assert_eq!(ada.client.balance(&ada.current).await, had - paid);
    did(usize::try_from(swapped.position).unwrap(), "events rebuilt");
    println!(
        "{} events: killed at {}, the rest in {took:.1?}, all of it in {whole:.1?}; {} requests meanwhile, slowest {} ms",
        swapped.position,
        killed.position,
        load.requests.load(Ordering::Relaxed),
        load.slowest_millis.load(Ordering::Relaxed),
    );
    bank.caught_up().await;
    let reports = verify(&bank.pool, &all).await.unwrap();
    assert!(reports.iter().all(|report| report.differing == 0 && report.rows >= 0), "{reports:?}");
    bank.close().await;
}
