//! The documents, read by a parser that did not write them and held against the published shapes.

use bursar_domain::{AccountNumber, Amount, Currency};
use bursar_projections::statement_entries::{EntryType, StatementEntry, Total};
use jiff::{SignedDuration, Timestamp};
use roxmltree::{Document, Node};
use rust_decimal::Decimal;

use super::camt053::{Statement, entries, head, tail};
use super::pacs008::{self, ControlTotal, CreditTransfer, Message, Party, Unwritable};
use super::shape::{CAMT053, PACS008, faults};

const NASTY: &str = "<&>\"' ]]> 🍲 \u{7}\0 łódź";
/// The same after XML.
const LEGIBLE: &str = "<&>\"' ]]> 🍲 \u{fffd}\u{fffd} łódź";

fn noon() -> Timestamp {
    "2026-01-31T12:00:00Z".parse().unwrap()
}

fn currency(code: &str) -> Currency {
    code.parse().unwrap()
}

fn entry(currency: &str, amount: i64, balance: i64, counterparty: &str) -> StatementEntry {
    StatementEntry {
        position: 7,
        recorded_at: noon(),
        transaction_id: "txn_0199d2a0a0a07000800000000000abcd".to_owned(),
        description: "Transfer sent".to_owned(),
        entry_type: if amount < 0 { EntryType::Debit } else { EntryType::Credit },
        amount,
        balance,
        currency: currency.to_owned(),
        reference: "RENT".to_owned(),
        narration: Some("Rent of January".to_owned()),
        counterparty: Some(counterparty.to_owned()),
    }
}

/// The statement with these entries, whose balances are not looked at.
fn statement(code: &str, opening: i64, listed: &[StatementEntry]) -> String {
    let sum = |out: bool| {
        let some = listed.iter().filter(|entry| (entry.amount < 0) == out);
        Total {
            entries: some.clone().count() as i64,
            amount: some.map(|entry| i128::from(entry.amount).abs()).sum(),
        }
    };
    let statement = Statement {
        id: "0123456789abcdef0123456789abcdef",
        created_at: noon() + SignedDuration::from_millis(1),
        from: "2026-01-01T00:00:00Z".parse().unwrap(),
        until: noon(),
        account: &AccountNumber::from("1234567897"),
        name: NASTY,
        currency: currency(code),
        opening,
        closing: opening + listed.iter().map(|entry| entry.amount).sum::<i64>(),
        credits: sum(false),
        debits: sum(true),
    };
    let mut xml = head(&statement).unwrap();
    // In two parts, as it is sent.
    let (first, second) = listed.split_at(listed.len() / 2);
    for part in [first, second] {
        xml.extend(entries(statement.currency, part).unwrap());
    }
    xml.extend(tail().unwrap());
    let xml = String::from_utf8(xml).unwrap();
    assert_eq!(faults(CAMT053, &xml), Vec::<String>::new(), "{xml}");
    xml
}

fn find<'a, 'b>(node: Node<'a, 'b>, path: &str) -> Node<'a, 'b> {
    path.split('/').fold(node, |node, name| {
        let child = node.children().find(|child| child.tag_name().name() == name);
        child.unwrap_or_else(|| panic!("no {name} of {path} in {node:?}"))
    })
}

fn text<'a>(node: Node<'a, '_>, path: &str) -> &'a str {
    find(node, path).text().unwrap_or_default()
}

fn all<'a, 'b>(node: Node<'a, 'b>, name: &'static str) -> impl Iterator<Item = Node<'a, 'b>> {
    node.children().filter(move |child| child.tag_name().name() == name)
}

/// A balance or entry, signed.
fn signed(node: Node<'_, '_>) -> Decimal {
    let amount: Decimal = text(node, "Amt").parse().unwrap();
    match text(node, "CdtDbtInd") {
        "CRDT" => amount,
        "DBIT" => -amount,
        other => panic!("{other}"),
    }
}

#[test]
fn a_statement_adds_up_in_every_currency() {
    for (code, amounts, opening, closing, sums) in [
        ("NGN", [(-5, "0.05"), (37_500_000, "375000.00")], "0.10", "375000.05", ("375000.00", "0.05")),
        ("JPY", [(-5, "5"), (1_250, "1250")], "10", "1255", ("1250", "5")),
        ("KWD", [(-5, "0.005"), (1_250, "1.250")], "0.010", "1.255", ("1.250", "0.005")),
    ] {
        let listed = amounts.map(|(minor, _)| entry(code, minor, 0, "1234567897"));
        let xml = statement(code, 10, &listed);
        let document = Document::parse(&xml).unwrap();
        let it = find(document.root_element(), "BkToCstmrStmt/Stmt");
        let written: Vec<_> = all(it, "Ntry").map(|entry| text(entry, "Amt")).collect();
        assert_eq!(written, amounts.map(|(_, written)| written), "{code}");
        let [first, last] = all(it, "Bal").collect::<Vec<_>>()[..] else { panic!("two balances") };
        assert_eq!((text(first, "Tp/CdOrPrtry/Cd"), text(first, "Amt")), ("OPBD", opening));
        assert_eq!((text(last, "Tp/CdOrPrtry/Cd"), text(last, "Amt")), ("CLBD", closing));
        assert_eq!(signed(first) + all(it, "Ntry").map(signed).sum::<Decimal>(), signed(last), "{code}");
        let summary = find(it, "TxsSummry");
        let (credits, debits) = (text(summary, "TtlCdtNtries/Sum"), text(summary, "TtlDbtNtries/Sum"));
        assert_eq!((text(summary, "TtlNtries/NbOfNtries"), (credits, debits)), ("2", sums));
        let amounts = document.descendants().filter(|node| node.tag_name().name() == "Amt");
        assert!(amounts.clone().all(|amount| amount.attribute("Ccy") == Some(code)));
        assert_eq!(amounts.count(), 6, "two balances, two entries, their details");
    }
}

#[test]
fn an_overdrawn_balance_is_a_debit_without_a_sign() {
    let xml = statement("NGN", -1_250, &[]);
    let document = Document::parse(&xml).unwrap();
    let it = find(document.root_element(), "BkToCstmrStmt/Stmt");
    assert_eq!((text(it, "Bal/Amt"), text(it, "Bal/CdtDbtInd")), ("12.50", "DBIT"));
    assert_eq!(all(it, "Ntry").count(), 0);
}

#[test]
fn an_entry_says_what_a_ledger_program_looks_for() {
    let xml = statement("NGN", 0, &[entry("NGN", -500, 0, "9876543217"), entry("NGN", 700, 0, "9876543217")]);
    let document = Document::parse(&xml).unwrap();
    let it = find(document.root_element(), "BkToCstmrStmt/Stmt");
    assert_eq!((text(it, "Acct/Id/Othr/Id"), text(it, "Acct/Ccy")), ("1234567897", "NGN"));
    assert_eq!(text(it, "FrToDt/ToDtTm"), "2026-01-31T12:00:00Z");
    let [sent, received] = all(it, "Ntry").collect::<Vec<_>>()[..] else { panic!("two entries") };
    for (path, expected) in [
        ("Sts/Cd", "BOOK"),
        ("BookgDt/DtTm", "2026-01-31T12:00:00Z"),
        ("ValDt/Dt", "2026-01-31"),
        ("AcctSvcrRef", "0199d2a0a0a07000800000000000abcd"),
        ("BkTxCd/Domn/Cd", "PMNT"),
        ("BkTxCd/Domn/Fmly/Cd", "ICDT"),
        ("BkTxCd/Domn/Fmly/SubFmlyCd", "BOOK"),
        ("NtryDtls/TxDtls/Refs/AcctSvcrRef", "0199d2a0a0a07000800000000000abcd"),
        ("NtryDtls/TxDtls/Refs/EndToEndId", "RENT"),
        ("NtryDtls/TxDtls/RltdPties/CdtrAcct/Id/Othr/Id", "9876543217"),
        ("NtryDtls/TxDtls/RmtInf/Ustrd", "Rent of January"),
        ("AddtlNtryInf", "Transfer sent"),
    ] {
        assert_eq!(text(sent, path), expected, "{path}");
    }
    assert_eq!(text(received, "BkTxCd/Domn/Fmly/Cd"), "RCDT");
    assert_eq!(text(received, "NtryDtls/TxDtls/RltdPties/DbtrAcct/Id/Othr/Id"), "9876543217");
}

#[test]
fn the_bank_s_own_accounts_have_codes_and_no_names() {
    for (other, amount, code) in [
        ("bank:cash:NGN", 500, "CNTR CDPT"),
        ("bank:cash:NGN", -500, "CNTR CWDL"),
        ("bank:settlement.banks:NGN", -500, "ICDT OTHR"),
        ("bank:settlement.banks:NGN", 500, "ICDT RRTN"),
        ("bank:settlement.wallet.MTN_MOMO:NGN", 500, "MCOP OTHR"),
        ("bank:fees:NGN", -500, "MDOP OTHR"),
        ("bank:interest:NGN", 500, "MCOP OTHR"),
    ] {
        let xml = statement("NGN", 0, &[entry("NGN", amount, 0, other)]);
        assert!(!xml.contains("bank:") && !xml.contains("RltdPties"), "{xml}");
        let document = Document::parse(&xml).unwrap();
        let family = find(document.root_element(), "BkToCstmrStmt/Stmt/Ntry/BkTxCd/Domn/Fmly");
        assert_eq!(format!("{} {}", text(family, "Cd"), text(family, "SubFmlyCd")), code);
    }
}

#[test]
fn whatever_people_write_stays_theirs_and_fits() {
    let long = "🍲".repeat(499) + "!";
    let mut spoken = entry("NGN", 1, 0, "9876543217");
    (spoken.reference, spoken.narration) = (NASTY.to_owned(), Some(long.clone()));
    let mut wordy = spoken.clone();
    wordy.reference = "r".repeat(140);
    let mut silent = spoken.clone();
    (silent.reference, silent.narration, silent.counterparty) = (String::new(), None, None);
    let xml = statement("NGN", 0, &[spoken, wordy, silent]);
    let document = Document::parse(&xml).unwrap();
    let it = find(document.root_element(), "BkToCstmrStmt/Stmt");
    assert_eq!(text(it, "Acct/Nm"), LEGIBLE);
    let details: Vec<_> = all(it, "Ntry").map(|entry| find(entry, "NtryDtls/TxDtls")).collect();
    assert_eq!(text(details[0], "Refs/EndToEndId"), LEGIBLE);
    let lines: Vec<_> = all(find(details[0], "RmtInf"), "Ustrd").map(|line| line.text().unwrap()).collect();
    assert_eq!((lines.len(), lines.concat()), (4, long));
    assert_eq!(text(details[1], "Refs/EndToEndId"), "r".repeat(35));
    assert_eq!(text(details[1], "AddtlTxInf"), "r".repeat(140));
    assert_eq!(text(details[2], "Refs/EndToEndId"), "NOTPROVIDED");
    assert_eq!(all(details[2], "RmtInf").count() + all(details[2], "AddtlTxInf").count(), 0);
}

#[test]
fn a_sum_too_long_for_the_document_is_left_out() {
    let large = 999_999_999_999_999_999;
    let listed = [entry("NGN", large, 0, "9876543217"), entry("NGN", 1, 0, "9876543217")];
    assert!(statement("NGN", 0, &listed[..1]).contains("<Sum>9999999999999999.99</Sum>"));
    let mut xml = head(&Statement {
        id: "1",
        created_at: noon(),
        from: noon(),
        until: noon(),
        account: &AccountNumber::from("1234567897"),
        name: "",
        currency: Currency::NGN,
        opening: 0,
        closing: 0,
        credits: Total { entries: 2, amount: i128::from(large) + 1 },
        debits: Total::default(),
    })
    .unwrap();
    xml.extend(tail().unwrap());
    let xml = String::from_utf8(xml).unwrap();
    assert_eq!(faults(CAMT053, &xml), Vec::<String>::new());
    assert_eq!(xml.matches("<Sum>").count(), 1);
}

fn party(name: &str, account: &str, bank_code: &str, bank_name: Option<&str>) -> Party {
    Party {
        name: name.to_owned(),
        account: account.to_owned(),
        bank_code: Some(bank_code.to_owned()).filter(|code| !code.is_empty()),
        bank_name: bank_name.map(str::to_owned),
    }
}

fn transfer(code: &str, minor: i64) -> CreditTransfer {
    CreditTransfer {
        end_to_end_id: "RENT-2026-01".to_owned(),
        transaction_id: "txn_0199d2a0a0a07000800000000000abcd".to_owned(),
        amount: Amount::try_from(minor).unwrap(),
        currency: currency(code),
        settles_on: "2026-02-01".parse().unwrap(),
        accepted_at: noon(),
        debtor: party("Ada Obi", "1234567897", "999001", None),
        creditor: party(NASTY, "0011223344", "000013", Some("A & B Bank")),
        remittance: Some(NASTY.to_owned()),
    }
}

fn message() -> Message {
    Message {
        message_id: "M-1".to_owned(),
        created_at: noon(),
        clearing_system: Some("NIP".to_owned()),
        total: ControlTotal::default(),
    }
}

/// The document for these transfers.
fn render(message: &Message, transfers: &[CreditTransfer]) -> Result<Vec<u8>, Unwritable> {
    let mut total = ControlTotal::default();
    transfers.iter().try_for_each(|transfer| total.add(transfer))?;
    let mut xml = pacs008::head(&Message { total, ..message.clone() })?;
    for transfer in transfers {
        xml.extend(pacs008::transfer(transfer)?);
    }
    xml.extend(pacs008::tail()?);
    Ok(xml)
}

#[test]
fn a_credit_transfer_says_who_pays_whom_how_much_and_what_for() {
    let xml = String::from_utf8(render(&message(), &[transfer("NGN", 1_250)]).unwrap()).unwrap();
    assert_eq!(faults(PACS008, &xml), Vec::<String>::new(), "{xml}");
    let document = Document::parse(&xml).unwrap();
    let it = find(document.root_element(), "FIToFICstmrCdtTrf");
    for (path, expected) in [
        ("GrpHdr/MsgId", "M-1"),
        ("GrpHdr/CreDtTm", "2026-01-31T12:00:00Z"),
        ("GrpHdr/NbOfTxs", "1"),
        ("GrpHdr/CtrlSum", "12.50"),
        ("CdtTrfTxInf/IntrBkSttlmDt", "2026-02-01"),
        ("CdtTrfTxInf/AccptncDtTm", "2026-01-31T12:00:00Z"),
        ("GrpHdr/SttlmInf/SttlmMtd", "CLRG"),
        ("GrpHdr/SttlmInf/ClrSys/Prtry", "NIP"),
        ("CdtTrfTxInf/PmtId/EndToEndId", "RENT-2026-01"),
        ("CdtTrfTxInf/PmtId/TxId", "0199d2a0a0a07000800000000000abcd"),
        ("CdtTrfTxInf/IntrBkSttlmAmt", "12.50"),
        ("CdtTrfTxInf/ChrgBr", "SLEV"),
        ("CdtTrfTxInf/Dbtr/Nm", "Ada Obi"),
        ("CdtTrfTxInf/DbtrAcct/Id/Othr/Id", "1234567897"),
        ("CdtTrfTxInf/DbtrAgt/FinInstnId/ClrSysMmbId/MmbId", "999001"),
        ("CdtTrfTxInf/CdtrAgt/FinInstnId/ClrSysMmbId/MmbId", "000013"),
        ("CdtTrfTxInf/CdtrAgt/FinInstnId/Nm", "A & B Bank"),
        ("CdtTrfTxInf/Cdtr/Nm", LEGIBLE),
        ("CdtTrfTxInf/CdtrAcct/Id/Othr/Id", "0011223344"),
        ("CdtTrfTxInf/RmtInf/Ustrd", LEGIBLE),
    ] {
        assert_eq!(text(it, path), expected, "{path}");
    }
    assert_eq!(find(it, "CdtTrfTxInf/IntrBkSttlmAmt").attribute("Ccy"), Some("NGN"));
}

#[test]
fn a_bank_without_a_code_is_said_to_have_none() {
    let mut unnamed = transfer("NGN", 1);
    (unnamed.debtor.bank_code, unnamed.debtor.bank_name) = (None, Some("bursar".to_owned()));
    let xml = render(&Message { clearing_system: None, ..message() }, &[unnamed]).unwrap();
    let xml = String::from_utf8(xml).unwrap();
    assert_eq!(faults(PACS008, &xml), Vec::<String>::new(), "{xml}");
    let document = Document::parse(&xml).unwrap();
    let it = find(document.root_element(), "FIToFICstmrCdtTrf");
    assert_eq!(text(it, "CdtTrfTxInf/DbtrAgt/FinInstnId/Othr/Id"), "NOTPROVIDED");
    assert_eq!(text(it, "CdtTrfTxInf/DbtrAgt/FinInstnId/Nm"), "bursar");
    assert_eq!(all(find(it, "GrpHdr/SttlmInf"), "ClrSys").count(), 0);
}

#[test]
fn many_transfers_have_one_control_sum() {
    let transfers = [transfer("NGN", 1_005), transfer("JPY", 700), transfer("KWD", 1)];
    let xml = String::from_utf8(render(&message(), &transfers).unwrap()).unwrap();
    assert_eq!(faults(PACS008, &xml), Vec::<String>::new(), "{xml}");
    let document = Document::parse(&xml).unwrap();
    let it = find(document.root_element(), "FIToFICstmrCdtTrf");
    assert_eq!((text(it, "GrpHdr/NbOfTxs"), text(it, "GrpHdr/CtrlSum")), ("3", "710.051"));
    let written: Vec<_> = all(it, "CdtTrfTxInf").map(|one| text(one, "IntrBkSttlmAmt")).collect();
    assert_eq!(written, ["10.05", "700", "0.001"]);
    let sum: Decimal = written.iter().map(|amount| amount.parse::<Decimal>().unwrap()).sum();
    assert_eq!(sum, text(it, "GrpHdr/CtrlSum").parse().unwrap());
}

#[test]
fn a_transfer_that_cannot_be_told_exactly_is_not_told_at_all() {
    assert!(matches!(render(&message(), &[]), Err(Unwritable::Empty)));
    let too_long = |change: fn(&mut CreditTransfer)| {
        let mut wrong = transfer("NGN", 1);
        change(&mut wrong);
        match render(&message(), &[transfer("NGN", 1), wrong]) {
            Err(Unwritable::Identifier { element, .. }) => element,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(too_long(|it| it.end_to_end_id = "e".repeat(36)), "EndToEndId");
    assert_eq!(too_long(|it| it.end_to_end_id = String::new()), "EndToEndId");
    assert_eq!(too_long(|it| it.transaction_id = "t".repeat(36)), "TxId");
    assert_eq!(too_long(|it| it.creditor.account = "1".repeat(35)), "Id");
    assert_eq!(too_long(|it| it.debtor.bank_code = Some(String::new())), "MmbId");
    assert_eq!(too_long(|it| it.creditor.bank_code = Some("1".repeat(36))), "MmbId");
    let nameless = Message { message_id: String::new(), ..message() };
    assert!(matches!(render(&nameless, &[transfer("NGN", 1)]), Err(Unwritable::Identifier { .. })));
    let nowhere = Message { clearing_system: Some("c".repeat(36)), ..message() };
    assert!(matches!(render(&nowhere, &[transfer("NGN", 1)]), Err(Unwritable::Identifier { .. })));
    // Names and texts are for people: they are cut.
    let mut wordy = transfer("NGN", Amount::MAX);
    (wordy.creditor.name, wordy.remittance) = ("n".repeat(200), Some("r".repeat(200)));
    let xml = String::from_utf8(render(&message(), &[wordy]).unwrap()).unwrap();
    assert_eq!(faults(PACS008, &xml), Vec::<String>::new());
    let most = vec![transfer("JPY", Amount::MAX); 1_000];
    assert!(render(&message(), &most[1..]).is_ok());
    assert!(matches!(render(&message(), &most), Err(Unwritable::ControlSum)));
}
