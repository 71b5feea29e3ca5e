//! A new master key.

use bursar_api::sources;
use bursar_commands::keys::MasterKey;
use bursar_commands::vault::{UnlockError, rotate, unlock};
use bursar_domain::kernel::UserId;
use bursar_domain::users::User;

use super::{erase, left, two};
use crate::support::leaving::leaves;
use crate::support::process::{Server, bursar, directory, run};
use crate::support::{Bank, master_key};

#[tokio::test]
async fn a_rotation_wraps_every_key_anew_and_nothing_else_changes() {
    let bank = Bank::open().await;
    let (sources, _) = sources::system();
    let (ada, bola) = (bank.user("ada@example.com").await, bank.user("bola@example.com").await);
    left(&bank, "bola@example.com", &bank.ada().await).await;
    let (maker, checker) = two(&bank).await;
    erase(&maker, bola).await.is(200);
    erase(&checker, bola).await.is(200);
    let new = MasterKey::draw(&*sources.entropy);
    let wrong = rotate(&bank.pool, &new, &new, &*sources.entropy, &mut |_, _| {}).await;
    assert!(matches!(wrong, Err(UnlockError::ForeignKey)));
    let keys: i64 = sqlx::query_scalar("SELECT count(*) FROM data_keys WHERE wrapped IS NOT NULL")
        .fetch_one(&bank.pool)
        .await
        .unwrap();
    let mut heard = (0, 0);
    let done =
        rotate(&bank.pool, &master_key(), &new, &*sources.entropy, &mut |done, total| heard = (done, total))
            .await
            .unwrap();
    assert_eq!((done, heard), (keys.unsigned_abs(), (done, done)));
    // The old key opens nothing any more, and a server that has it makes no key that nobody could read.
    assert!(matches!(unlock(&bank.pool, &master_key(), &sources).await, Err(UnlockError::ForeignKey)));
    let events = bank.events().await;
    let somebody = registration(&bank).await;
    assert!(somebody.is_err(), "{somebody:?}");
    assert_eq!(bank.events().await, events);
    // The new one opens everything but whoever was erased; lookups, tokens and passwords are what they were.
    let secrets = unlock(&bank.pool, &new, &sources).await.unwrap();
    assert_eq!(*secrets.keys.token_seed, *bank.app.keys.token_seed);
    assert_eq!(secrets.keys.email_lookup("a"), bank.app.keys.email_lookup("a"));
    let names = |user: &User| user.person().map(|person| person.email.get().cloned());
    let journal =
        bursar_commands::Journal::open(bank.pool.clone(), sources, secrets.vault, Default::default())
            .await
            .unwrap();
    let read = async |user: UserId| names(&journal.load::<User>(&user.to_string()).await.unwrap().0);
    assert_eq!(read(ada).await, Some(Some("ada@example.com".to_owned())));
    assert_eq!(read(bola).await, None);
    journal.close().await;
    // `close` reads with the key of every test bank.
    let (sources, _) = bursar_api::sources::system();
    rotate(&bank.pool, &new, &master_key(), &*sources.entropy, &mut |_, _| {}).await.unwrap();
    bank.caught_up().await;
    bank.close().await;
}

async fn registration(bank: &Bank) -> Result<bursar_commands::Committed, bursar_commands::CommandError> {
    let somebody = bursar_domain::users::RegisterUser {
        first_name: "Ngozi".to_owned(),
        last_name: "Balogun".to_owned(),
        email: "late@example.com".to_owned(),
        phone_number: "+2348030099999".to_owned(),
        date_of_birth: jiff::civil::date(1991, 7, 3),
        country_code: "NG".to_owned(),
        preferred_language: None,
    };
    bursar_commands::users::register(&bank.app.journal, &bank.app.keys, Default::default(), somebody).await
}

#[tokio::test]
async fn the_command_line_rotates_and_erases() {
    if std::env::var_os("TEST_DATABASE_URL").is_some() {
        return;
    }
    let dir = directory("rotate");
    let data = dir.join("data");
    let server = Server::start_with(&data, |_| {}).await;
    assert_eq!(server.stop().await, 0);
    let old = std::fs::read_to_string(data.join("master.key")).unwrap();
    let on = |arguments: &[&str]| run(bursar(&[arguments, &["--data-dir", data.to_str().unwrap()]].concat()));
    let rotated = on(&["keys", "rotate"]).await;
    assert!(rotated.code == 0 && rotated.out.contains("data keys wrapped anew"), "{rotated:?}");
    let new = std::fs::read_to_string(data.join("master.key")).unwrap();
    assert!(old != new && !data.join("master.key.next").exists());
    let verified = on(&["projections", "verify", "--all"]).await;
    assert_eq!(verified.code, 0, "{verified:?}");
    // Interrupted after the database was changed and before the files were.
    std::fs::write(data.join("master.key.next"), &new).unwrap();
    std::fs::write(data.join("master.key"), &old).unwrap();
    let verified = on(&["projections", "verify", "--all"]).await;
    assert_eq!(verified.code, 0, "{verified:?}");
    assert_eq!(std::fs::read_to_string(data.join("master.key")).unwrap(), new);
    std::fs::write(data.join("master.key"), &old).unwrap();
    let locked = on(&["projections", "verify", "--all"]).await;
    assert!(locked.code == 2 && locked.err.contains("another master key"), "{locked:?}");
    std::fs::write(data.join("master.key"), &new).unwrap();
    // Staff and whom they erase.
    let server = Server::start_with(&data, |_| {}).await;
    let ids = async |email: &str| {
        let login = crate::support::Client::new(server.address).session(email, "cli").await;
        login["userId"].as_str().unwrap().to_owned()
    };
    let (ada, teller, approver) =
        (ids("ada@example.com").await, ids("teller@example.com").await, ids("approver@example.com").await);
    let person = async |email: &str| crate::support::person_at(server.address, email).await;
    let (leaver, heir) = (person("ada@example.com").await, person("bola@example.com").await);
    let (one, other) = (person("teller@example.com").await, person("approver@example.com").await);
    leaves(&leaver, &heir.current, (&one.client, &other.client)).await;
    assert_eq!(server.stop().await, 0);
    let erase = async |maker: &str, checker: &str| {
        on(&["subjects", "erase", &ada, "--maker", maker, "--checker", checker, "--reason", "asked"]).await
    };
    assert_eq!(erase(&teller, &teller).await.code, 2);
    assert!(erase(&ada, &teller).await.err.contains("PII_ERASE"));
    let erased = erase(&teller, &approver).await;
    assert!(erased.code == 0 && erased.out.contains("is erased"), "{erased:?}");
    assert_eq!(erase(&teller, &approver).await.code, 2);
    for check in
        [&["projections", "rebuild", "--all"][..], &["projections", "verify", "--all"], &["audit", "replay"]]
    {
        let checked = on(check).await;
        assert_eq!(checked.code, 0, "{checked:?}");
    }
    std::fs::remove_dir_all(dir).unwrap();
}
