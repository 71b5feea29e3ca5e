//! Writing XML: elements, texts of limited length, amounts.

use std::borrow::Cow;
use std::io;

use bursar_domain::Currency;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};

/// What stands for a character that XML 1.0 cannot carry.
const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

/// A document, or a part of one, as it is written. Writing to memory does not fail; the errors are the writer's form.
pub(super) struct Xml(Writer<Vec<u8>>);

impl Xml {
    /// A part of a document.
    pub fn part() -> Self {
        Self(Writer::new(Vec::new()))
    }

    /// A document of the named message, opened: `camt.053.001.08`.
    pub fn document(message: &str) -> io::Result<Self> {
        let mut xml = Self::part();
        xml.0.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
        let namespace = format!("urn:iso:std:iso:20022:tech:xsd:{message}");
        let root = BytesStart::new("Document").with_attributes([("xmlns", namespace.as_str())]);
        xml.0.write_event(Event::Start(root))?;
        Ok(xml)
    }

    /// What was written.
    pub fn bytes(self) -> Vec<u8> {
        self.0.into_inner()
    }

    pub fn open(&mut self, name: &str) -> io::Result<()> {
        self.0.write_event(Event::Start(BytesStart::new(name)))
    }

    pub fn close(&mut self, name: &str) -> io::Result<()> {
        self.0.write_event(Event::End(BytesEnd::new(name)))
    }

    /// Nested elements with `inside` in the innermost one.
    pub fn within(
        &mut self,
        path: &[&str],
        inside: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        path.iter().try_for_each(|name| self.open(name))?;
        inside(self)?;
        path.iter().rev().try_for_each(|name| self.close(name))
    }

    /// An element with a text of ours, which is known to fit.
    pub fn leaf(&mut self, name: &str, text: &str) -> io::Result<()> {
        self.0.create_element(name).write_text_content(BytesText::new(&legible(text)))?;
        Ok(())
    }

    /// An element with somebody's text: cut after `most` characters, left out when there is none.
    pub fn text(&mut self, name: &str, text: &str, most: usize) -> io::Result<()> {
        if text.is_empty() { Ok(()) } else { self.leaf(name, limited(text, most)) }
    }

    /// An element with an amount without its sign, which is said elsewhere.
    pub fn amount(&mut self, name: &str, currency: Currency, minor: i64) -> io::Result<()> {
        let decimal = currency.decimal(i128::from(minor).abs());
        let element = self.0.create_element(name).with_attribute(("Ccy", currency.as_str()));
        element.write_text_content(BytesText::new(&decimal))?;
        Ok(())
    }

    /// What a payment is for: `RmtInf` with as many unstructured lines as the text needs.
    pub fn remittance(&mut self, text: Option<&str>) -> io::Result<()> {
        let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(()) };
        self.within(&["RmtInf"], |xml| pieces(text, 140).try_for_each(|line| xml.leaf("Ustrd", line)))
    }

    /// An account of a bank that numbers its accounts in its own way.
    pub fn account(&mut self, name: &str, number: &str) -> io::Result<()> {
        self.within(&[name, "Id", "Othr"], |xml| xml.text("Id", number, 34))
    }
}

/// The first `most` characters.
pub(super) fn limited(text: &str, most: usize) -> &str {
    pieces(text, most).next().unwrap_or_default()
}

/// The text in pieces of at most `most` characters, in order.
fn pieces(text: &str, most: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.char_indices().nth(most).map_or(rest.len(), |(at, _)| at);
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// The text with everything replaced that XML 1.0 forbids, and the carriage return, which a parser would turn into a
/// line feed.
fn legible(text: &str) -> Cow<'_, str> {
    let forbidden = |c: char| matches!(c, '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
    if text.contains(forbidden) {
        Cow::Owned(text.replace(forbidden, REPLACEMENT.encode_utf8(&mut [0; 4])))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_back(text: &str) -> String {
        let mut xml = Xml::part();
        xml.leaf("T", text).unwrap();
        let written = String::from_utf8(xml.bytes()).unwrap();
        roxmltree::Document::parse(&written).unwrap().root_element().text().unwrap_or_default().to_owned()
    }

    #[test]
    fn a_text_comes_back_as_it_was() {
        for text in ["<&>\"'", "]]>", "<!-- -->", "&amp;", "łódź 株式会社 🍲", "a\tb\nc", " spaces "]
        {
            assert_eq!(read_back(text), text);
        }
    }

    #[test]
    fn what_xml_cannot_carry_is_replaced() {
        assert_eq!(
            read_back("a\0b\u{7}c\u{b}d\re\u{1f}f\u{fffe}g\u{ffff}h"),
            "a\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}e\u{fffd}f\u{fffd}g\u{fffd}h"
        );
        // DEL and the C1 controls are discouraged, not forbidden.
        assert_eq!(read_back("\u{7f}\u{85}"), "\u{7f}\u{85}");
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(limited("🍲🍲🍲", 2), "🍲🍲");
        assert_eq!(limited("abc", 3), "abc");
        assert_eq!(limited("", 3), "");
        assert_eq!(pieces("aabbc", 2).collect::<Vec<_>>(), ["aa", "bb", "c"]);
        assert_eq!(pieces("", 2).count(), 0);
    }
}
