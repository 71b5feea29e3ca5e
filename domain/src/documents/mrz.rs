//! The machine-readable zone of passports and identity cards: ICAO 9303, parts 4 (TD3) and 5 (TD1).

use jiff::civil::Date;

/// Characters a line: three lines of an identity card, two of a passport.
const TD1: usize = 30;
const TD3: usize = 44;

/// What a machine-readable zone says. Its check digits are right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mrz {
    /// The document's number.
    pub document_number: String,
    /// Given names, then surname.
    pub full_name: String,
    /// The holder's date of birth.
    pub date_of_birth: Date,
    /// Until when the document is good.
    pub expiry_date: Date,
}

/// The first machine-readable zone whose lines stand one after another in `text`, which may be any bytes: a line is a
/// run of so many capital letters, digits and `<`. `today` tells the century of a birth.
#[must_use]
pub fn find(text: &[u8], today: Date) -> Option<Mrz> {
    let allowed = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'<';
    let runs = text.split(|byte| !allowed(byte)).filter(|run| run.len() == TD1 || run.len() == TD3);
    let lines: Vec<&str> = runs.filter_map(|run| std::str::from_utf8(run).ok()).collect();
    let passport = lines.windows(2).find_map(|pair| td3(pair.first()?, pair.get(1)?, today));
    passport.or_else(|| {
        lines.windows(3).find_map(|three| td1(three.first()?, three.get(1)?, three.get(2)?, today))
    })
}

/// A passport: `P<` issuer and names, then number, nationality, birth, sex, expiry.
fn td3(first: &str, second: &str, today: Date) -> Option<Mrz> {
    if first.len() != TD3 || second.len() != TD3 || !first.starts_with('P') {
        return None;
    }
    let number = checked(second, 0, 9)?;
    let (birth, expiry) = (checked(second, 13, 6)?, checked(second, 21, 6)?);
    // Optional data may be empty, and then its check digit may be too.
    let optional = second.get(28..42)?;
    if check_digit(optional) != second.as_bytes().get(42).copied()
        && !second.get(28..43)?.trim_matches('<').is_empty()
    {
        return None;
    }
    let composite = [second.get(0..10)?, second.get(13..20)?, second.get(21..43)?].concat();
    if check_digit(&composite) != second.as_bytes().get(43).copied() {
        return None;
    }
    zone(number, first.get(5..)?, birth, expiry, today)
}

/// An identity card: issuer and number, then birth, sex, expiry, then names.
fn td1(first: &str, second: &str, third: &str, today: Date) -> Option<Mrz> {
    if [first, second, third].iter().any(|line| line.len() != TD1) || !first.starts_with(['I', 'A', 'C']) {
        return None;
    }
    let number = checked(first, 5, 9)?;
    let (birth, expiry) = (checked(second, 0, 6)?, checked(second, 8, 6)?);
    let composite = [first.get(5..)?, second.get(0..7)?, second.get(8..15)?, second.get(18..29)?].concat();
    if check_digit(&composite) != second.as_bytes().get(29).copied() {
        return None;
    }
    zone(number, third, birth, expiry, today)
}

fn zone(number: &str, names: &str, birth: &str, expiry: &str, today: Date) -> Option<Mrz> {
    let words = |text: &str| text.split('<').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let (surname, given) = names.split_once("<<").unwrap_or((names, ""));
    let (surname, given) = (words(surname), words(given));
    let this_century = i16::from(today.year() > 0) * (today.year() / 100 * 100);
    let birth =
        date(birth, this_century).filter(|day| *day <= today).or_else(|| date(birth, this_century - 100))?;
    Some(Mrz {
        document_number: words(number),
        full_name: [given, surname]
            .iter()
            .filter(|name| !name.is_empty())
            .cloned()
            .collect::<Vec<_>>()
            .join(" "),
        date_of_birth: birth,
        // Documents are good for ten years or so: none of the last century is shown.
        expiry_date: date(expiry, this_century)?,
    })
}

/// The `length` characters from `start` on, if the digit behind them is their check digit.
fn checked(line: &str, start: usize, length: usize) -> Option<&str> {
    let (field, digit) = (line.get(start..start + length)?, line.as_bytes().get(start + length)?);
    (check_digit(field) == Some(*digit)).then_some(field)
}

/// Weights 7, 3, 1; `<` is 0, `A` is 10.
fn check_digit(field: &str) -> Option<u8> {
    let mut sum = 0_u32;
    for (character, weight) in field.chars().zip([7, 3, 1].into_iter().cycle()) {
        sum += weight * if character == '<' { 0 } else { character.to_digit(36)? };
    }
    u8::try_from(sum % 10).ok().map(|digit| b'0' + digit)
}

/// `YYMMDD` in the century that begins with `century`.
fn date(text: &str, century: i16) -> Option<Date> {
    let part = |range: std::ops::Range<usize>| text.get(range)?.parse::<i8>().ok();
    Date::new(century + i16::from(part(0..2)?), part(2..4)?, part(4..6)?).ok()
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    /// The specimens of ICAO 9303, parts 4 and 5.
    const PASSPORT: [&str; 2] =
        ["P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<", "L898902C36UTO7408122F1204159ZE184226B<<<<<10"];
    const CARD: [&str; 3] = [
        "I<UTOD231458907<<<<<<<<<<<<<<<",
        "7408122F1204159UTO<<<<<<<<<<<6",
        "ERIKSSON<<ANNA<MARIA<<<<<<<<<<",
    ];

    fn today() -> Date {
        date(2026, 11, 1)
    }

    #[test]
    fn the_specimens_are_read() {
        let expected = |number: &str| Mrz {
            document_number: number.to_owned(),
            full_name: "ANNA MARIA ERIKSSON".to_owned(),
            date_of_birth: date(1974, 8, 12),
            expiry_date: date(2012, 4, 15),
        };
        assert_eq!(find(PASSPORT.join("\n").as_bytes(), today()), Some(expected("L898902C3")));
        assert_eq!(find(CARD.join("\r\n").as_bytes(), today()), Some(expected("D23145890")));
        let among_bytes =
            [&b"\x89PNG\0tEXtMRZ\0"[..], PASSPORT.join("\n").as_bytes(), &b"\0\xff"[..]].concat();
        assert_eq!(find(&among_bytes, today()), Some(expected("L898902C3")));
    }

    #[test]
    fn a_zone_with_any_wrong_digit_is_none() {
        let digits = PASSPORT[1].char_indices().filter(|(_, c)| c.is_ascii_digit());
        for (place, digit) in digits {
            let other = char::from_digit((digit.to_digit(10).unwrap() + 1) % 10, 10).unwrap();
            let second = format!("{}{other}{}", &PASSPORT[1][..place], &PASSPORT[1][place + 1..]);
            assert_eq!(find(format!("{}\n{second}", PASSPORT[0]).as_bytes(), today()), None, "{place}");
        }
        for nothing in [&b""[..], b"P<UTO", PASSPORT[0].as_bytes(), &[b'<'; 200], CARD[0].as_bytes()] {
            assert_eq!(find(nothing, today()), None);
        }
    }

    #[test]
    fn somebody_born_this_century_was_not_born_in_the_future() {
        assert_eq!(super::date("300101", 2000), Some(date(2030, 1, 1)));
        let born = |text: &str| zone("X", "A<<B", text, "300101", today()).unwrap().date_of_birth.year();
        assert_eq!((born("050101"), born("260101"), born("270101")), (2005, 2026, 1927));
        assert!(zone("X", "A<<B", "991301", "300101", today()).is_none());
    }
}
