//! Whether a document has the shape that its published schema asks for: for the tests.

use std::collections::HashMap;

use jiff::Timestamp;
use jiff::civil::Date;
use roxmltree::{Document, Node};

/// The shape of statements.
pub const CAMT053: &str = include_str!("camt.053.001.08.shape");
/// The shape of credit transfers.
pub const PACS008: &str = include_str!("pacs.008.001.08.shape");

/// An element of a type: its name, how often it may be there, its own type.
struct Part<'a> {
    name: &'a str,
    least: usize,
    most: usize,
    of: &'a str,
}

enum Rule<'a> {
    Sequence(Vec<Part<'a>>),
    Choice(Vec<Part<'a>>),
    Value(Vec<&'a str>),
}

/// A document against a shape.
struct Check<'a> {
    rules: HashMap<&'a str, Rule<'a>>,
    namespace: String,
}

/// Everything that is wrong with `xml`, as `path: what`; nothing when it has the shape.
pub fn faults(shape: &str, xml: &str) -> Vec<String> {
    let document = match Document::parse(xml) {
        Ok(document) => document,
        Err(error) => return vec![error.to_string()],
    };
    let message = shape.split([' ', ':']).nth(1).unwrap();
    let rules = shape.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).map(rule).collect();
    let check = Check { rules, namespace: format!("urn:iso:std:iso:20022:tech:xsd:{message}") };
    let mut faults = Vec::new();
    check.element(document.root_element(), "Document", "/Document", &mut faults);
    faults
}

fn rule(line: &str) -> (&str, Rule<'_>) {
    let (name, rest) = line.split_once(' ').unwrap();
    let (kind, rest) = rest.split_once(' ').unwrap();
    let words = rest.split_whitespace();
    let rule = match kind {
        "=" => Rule::Sequence(words.map(part).collect()),
        "|" => Rule::Choice(words.map(part).collect()),
        "~" => Rule::Value(words.collect()),
        _ => panic!("{line}"),
    };
    (name, rule)
}

fn part(word: &str) -> Part<'_> {
    let (name, of) = word.split_once(':').unwrap();
    let bare = name.trim_end_matches(['?', '*', '+']);
    let (least, most) = match &name[bare.len()..] {
        "?" => (0, 1),
        "*" => (0, usize::MAX),
        "+" => (1, usize::MAX),
        _ => (1, 1),
    };
    Part { name: bare, least, most, of }
}

impl Check<'_> {
    fn element(&self, node: Node<'_, '_>, of: &str, path: &str, faults: &mut Vec<String>) {
        if node.tag_name().namespace() != Some(&self.namespace) {
            faults.push(format!("{path}: another namespace"));
        }
        match self.rules.get(of) {
            None => faults.push(format!("{path}: the type {of} is not described")),
            Some(Rule::Value(kind)) => {
                let fits = node.children().all(|child| child.is_text());
                if !fits || !value(kind, node.text().unwrap_or_default(), node.attribute("Ccy")) {
                    faults.push(format!("{path}: {:?} is no {of}", node.text()));
                }
            }
            Some(Rule::Sequence(parts)) => self.sequence(node, parts, path, faults),
            Some(Rule::Choice(parts)) => {
                let chosen: Vec<_> = node.children().filter(Node::is_element).collect();
                let part = |name: &str| parts.iter().find(|part| part.name == name);
                match &chosen[..] {
                    [one] if part(one.tag_name().name()).is_some() => {
                        let part = part(one.tag_name().name()).unwrap();
                        self.element(*one, part.of, &format!("{path}/{}", part.name), faults);
                    }
                    _ => faults.push(format!("{path}: not one of a choice")),
                }
            }
        }
    }

    fn sequence(&self, node: Node<'_, '_>, parts: &[Part<'_>], path: &str, faults: &mut Vec<String>) {
        if node.children().any(|child| child.is_text() && !child.text().unwrap().trim().is_empty()) {
            faults.push(format!("{path}: text between elements"));
        }
        let mut children = node.children().filter(Node::is_element).peekable();
        for part in parts {
            let mut count = 0;
            while let Some(child) = children.next_if(|child| child.tag_name().name() == part.name) {
                count += 1;
                self.element(child, part.of, &format!("{path}/{}", part.name), faults);
            }
            if count < part.least || count > part.most {
                faults.push(format!("{path}/{}: {count} times", part.name));
            }
        }
        faults.extend(children.map(|child| format!("{path}/{}: out of place", child.tag_name().name())));
    }
}

fn value(kind: &[&str], text: &str, currency: Option<&str>) -> bool {
    let number = |word: usize| kind[word].parse::<usize>().unwrap();
    let all = |class: fn(&u8) -> bool| text.bytes().all(|byte| class(&byte));
    let fits = match kind[0] {
        "text" => (number(1)..=number(2)).contains(&text.chars().count()),
        "code" => kind[1..].contains(&text),
        "digits" => (1..=number(1)).contains(&text.len()) && all(u8::is_ascii_digit),
        "capitals" => text.len() == number(1) && all(u8::is_ascii_uppercase),
        "decimal" => decimal(text.strip_prefix('-').unwrap_or(text), number(1), number(2)),
        "amount" => decimal(text, number(1), number(2)),
        "date" => text.parse::<Date>().is_ok() && text.len() == 10,
        "date-time" => text.parse::<Timestamp>().is_ok() && text.as_bytes()[10] == b'T',
        other => panic!("no kind {other}"),
    };
    let needs_currency = kind[0] == "amount";
    fits && currency.is_some_and(|code| value(&["capitals", "3"], code, None)) == needs_currency
}

fn decimal(text: &str, digits: usize, places: usize) -> bool {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let numeric = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let significant = whole.trim_start_matches('0').len() + text.split_once('.').map_or(0, |(_, f)| f.len());
    numeric(whole) && numeric(fraction) && significant <= digits && fraction.len() <= places
}

#[test]
fn a_document_of_another_shape_is_noticed() {
    let of = |inside: &str| {
        let namespace = "urn:iso:std:iso:20022:tech:xsd:pacs.008.001.08";
        let xml = format!(
            "<Document xmlns='{namespace}'><FIToFICstmrCdtTrf>{inside}</FIToFICstmrCdtTrf></Document>"
        );
        faults(PACS008, &xml)
    };
    let header = |inside: &str| of(&format!("<GrpHdr>{inside}</GrpHdr>"));
    let settled = "<SttlmInf><SttlmMtd>CLRG</SttlmMtd></SttlmInf>";
    let dated = "<CreDtTm>2026-01-31T12:00:00Z</CreDtTm>";
    let root = "/Document/FIToFICstmrCdtTrf";
    let transfers = format!("{root}/CdtTrfTxInf: 0 times");
    let right = format!("<MsgId>m</MsgId>{dated}<NbOfTxs>1</NbOfTxs>{settled}");
    assert_eq!(header(&right), [&*transfers]);
    for (wrong, expected) in [
        (format!("{dated}<MsgId>m</MsgId><NbOfTxs>1</NbOfTxs>{settled}"), "/GrpHdr/MsgId: 0 times"),
        (
            right.replace("CLRG", "CASH"),
            "/GrpHdr/SttlmInf/SttlmMtd: Some(\"CASH\") is no SettlementMethod1Code",
        ),
        (right.replace(">m<", &format!(">{}<", "m".repeat(36))), "is no Max35Text"),
        (right.replace("<NbOfTxs>1", "<NbOfTxs>one"), "is no Max15NumericText"),
        (right.replace("2026-01-31T12:00:00Z", "2026-01-31"), "is no ISODateTime"),
        (format!("{right}<Note/>"), "/GrpHdr/Note: out of place"),
        (format!("{right}note"), "/GrpHdr: text between elements"),
    ] {
        let found = header(&wrong);
        assert!(found.iter().any(|fault| fault.contains(expected)), "{wrong}: {found:?}");
    }
    assert!(faults(PACS008, "<Document/>")[0].contains("another namespace"));
    assert!(!faults(PACS008, "<Document>").is_empty(), "not XML");
    for (text, fits) in [("1.00", true), ("0.12345", true), ("1.123456", false), ("-1", false), ("", false)] {
        assert_eq!(value(&["amount", "18", "5"], text, Some("NGN")), fits, "{text}");
    }
    assert!(!value(&["amount", "18", "5"], "1", None), "an amount without a currency");
    assert!(!value(&["text", "1", "3"], "a", Some("NGN")), "a text with one");
}
