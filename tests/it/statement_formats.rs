//! Whole statements: ISO 20022 for accounting software, CSV for spreadsheets, and the choice between them and JSON.

use std::sync::atomic::Ordering;

use futures_util::future::join_all;
use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use roxmltree::{Document, Node};
use serde_json::json;

use crate::support::client::{Answer, transfer};
use crate::support::{Bank, Person};

const XML: &str = "application/xml";
const CSV: &str = "text/csv";
const JSON: &str = "application/json";

/// The statement of somebody's current account.
async fn statement(person: &Person, accept: &str, query: &str) -> Answer {
    let path = format!("/v1/accounts/{}/statement?{query}", person.current);
    person.client.request(Method::GET, &path).header("Accept", accept).send().await
}

async fn pay(from: &Person, to: &Person, amount: i64, narration: &str, reference: &str) -> Answer {
    let mut body = transfer(&from.current, &to.current, amount);
    (body["narration"], body["reference"]) = (json!(narration), json!(reference));
    from.client.post("/v1/payments/transfer/internal", &body).await.is(201)
}

/// Makes an account busy: so many payments of one kobo.
async fn busy(from: &Person, to: &Person, payments: usize) {
    for _ in 0..payments / 100 {
        let body = transfer(&from.current, &to.current, 1);
        let paid = (0..100).map(|_| from.client.post("/v1/payments/transfer/internal", &body));
        join_all(paid).await.into_iter().for_each(|answer| _ = answer.is(201));
    }
}

/// What a statement says, whatever it is written in.
#[derive(Debug, PartialEq, Eq)]
struct Line {
    transaction: String,
    at: Timestamp,
    /// Signed kobo.
    amount: i64,
    reference: String,
    narration: String,
}

/// The lines of every page, oldest first.
async fn json_lines(person: &Person, range: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    for page in 1.. {
        let query = format!("{range}&sort=transactionDate&size=100&page={page}");
        let answer = statement(person, JSON, &query).await.is(200);
        lines.extend(answer.list_at("transactions").iter().map(|entry| Line {
            transaction: entry["transactionId"].as_str().unwrap().to_owned(),
            at: entry["transactionDate"].as_str().unwrap().parse().unwrap(),
            amount: entry["amount"].as_i64().unwrap(),
            reference: entry["reference"].as_str().unwrap().to_owned(),
            narration: entry["narration"].as_str().unwrap_or_default().to_owned(),
        }));
        if answer.body["pagination"]["hasNext"] == json!(false) {
            break;
        }
    }
    lines
}

fn find<'a, 'b>(node: Node<'a, 'b>, path: &str) -> Option<Node<'a, 'b>> {
    path.split('/').try_fold(node, |node, name| node.children().find(|child| child.has_tag_name(name)))
}

fn text<'a>(node: Node<'a, '_>, path: &str) -> &'a str {
    find(node, path).and_then(|node| node.text()).unwrap_or_default()
}

/// Signed kobo of a balance or an entry: `12.50` without a point, and its direction.
fn kobo(node: Node<'_, '_>) -> i64 {
    let (naira, kobo) = text(node, "Amt").split_once('.').unwrap();
    assert_eq!((kobo.len(), find(node, "Amt").unwrap().attribute("Ccy")), (2, Some("NGN")));
    let amount: i64 = format!("{naira}{kobo}").parse().unwrap();
    match text(node, "CdtDbtInd") {
        "CRDT" => amount,
        "DBIT" => -amount,
        other => panic!("{other}"),
    }
}

/// The `Stmt` of a document, whose names are all of one namespace: roxmltree compares local names only without one.
fn parsed(answer: &Answer) -> String {
    let namespace = " xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.053.001.08\"";
    assert_eq!(answer.text.matches(namespace).count(), 1);
    answer.text.replacen(namespace, "", 1)
}

fn stmt<'a, 'b>(document: &'a Document<'b>) -> Node<'a, 'b> {
    find(document.root_element(), "BkToCstmrStmt/Stmt").expect("a statement")
}

fn entries<'a, 'b>(stmt: Node<'a, 'b>) -> impl Iterator<Item = Node<'a, 'b>> {
    stmt.children().filter(|node| node.has_tag_name("Ntry"))
}

fn xml_lines(answer: &Answer) -> Vec<Line> {
    let xml = parsed(answer);
    let document = Document::parse(&xml).unwrap();
    let line = |entry: Node<'_, '_>| {
        let details = find(entry, "NtryDtls/TxDtls").unwrap();
        assert_eq!(kobo(details), kobo(entry));
        let lines = find(details, "RmtInf").into_iter().flat_map(|lines| lines.children());
        Line {
            transaction: format!("txn_{}", text(entry, "AcctSvcrRef")),
            at: text(entry, "BookgDt/DtTm").parse().unwrap(),
            amount: kobo(entry),
            reference: text(details, "Refs/EndToEndId").to_owned(),
            narration: lines.filter_map(|line| line.text()).collect(),
        }
    };
    entries(stmt(&document)).map(line).collect()
}

fn csv_lines(answer: &Answer) -> Vec<Line> {
    let mut csv = csv::Reader::from_reader(answer.text.as_bytes());
    let columns = csv.headers().unwrap().clone();
    let column = |name: &str| columns.iter().position(|column| column == name).expect(name);
    let rows = csv.records().map(|row| row.unwrap());
    rows.map(|row| Line {
        transaction: row[column("transaction_id")].to_owned(),
        at: row[column("booked_at")].parse().unwrap(),
        amount: row[column("amount_minor")].parse().unwrap(),
        reference: row[column("reference")].to_owned(),
        narration: row[column("narration")].to_owned(),
    })
    .collect()
}

#[tokio::test]
async fn the_client_chooses_and_json_is_the_default() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    for (accept, media) in [
        ("*/*", JSON),
        (JSON, JSON),
        (XML, XML),
        (CSV, "text/csv; charset=utf-8; header=present"),
        ("text/csv;q=0.5, application/xml;q=0.6, application/json;q=0.1", XML),
        ("text/*, application/json;q=0.9", "text/csv; charset=utf-8; header=present"),
        ("text/html, */*;q=0.1", JSON),
    ] {
        let answer = statement(&ada, accept, "").await.is(200);
        assert_eq!((answer.header("content-type"), answer.header("vary")), (media, "accept"), "{accept}");
    }
    let path = format!("/v1/accounts/{}/statement", ada.current);
    let problem = statement(&ada, "application/pdf, text/csv;q=0", "").await.problem(406, "NOT_ACCEPTABLE");
    assert!([JSON, XML, CSV].iter().all(|media| problem.text_at("detail").contains(media)));
    // Whatever is wrong is a problem, and nobody else's statement comes in any form.
    let bola = bank.bola().await;
    for accept in [XML, CSV, JSON] {
        assert_eq!(statement(&ada, accept, "from=x&minAmount=-1").await.pointers().len(), 2);
        let strange = bola.client.request(Method::GET, &path).header("Accept", accept).send().await;
        strange.problem(404, "NOT_FOUND");
        let nobody = bank.client().request(Method::GET, &path).header("Accept", accept).send().await;
        nobody.problem(401, "UNAUTHENTICATED");
    }
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_form_holds_the_same_entries_however_many() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    // Several parts of a document, and more than any page.
    busy(&ada, &bola, 1_100).await;
    pay(&bola, &ada, 12_345, "Change", "R1").await;
    let range =
        format!("from={}", bank.app.journal.sources().clock.now() - SignedDuration::from_hours(24 * 300));
    let expected = json_lines(&ada, &range).await;
    assert!(expected.len() > 1_100);
    // What a page is has no meaning here.
    let paged = format!("{range}&page=7&size=3&sort=-amount");
    assert_eq!(xml_lines(&statement(&ada, XML, &paged).await.is(200)), expected);
    assert_eq!(csv_lines(&statement(&ada, CSV, &paged).await.is(200)), expected);
    bank.close().await;
}

#[tokio::test]
async fn a_camt_053_adds_up_and_says_what_json_says() {
    let bank = Bank::open().await;
    let (ada, bola, teller) = (bank.ada().await, bank.bola().await, bank.teller().await);
    let sent = pay(&ada, &bola, 1_250, "Rent <&> \"January\" 🍲 's", "R&1").await;
    pay(&bola, &ada, 5, &"łódź ".repeat(100), &"r".repeat(140)).await;
    let cash = json!({"amount": 70_000, "currency": "NGN"});
    let till = format!("/v1/staff/accounts/{}/deposit", ada.current);
    teller.client.post(&till, &cash).await.is(201);
    bank.caught_up().await;
    let page = statement(&ada, JSON, "size=100&sort=transactionDate").await.is(200);
    let answer = statement(&ada, XML, "").await.is(200);
    assert!(answer.text.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?><Document "));
    let xml = parsed(&answer);
    let document = Document::parse(&xml).unwrap();
    let stmt = stmt(&document);
    assert_eq!(text(stmt, "Acct/Id/Othr/Id"), ada.current);
    assert_eq!(text(stmt, "Acct/Nm"), page.text_at("accountName"));
    let balances: Vec<_> = stmt.children().filter(|node| node.has_tag_name("Bal")).collect();
    let named = |kind: &str| {
        let found = balances.iter().find(|balance| text(**balance, "Tp/CdOrPrtry/Cd") == kind);
        kobo(*found.expect(kind))
    };
    assert_eq!(named("OPBD"), page.number_at("openingBalance"));
    assert_eq!(named("CLBD"), page.number_at("closingBalance"));
    let amounts: Vec<i64> = entries(stmt).map(kobo).collect();
    assert_eq!(named("OPBD") + amounts.iter().sum::<i64>(), named("CLBD"));
    let listed = page.list_at("transactions").iter().map(|entry| entry["amount"].as_i64().unwrap());
    assert!(amounts.iter().copied().eq(listed));
    assert_eq!(text(stmt, "TxsSummry/TtlNtries/NbOfNtries"), amounts.len().to_string());
    // It is complete up to the moment it was written, not up to midnight.
    let until: Timestamp = text(stmt, "FrToDt/ToDtTm").parse().unwrap();
    assert_eq!(until, text(stmt, "CreDtTm").parse().unwrap());

    let last: Vec<_> = entries(stmt).collect();
    let [.., rent, change, deposit] = &last[..] else { panic!("three entries") };
    let details = |entry: &Node<'_, '_>| find(*entry, "NtryDtls/TxDtls").unwrap().id();
    let details = |entry| document.get_node(details(entry)).unwrap();
    assert_eq!(format!("txn_{}", text(*rent, "AcctSvcrRef")), sent.text_at("transactionId"));
    assert_eq!(text(details(rent), "RmtInf/Ustrd"), "Rent <&> \"January\" 🍲 's");
    assert_eq!(text(details(rent), "Refs/EndToEndId"), "R&1");
    assert_eq!(text(details(rent), "RltdPties/CdtrAcct/Id/Othr/Id"), bola.current);
    assert_eq!(text(details(change), "RltdPties/DbtrAcct/Id/Othr/Id"), bola.current);
    assert_eq!(text(details(change), "AddtlTxInf"), "r".repeat(140));
    assert_eq!(xml_lines(&answer)[amounts.len() - 2].narration, "łódź ".repeat(100));
    // The till is the bank's own business.
    assert!(find(details(deposit), "RltdPties").is_none() && !answer.text.contains("bank:"));
    let code = find(*deposit, "BkTxCd/Domn/Fmly").unwrap();
    assert_eq!((text(code, "Cd"), text(code, "SubFmlyCd")), ("CNTR", "CDPT"));
    bank.close().await;
}

#[tokio::test]
async fn a_camt_053_cannot_leave_entries_out_and_csv_can() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    pay(&ada, &bola, 300, "Rent", "R1").await;
    pay(&bola, &ada, 200, "=1+1", "@home").await;
    bank.caught_up().await;
    for (query, pointers) in [
        ("type=DEBIT", vec!["/type"]),
        ("minAmount=1", vec!["/minAmount"]),
        ("type=CREDIT&minAmount=1&maxAmount=2&q=rent", vec!["/type", "/minAmount", "/maxAmount", "/q"]),
    ] {
        let refused = statement(&ada, XML, query).await.problem(400, "VALIDATION_FAILED");
        assert_eq!(refused.pointers(), pointers);
        statement(&ada, CSV, query).await.is(200);
    }
    // Looking for nothing leaves nothing out.
    statement(&ada, XML, "q=").await.is(200);
    let amounts = |answer: Answer| csv_lines(&answer).iter().map(|line| line.amount).collect::<Vec<_>>();
    let narrow = "minAmount=200&maxAmount=300";
    assert_eq!(amounts(statement(&ada, CSV, narrow).await), [-300, 200]);
    assert_eq!(amounts(statement(&ada, CSV, "minAmount=200&maxAmount=300&type=DEBIT").await), [-300]);
    assert_eq!(amounts(statement(&ada, CSV, "q=rent&maxAmount=300").await), [-300]);
    assert!(amounts(statement(&ada, CSV, "q=nothing").await).is_empty());
    // What a stranger writes does not compute in the payee's spreadsheet.
    let foreign = statement(&ada, CSV, "minAmount=200&maxAmount=200").await;
    let lines = csv_lines(&foreign);
    assert_eq!((&*lines[0].narration, &*lines[0].reference), ("'=1+1", "'@home"));
    assert!(foreign.text.ends_with(&format!(",{}\r\n", bola.current)), "{}", foreign.text);
    bank.close().await;
}

#[tokio::test]
async fn the_past_comes_as_a_document_too() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let paid = pay(&ada, &bola, 100, "First", "R1").await;
    let at: Timestamp = paid.text_at("processedAt").parse().unwrap();
    pay(&ada, &bola, 50, "Second", "R2").await;
    let position = paid.header("bursar-position");
    for query in [format!("asOf={at}"), format!("asOfPosition={position}")] {
        let page = statement(&ada, JSON, &query).await.is(200);
        let answer = statement(&ada, XML, &query).await.is(200);
        let lines = xml_lines(&answer);
        assert_eq!(lines.last().map(|line| &*line.narration), Some("First"), "{query}");
        assert_eq!(csv_lines(&statement(&ada, CSV, &query).await.is(200)), lines);
        let xml = parsed(&answer);
        let document = Document::parse(&xml).unwrap();
        let until: Timestamp = text(stmt(&document), "FrToDt/ToDtTm").parse().unwrap();
        assert_eq!(until, at, "{query}");
        let closing = stmt(&document).children().rfind(|node| node.has_tag_name("Bal")).unwrap();
        assert_eq!(kobo(closing), page.number_at("closingBalance"), "{query}");
    }
    // A range in which nothing happened is a document without entries.
    let empty = statement(&ada, XML, "from=2001-01-01&to=2001-01-31").await.is(200);
    assert_eq!(xml_lines(&empty), []);
    let empty = statement(&ada, CSV, "from=2001-01-01&to=2001-01-31").await.is(200);
    assert_eq!(empty.text.lines().count(), 1);
    bank.close().await;
}

#[tokio::test]
async fn each_form_has_an_entity_tag_of_its_own() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let ask = async |accept: &str, tag: &str, query: &str| {
        let path = format!("/v1/accounts/{}/statement?{query}", ada.current);
        let request = ada.client.request(Method::GET, &path).header("Accept", accept);
        request.header("If-None-Match", tag).send().await
    };
    let mut tags = Vec::new();
    for accept in [JSON, XML, CSV] {
        let first = statement(&ada, accept, "").await.is(200);
        let tag = first.header("etag").to_owned();
        bank.advance(SignedDuration::from_secs(1));
        let again = ask(accept, &tag, "").await.is(304);
        assert_eq!((&*again.text, again.header("etag"), again.header("vary")), ("", &*tag, "accept"));
        assert_eq!(again.header("content-type"), "");
        // Another range is another document.
        assert_ne!(ask(accept, &tag, "from=2001-01-01&to=2001-01-31").await.is(200).header("etag"), tag);
        let head = ada.client.request(Method::HEAD, &format!("/v1/accounts/{}/statement", ada.current));
        let head = head.header("Accept", accept).send().await.is(200);
        assert_eq!((head.header("etag"), &*head.text), (&*tag, ""));
        tags.push((accept, tag));
    }
    let message = |answer: &Answer| {
        let xml = parsed(answer);
        let document = Document::parse(&xml).unwrap();
        text(stmt(&document), "Id").to_owned()
    };
    let (one, same) = (statement(&ada, XML, "").await, statement(&ada, XML, "").await);
    assert_eq!(message(&one), message(&same), "the same content has the same name");
    for (accept, _) in &tags {
        for (other, tag) in &tags {
            assert_eq!(ask(accept, tag, "").await.status == 304, accept == other, "{accept} {tag}");
        }
    }
    pay(&ada, &bola, 100, "Lunch", "R1").await;
    for (accept, tag) in &tags {
        assert_ne!(ask(accept, tag, "").await.is(200).header("etag"), tag);
    }
    assert_ne!(message(&one), message(&statement(&ada, XML, "").await));
    // A weak tag is not one to write by.
    let weak = &tags[1].1;
    assert!(weak.starts_with("W/\""), "{weak}");
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn half_a_statement_is_never_taken_for_a_whole_one() {
    let (bank, faults) = Bank::behind_a_proxy().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    busy(&ada, &bola, 1_200).await;
    bank.caught_up().await;
    let path = format!("/v1/accounts/{}/statement", ada.current);
    let mut broken = 0;
    for accept in [XML, CSV] {
        let whole = statement(&ada, accept, "").await.is(200);
        let lines = if accept == XML { xml_lines(&whole) } else { csv_lines(&whole) };
        for n in 1..=30 {
            let cuts = faults.cuts.load(Ordering::SeqCst);
            faults.cut_at_message(n);
            while faults.cuts.load(Ordering::SeqCst) == cuts {
                let request = ada.client.request(Method::GET, &path).header("Accept", accept);
                let Some(answer) = request.try_send().await else {
                    broken += 1;
                    continue;
                };
                if answer.status == 503 {
                    continue;
                }
                let answer = answer.is(200);
                let got = if accept == XML { xml_lines(&answer) } else { csv_lines(&answer) };
                assert_eq!(got, lines, "message {n}");
            }
        }
    }
    assert!(broken > 0, "no document was ever interrupted");
    bank.close().await;
}
