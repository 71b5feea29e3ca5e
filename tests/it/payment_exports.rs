//! `bursar payments export`: payments to other banks as ISO 20022 credit transfers, held against the statement.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use bursar_commands::payments::{LogSoFar, SentPayment};
use bursar_commands::{Context, Unit};
use bursar_domain::kernel::TransactionId;
use bursar_domain::payments::{Party, Pay, Payment, PaymentCommand, PaymentKind};
use futures_util::future::join_all;
use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use roxmltree::{Document, Node};
use serde_json::{Value, json};

use crate::support::client::transfer;
use crate::support::process::{Ended, Server, bursar, directory, run};
use crate::support::{Bank, Client, codec};

/// A name that would end an attribute, an element or the document, were it not escaped.
const NAME: &str = "A & B <Ltd> \"x\"";

/// A payment to another bank.
fn external(source: &str, destination: &str, amount: i64) -> Value {
    json!({
        "sourceAccount": source, "destinationAccount": destination, "destinationName": NAME,
        "bankCode": "000013", "bankName": "Trust <& Sons>", "amount": amount, "currency": "NGN",
        "narration": "Rent & \"water\" ]]> </Ustrd>", "reference": "RENT",
    })
}

/// Sends it and answers the end-to-end id that the documents have for it.
async fn send(client: &Client, body: &Value) -> String {
    let sent = client.post("/v1/payments/transfer/external", body).await.is(201);
    sent.text_at("transactionId").strip_prefix("txn_").unwrap().to_owned()
}

async fn export(dir: &Path, arguments: &[&str]) -> Ended {
    let common = ["payments", "export", "--format", "pacs008", "--data-dir", dir.to_str().unwrap()];
    let mut command = bursar(&[&common, arguments].concat());
    command.env("BURSAR_BANK_CODE", "999001").env("BURSAR_BANK_CLEARING_SYSTEM", "NIP");
    run(command).await
}

fn find<'a, 'b>(node: Node<'a, 'b>, path: &str) -> Option<Node<'a, 'b>> {
    let named =
        |node: Node<'a, 'b>, name: &str| node.children().find(|child| child.tag_name().name() == name);
    path.split('/').try_fold(node, named)
}

fn text<'a>(node: Node<'a, '_>, path: &str) -> &'a str {
    find(node, path).and_then(|node| node.text()).unwrap_or_default()
}

fn all<'a, 'b>(node: Node<'a, 'b>, path: &str) -> Vec<Node<'a, 'b>> {
    let (parents, name) = path.rsplit_once('/').unwrap_or(("", path));
    let parent = if parents.is_empty() { Some(node) } else { find(node, parents) };
    let children = parent.into_iter().flat_map(|parent| parent.children());
    children.filter(|child| child.tag_name().name() == name).collect()
}

fn kobo(amount: &str) -> i64 {
    let (naira, kobo) = amount.split_once('.').unwrap();
    assert_eq!(kobo.len(), 2, "{amount}");
    format!("{naira}{kobo}").parse().unwrap()
}

/// A credit transfer as the receiver reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Credit {
    amount: i64,
    debtor: String,
    accepted_at: Timestamp,
}

/// The transfers of a document by end-to-end id; its head agrees with them.
fn credits(xml: &str) -> BTreeMap<String, Credit> {
    let document = Document::parse(xml).unwrap();
    let root = document.root_element();
    assert_eq!(root.tag_name().namespace(), Some("urn:iso:std:iso:20022:tech:xsd:pacs.008.001.08"));
    let transfers = all(root, "FIToFICstmrCdtTrf/CdtTrfTxInf");
    let credits: BTreeMap<_, _> = transfers.iter().map(|transfer| credit(*transfer)).collect();
    let head = find(root, "FIToFICstmrCdtTrf/GrpHdr").unwrap();
    assert_eq!(credits.len(), transfers.len(), "an end-to-end id is there twice");
    assert_eq!(text(head, "NbOfTxs"), transfers.len().to_string());
    assert_eq!(kobo(text(head, "CtrlSum")), credits.values().map(|credit| credit.amount).sum::<i64>());
    assert_eq!(text(head, "SttlmInf/ClrSys/Prtry"), "NIP");
    credits
}

fn credit(transfer: Node<'_, '_>) -> (String, Credit) {
    let id = text(transfer, "PmtId/EndToEndId");
    assert_eq!((id.len(), id), (32, text(transfer, "PmtId/TxId")));
    assert_eq!(find(transfer, "IntrBkSttlmAmt").unwrap().attribute("Ccy"), Some("NGN"));
    assert_eq!(text(transfer, "DbtrAgt/FinInstnId/ClrSysMmbId/MmbId"), "999001");
    let credit = Credit {
        amount: kobo(text(transfer, "IntrBkSttlmAmt")),
        debtor: text(transfer, "DbtrAcct/Id/Othr/Id").to_owned(),
        accepted_at: text(transfer, "AccptncDtTm").parse().unwrap(),
    };
    (id.to_owned(), credit)
}

/// What a camt.053 says of an account's payments to other banks: those debited and those that came back, by id.
async fn statement(client: &Client, account: &str) -> (BTreeMap<String, i64>, BTreeMap<String, i64>) {
    let path = format!("/v1/accounts/{account}/statement");
    let answer = client.request(Method::GET, &path).header("Accept", "application/xml").send().await.is(200);
    let document = Document::parse(&answer.text).unwrap();
    let with = |code: &str, direction: &str| {
        let entries = all(document.root_element(), "BkToCstmrStmt/Stmt/Ntry").into_iter();
        let family = "BkTxCd/Domn/Fmly";
        let entries = entries.filter(|entry| {
            find(*entry, family)
                .is_some_and(|family| text(family, "Cd") == "ICDT" && text(family, "SubFmlyCd") == code)
        });
        let entry = |entry: Node<'_, '_>| {
            assert_eq!(text(entry, "CdtDbtInd"), direction);
            (text(entry, "AcctSvcrRef").to_owned(), kobo(text(entry, "Amt")))
        };
        entries.map(entry).collect::<BTreeMap<_, _>>()
    };
    (with("OTHR", "DBIT"), with("RRTN", "CRDT"))
}

async fn current(client: &Client) -> String {
    let accounts = client.get("/v1/accounts?type=CURRENT").await.is(200);
    accounts.list_at("accounts")[0]["accountNumber"].as_str().unwrap().to_owned()
}

async fn advance(client: &Client, by: &str) {
    client.post("/v1/sandbox/clock", &json!({"advance": by})).await.is(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_export_and_the_statements_name_the_same_payments_and_sums() {
    let dir = directory("export");
    let server = Server::start(&dir).await;
    let anybody = Client::new(server.address);
    let out = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let none = export(&dir, &["--out", &out("none.xml")]).await;
    assert_eq!((none.code, none.err.contains("no payment")), (0, true), "{none:?}");
    assert!(!dir.join("none.xml").exists(), "a document is about one payment at least");

    let (ada, bola) = (anybody.login("ada@example.com").await, anybody.login("bola@example.com").await);
    let (from_ada, from_bola) = (current(&ada).await, current(&bola).await);
    let plain = send(&ada, &external(&from_ada, "0123456789", 1_005)).await;
    let mut wordy = external(&from_ada, "0123456780", 70_000);
    wordy["narration"] = json!("łódź ".repeat(60));
    let wordy = send(&ada, &wordy).await;
    let refused = send(&ada, &external(&from_ada, "9000000001", 11)).await;
    let returned = send(&ada, &external(&from_ada, "9000000002", 17)).await;
    let mut bare = external(&from_bola, "0123456781", 3);
    for optional in ["destinationName", "bankName", "narration"] {
        bare.as_object_mut().unwrap().remove(optional);
    }
    let bare = send(&bola, &bare).await;
    // Money that stays, and money on other rails.
    ada.pay(&from_ada, &from_bola, 500, "inside").await.is(201);
    let wallet = json!({
        "sourceAccount": from_ada, "phoneNumber": "+2348031000102", "walletProvider": "MTN_MOMO",
        "amount": 400, "currency": "NGN",
    });
    ada.post("/v1/payments/transfer/mwallet", &wallet).await.is(201);
    advance(&anybody, "PT25H").await;
    let (ada, bola) = (anybody.login("ada@example.com").await, anybody.login("bola@example.com").await);
    let on_its_way = send(&ada, &external(&from_ada, "0123456782", 90)).await;

    let exported = export(&dir, &["--out", &out("all.xml")]).await;
    assert_eq!(exported.code, 0, "{exported:?}");
    assert!(exported.err.contains("payments 4, control sum 710.98"), "{exported:?}");
    let xml = std::fs::read_to_string(dir.join("all.xml")).unwrap();
    let credits = credits(&xml);
    let ids: BTreeSet<&String> = credits.keys().collect();
    assert_eq!(ids, BTreeSet::from([&plain, &wordy, &bare, &on_its_way]));

    // What left an account and did not come back is what the export says was sent from it.
    let (mut debited, mut back) = statement(&ada, &from_ada).await;
    assert_eq!(back.keys().collect::<BTreeSet<_>>(), BTreeSet::from([&refused, &returned]));
    let of_bola = statement(&bola, &from_bola).await;
    debited.extend(of_bola.0);
    back.extend(of_bola.1);
    let sent: BTreeMap<_, _> = credits.iter().map(|(id, credit)| (id.clone(), credit.amount)).collect();
    let net: BTreeMap<_, _> = debited.into_iter().filter(|(id, _)| !back.contains_key(id)).collect();
    assert_eq!(net, sent);
    assert_eq!((&credits[&plain].debtor, &credits[&bare].debtor), (&from_ada, &from_bola));

    whose_words(&xml, &plain, &wordy, &bare);
    again_and_by_day(&dir, &xml, &credits).await;
    assert_eq!(server.stop().await, 0);
    std::fs::remove_dir_all(dir).unwrap();
}

/// Names and narrations come out as they went in, in pieces that fit.
fn whose_words(xml: &str, plain: &str, wordy: &str, bare: &str) {
    let document = Document::parse(xml).unwrap();
    let transfers = all(document.root_element(), "FIToFICstmrCdtTrf/CdtTrfTxInf");
    let of = |id: &str| *transfers.iter().find(|one| text(**one, "PmtId/EndToEndId") == id).unwrap();
    let lines = |id: &str| {
        let lines = all(of(id), "RmtInf/Ustrd");
        lines.iter().map(|line| line.text().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for (path, expected) in [
        ("Cdtr/Nm", NAME),
        ("CdtrAcct/Id/Othr/Id", "0123456789"),
        ("CdtrAgt/FinInstnId/ClrSysMmbId/MmbId", "000013"),
        ("CdtrAgt/FinInstnId/Nm", "Trust <& Sons>"),
    ] {
        assert_eq!(text(of(plain), path), expected, "{path}");
    }
    assert!(!text(of(plain), "Dbtr/Nm").is_empty());
    assert_eq!(lines(plain), ["Rent & \"water\" ]]> </Ustrd>"]);
    assert_eq!(lines(wordy).concat(), "łódź ".repeat(60));
    assert!(lines(wordy).iter().all(|line| line.chars().count() <= 140));
    // Nothing was said but the reference.
    assert_eq!((lines(bare), find(of(bare), "Cdtr/Nm").is_none()), (vec!["RENT".to_owned()], true));
}

/// The same log gives the same bytes, nothing is overwritten, and the days add up to the whole.
async fn again_and_by_day(dir: &Path, xml: &str, credits_of_all: &BTreeMap<String, Credit>) {
    let out = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let printed = export(dir, &[]).await;
    assert_eq!((printed.code, &*printed.out), (0, xml));
    let taken = export(dir, &["--out", &out("all.xml")]).await;
    assert!(taken.code == 2 && taken.err.contains("not overwritten"), "{taken:?}");
    assert_eq!(std::fs::read_to_string(dir.join("all.xml")).unwrap(), xml);

    let mut by_day: BTreeMap<String, BTreeMap<String, Credit>> = BTreeMap::new();
    for (id, credit) in credits_of_all {
        let day = credit.accepted_at.to_string()[..10].to_owned();
        by_day.entry(day).or_default().insert(id.clone(), credit.clone());
    }
    assert!(by_day.len() >= 2);
    let days = export(dir, &["--out", &out("days/")]).await;
    assert_eq!(days.code, 0, "{days:?}");
    let files: BTreeSet<_> = std::fs::read_dir(dir.join("days"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(files, by_day.keys().map(|day| format!("pacs008-{day}.xml")).collect());
    let mut names = BTreeSet::new();
    for (day, expected) in &by_day {
        let one = std::fs::read_to_string(dir.join(format!("days/pacs008-{day}.xml"))).unwrap();
        assert_eq!(&credits(&one), expected, "{day}");
        assert_eq!(export(dir, &["--from", day, "--to", day]).await.out, one);
        let document = Document::parse(&one).unwrap();
        names.insert(text(document.root_element(), "FIToFICstmrCdtTrf/GrpHdr/MsgId").to_owned());
    }
    assert_eq!(names.len(), by_day.len(), "other payments, another message");

    for wrong in [
        &["--from", "2026-02-01", "--to", "2026-01-31"][..],
        &["--from", "2026-02-01T10:00:00Z"],
        &["--to", "yesterday"],
    ] {
        let refused = export(dir, wrong).await;
        assert_eq!((refused.code, &*refused.out), (2, ""), "{wrong:?}");
    }
    let quiet = export(dir, &["--from", "2001-01-01", "--to", "2001-01-31"]).await;
    assert_eq!((quiet.code, &*quiet.out), (0, ""));
}

/// Every payment of the log so far that has left, page by page.
async fn sent(log: &LogSoFar<'_>) -> Vec<SentPayment> {
    let everything = log.between(Timestamp::MIN, Timestamp::MAX).await.unwrap();
    let mut sent = Vec::new();
    for page in everything.pages() {
        sent.extend(log.sent(page).await.unwrap());
    }
    sent
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_so_far_knows_nothing_that_came_later() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let first = send(&ada.client, &external(&ada.current, "0123456789", 100)).await;
    // More than one page of other things.
    let body = transfer(&ada.current, &bola.current, 1);
    for _ in 0..21 {
        let paid = (0..100).map(|_| ada.client.post("/v1/payments/transfer/internal", &body));
        join_all(paid).await.into_iter().for_each(|answer| _ = answer.is(201));
    }
    let second = send(&ada.client, &external(&ada.current, "0123456780", 200)).await;
    let (codec, ids) = (codec(&bank.pool).await, |sent: &[SentPayment]| {
        sent.iter().map(|one| one.id.to_string().replace("txn_", "")).collect::<Vec<_>>()
    });
    let early = LogSoFar::now(&bank.pool, &codec).await.unwrap();
    let before = sent(&early).await;
    assert_eq!(ids(&before), [&*first, &*second]);
    assert!(before.iter().all(|one| one.settled_at.is_none()));

    reverse(&bank, &second).await;
    bank.advance(SignedDuration::from_secs(61));
    bank.app.processes.run_due().await.unwrap();
    let late = LogSoFar::now(&bank.pool, &codec).await.unwrap();
    let after = sent(&late).await;
    assert_eq!(ids(&after), [&*first], "what was reversed has not left");
    assert!(after[0].settled_at > Some(after[0].accepted_at));
    let still = sent(&early).await;
    assert_eq!(ids(&still), ids(&before));
    assert!(still.iter().all(|one| one.settled_at.is_none()));

    // From a moment on, up to another: one is in, the other is not.
    let at = before[1].accepted_at;
    for (from, to, expected) in [(at, Timestamp::MAX, &second), (Timestamp::MIN, at, &first)] {
        let stretch = early.between(from, to).await.unwrap();
        let mut found = Vec::new();
        for page in stretch.pages() {
            found.extend(early.sent(page).await.unwrap());
        }
        assert_eq!(ids(&found), [&**expected]);
    }
    bank.close().await;
}

/// Undoes a payment before it has arrived.
async fn reverse(bank: &Bank, id: &str) {
    let id = format!("txn_{id}");
    let (payment, _) = bank.app.journal.load::<Payment>(&id).await.unwrap();
    let made = payment.made().unwrap().completed.clone();
    let by = TransactionId::mint(bank.app.journal.sources());
    let back = Pay {
        undoes: Some(id.parse().unwrap()),
        ..Pay::between(
            PaymentKind::Reversal,
            made.destination,
            made.source,
            made.amount,
            made.currency,
            made.reference,
        )
    };
    let undo =
        PaymentCommand::Reverse { by, party: Party::Payer, age: SignedDuration::from_secs(1), reason: None };
    let unit = Unit::new(Context::default()).create(by, PaymentCommand::Pay(Box::new(back))).step(&*id, undo);
    bank.app.journal.submit(unit).await.unwrap();
}
