//! What may be a PIN.

use jiff::civil::Date;

/// PINs that everybody tries first and that no rule below finds.
const COMMON: [&str; 9] = ["2580", "0852", "1004", "1313", "2468", "1357", "159753", "147258", "696969"];

crate::rejections! {
    /// Why something cannot be a PIN. Says nothing about it.
    pub enum WeakPin {
        /// Not a number, too short or too long.
        Form: Unprocessable "WEAK_PIN" = "a PIN has 4 to 6 digits",
        /// Everybody tries it first.
        Trivial: Unprocessable "WEAK_PIN" = "this PIN is too easy to guess",
        /// Everybody who knows them tries it first.
        BirthDate: Unprocessable "WEAK_PIN" = "a date of birth is no PIN",
    }
}

/// Whether `pin` may be one of somebody who was born on `birth`.
///
/// # Errors
/// [`WeakPin`].
pub fn check_pin(pin: &str, birth: Option<Date>) -> Result<(), WeakPin> {
    if !(4..=6).contains(&pin.len()) || !pin.bytes().all(|b| b.is_ascii_digit()) {
        return Err(WeakPin::Form);
    }
    if is_trivial(pin) {
        return Err(WeakPin::Trivial);
    }
    if birth.is_some_and(|birth| dates(birth).iter().any(|date| date == pin)) {
        return Err(WeakPin::BirthDate);
    }
    Ok(())
}

/// One step again and again (1111, 1234, 9876, 2468, and on from 9 to 0), one piece again and again (1212, 123123), a
/// mirror (1221), or on the list.
fn is_trivial(pin: &str) -> bool {
    let digits = pin.as_bytes();
    let step = |(a, b): (&u8, &u8)| (10 + b - a.min(b) - (a - a.min(b))) % 10;
    let mut steps = digits.iter().zip(digits.iter().skip(1)).map(step);
    let first = steps.next();
    let is_even = steps.all(|step| Some(step) == first);
    let repeats = (1..=3).any(|piece| {
        digits.len() > piece
            && digits.len().is_multiple_of(piece)
            && digits.iter().zip(digits.iter().skip(piece)).all(|(a, b)| a == b)
    });
    let mirrors = digits.iter().eq(digits.iter().rev());
    is_even || repeats || mirrors || COMMON.contains(&pin)
}

/// The ways to write a day in four to six digits.
fn dates(birth: Date) -> Vec<String> {
    let (d, m, y) = (format!("{:02}", birth.day()), format!("{:02}", birth.month()), birth.year());
    let (long, short) = (format!("{y:04}"), format!("{:02}", y.rem_euclid(100)));
    vec![
        format!("{d}{m}"),
        format!("{m}{d}"),
        format!("{m}{short}"),
        format!("{short}{m}"),
        format!("{d}{short}"),
        format!("{d}{m}{short}"),
        format!("{m}{d}{short}"),
        format!("{short}{m}{d}"),
        format!("{m}{long}"),
        format!("{long}{m}"),
        long,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pin_is_hard_to_guess() {
        let birth = Some(jiff::civil::date(1990, 5, 17));
        for good in ["4071", "83614", "902716"] {
            assert_eq!(check_pin(good, birth), Ok(()), "{good}");
        }
        for form in ["", "123", "4071902", "40a1", "４０７１", " 4071", "-407"] {
            assert_eq!(check_pin(form, birth), Err(WeakPin::Form), "{form}");
        }
        for trivial in [
            "0000", "1111", "999999", "1234", "4321", "7890", "0987", "123456", "654321", "1212", "121212",
            "123123", "1221", "2468", "2580", "98765",
        ] {
            assert_eq!(check_pin(trivial, birth), Err(WeakPin::Trivial), "{trivial}");
        }
        for date in ["1705", "0517", "1990", "0590", "9005", "170590", "051790", "900517", "051990", "199005"]
        {
            assert_eq!(check_pin(date, birth), Err(WeakPin::BirthDate), "{date}");
            assert_eq!(check_pin(date, Some(jiff::civil::date(1971, 11, 23))), Ok(()), "{date}");
        }
        assert_eq!(check_pin("1705", None), Ok(()));
    }
}
