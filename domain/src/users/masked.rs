//! Personal data as they are shown to those who need to recognise them and not to know them.

/// `Ada Okafor` is `A** O*****`.
#[must_use]
pub fn masked_name(name: &str) -> String {
    let words = name.split_whitespace().map(|word| kept(word, 1, 0));
    words.collect::<Vec<_>>().join(" ")
}

/// `ada@example.com` is `a**@example.com`.
#[must_use]
pub fn masked_email(email: &str) -> String {
    match email.rsplit_once('@') {
        Some((mailbox, host)) => format!("{}@{host}", kept(mailbox, 1, 0)),
        None => kept(email, 0, 0),
    }
}

/// `+2348030000001` is `+234*******001`.
#[must_use]
pub fn masked_phone(phone: &str) -> String {
    kept(phone, 4, 3)
}

/// The first and the last characters; a text too short to hide anything between them is hidden whole.
fn kept(text: &str, first: usize, last: usize) -> String {
    let length = text.chars().count();
    let hides = length > first + last;
    let shown = |place: usize| hides && (place < first || place >= length - last);
    text.chars().enumerate().map(|(place, c)| if shown(place) { c } else { '*' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enough_is_left_to_recognise_and_not_to_know() {
        assert_eq!(masked_name("Ada  Okafor"), "A** O*****");
        assert_eq!(masked_name("Ọlá A"), "Ọ** *");
        assert_eq!(masked_email("ada@example.com"), "a**@example.com");
        assert_eq!(masked_email("a@example.com"), "*@example.com");
        assert_eq!(masked_phone("+2348030000001"), "+234*******001");
        assert_eq!((masked_phone("+234").as_str(), masked_email("ada").as_str()), ("****", "***"));
    }
}
