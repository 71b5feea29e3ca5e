//! Finding the personal parts of a payload, and putting something else in their place.

use std::fmt::Write as _;

/// Text that is not the JSON we write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Malformed;

/// How deep values may lie in each other; serde_json reads no deeper.
const DEEPEST: usize = 127;

/// `json`, in which each object with the single member `member` has been replaced by what `replace` wrote; it is told
/// the object's JSON pointer (RFC 6901) and the member's value as it stands there.
///
/// The rest of the text stays as it is, byte for byte. What stands inside a string is never mistaken for an object.
pub(super) fn replace<E: From<Malformed>>(
    json: &str,
    member: &str,
    replace: impl FnMut(&mut String, &str, &str) -> Result<(), E>,
) -> Result<String, E> {
    let (pointer, out) = (String::with_capacity(64), String::with_capacity(json.len() + 192));
    let mut walk = Walk { json, at: 0, member, replace, pointer, out, copied: 0, depth: 0 };
    walk.value()?;
    let rest = json.get(walk.copied..).ok_or(Malformed)?;
    walk.out.push_str(rest);
    Ok(walk.out)
}

struct Walk<'a, F> {
    json: &'a str,
    at: usize,
    member: &'a str,
    replace: F,
    /// Of the value at hand.
    pointer: String,
    out: String,
    /// How much of `json` is in `out`.
    copied: usize,
    depth: usize,
}

impl<'a, F> Walk<'a, F> {
    fn value<E>(&mut self) -> Result<(), E>
    where
        E: From<Malformed>,
        F: FnMut(&mut String, &str, &str) -> Result<(), E>,
    {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Malformed.into());
        }
        match self.next()? {
            b'{' => self.object()?,
            b'[' => self.array()?,
            b'"' => drop(self.string()?),
            _ => self.scalar()?,
        }
        self.depth -= 1;
        Ok(())
    }

    fn object<E>(&mut self) -> Result<(), E>
    where
        E: From<Malformed>,
        F: FnMut(&mut String, &str, &str) -> Result<(), E>,
    {
        let start = self.at;
        self.at += 1;
        let mut first = true;
        while self.next()? != b'}' {
            if !first {
                self.expect(b',')?;
                self.next()?;
            }
            let key = self.string()?;
            self.next()?;
            self.expect(b':')?;
            self.next()?;
            if first
                && key == self.member
                && let Some(value) = self.only_member()?
            {
                self.out.push_str(self.json.get(self.copied..start).ok_or(Malformed)?);
                self.copied = self.at;
                return (self.replace)(&mut self.out, &self.pointer, value);
            }
            first = false;
            let parent = self.pointer.len();
            self.pointer.push('/');
            // RFC 6901: ~ and / stand for something else in a pointer.
            if key.contains(['~', '/']) {
                self.pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
            } else {
                self.pointer.push_str(key);
            }
            self.value()?;
            self.pointer.truncate(parent);
        }
        self.at += 1;
        Ok(())
    }

    /// The value that begins here and then the end of its object; none, and nothing passed over, when more follows.
    fn only_member(&mut self) -> Result<Option<&'a str>, Malformed> {
        let start = self.at;
        self.skip()?;
        let end = self.at;
        if self.next()? == b'}' {
            self.at += 1;
            return self.json.get(start..end).map(Some).ok_or(Malformed);
        }
        self.at = start;
        Ok(None)
    }

    fn array<E>(&mut self) -> Result<(), E>
    where
        E: From<Malformed>,
        F: FnMut(&mut String, &str, &str) -> Result<(), E>,
    {
        self.at += 1;
        let mut index = 0_usize;
        while self.next()? != b']' {
            if index > 0 {
                self.expect(b',')?;
            }
            let parent = self.pointer.len();
            // Writing to a String cannot fail.
            let _ = write!(self.pointer, "/{index}");
            self.value()?;
            self.pointer.truncate(parent);
            index += 1;
        }
        self.at += 1;
        Ok(())
    }

    /// Passes over a value, whatever is in it.
    fn skip(&mut self) -> Result<(), Malformed> {
        let mut open = 0_usize;
        loop {
            match self.next()? {
                b'{' | b'[' => {
                    open += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    open = open.checked_sub(1).ok_or(Malformed)?;
                    self.at += 1;
                }
                b',' | b':' if open > 0 => self.at += 1,
                b',' | b':' => return Err(Malformed),
                b'"' => drop(self.string()?),
                _ => self.scalar()?,
            }
            if open == 0 {
                return Ok(());
            }
        }
    }

    /// Passes over a string and answers what is between its quotes, as it stands there.
    fn string(&mut self) -> Result<&'a str, Malformed> {
        self.expect(b'"')?;
        let start = self.at;
        let bytes = self.json.as_bytes();
        loop {
            match bytes.get(self.at).ok_or(Malformed)? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        self.json.get(start..self.at - 1).ok_or(Malformed)
    }

    /// Passes over a number, `true`, `false` or `null`.
    fn scalar(&mut self) -> Result<(), Malformed> {
        let bytes = self.json.as_bytes();
        let ends = |byte: &u8| {
            matches!(byte, b',' | b':' | b'}' | b']' | b'{' | b'[' | b'"') || byte.is_ascii_whitespace()
        };
        let start = self.at;
        while bytes.get(self.at).is_some_and(|byte| !ends(byte)) {
            self.at += 1;
        }
        if self.at == start { Err(Malformed) } else { Ok(()) }
    }

    /// Passes over white space and answers the byte after it.
    fn next(&mut self) -> Result<u8, Malformed> {
        loop {
            let byte = *self.json.as_bytes().get(self.at).ok_or(Malformed)?;
            if !byte.is_ascii_whitespace() {
                return Ok(byte);
            }
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), Malformed> {
        if self.json.as_bytes().get(self.at) != Some(&byte) {
            return Err(Malformed);
        }
        self.at += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found in `json`, and the text with a number in each place.
    fn found(json: &str) -> Result<(Vec<(String, String)>, String), Malformed> {
        let mut found = Vec::new();
        let text = replace(json, "personal", |out, pointer, value| {
            found.push((pointer.to_owned(), value.to_owned()));
            let _ = write!(out, "{}", found.len());
            Ok::<(), Malformed>(())
        })?;
        Ok((found, text))
    }

    #[test]
    fn each_part_is_found_with_its_pointer() {
        let json = r#"{"a":{"personal":"Ada"},"b":[1,{"c":{"personal":{"d":[2]}}},"x"],"e/f":{"personal":null},"g":{}}"#;
        let (parts, text) = found(json).unwrap();
        let parts: Vec<(&str, &str)> = parts.iter().map(|(p, v)| (p.as_str(), v.as_str())).collect();
        assert_eq!(parts, [("/a", r#""Ada""#), ("/b/1/c", r#"{"d":[2]}"#), ("/e~1f", "null")]);
        assert_eq!(text, r#"{"a":1,"b":[1,{"c":2},"x"],"e/f":3,"g":{}}"#);
    }

    #[test]
    fn text_that_looks_like_a_part_is_none() {
        for json in [
            r#"{"narration":"{\"personal\":\"Ada\"}","x":"\\"}"#,
            r#"{"personal":"Ada","and":"more"}"#,
            r#"{"more":"and","personal":"Ada"}"#,
            r#"[{"personals":"Ada"},[],{},-1.5e3,true]"#,
            r#""personal""#,
        ] {
            assert_eq!(found(json).unwrap(), (Vec::new(), json.to_owned()));
        }
    }

    #[test]
    fn a_part_beside_another_member_hides_no_part_inside() {
        let (parts, text) =
            found(r#"{ "personal" : {"personal" : 1 }, "b": [ {"personal":2} , 3 ] }"#).unwrap();
        assert_eq!(parts, [("/personal".to_owned(), "1".to_owned()), ("/b/0".to_owned(), "2".to_owned())]);
        assert_eq!(text, r#"{ "personal" : 1, "b": [ 2 , 3 ] }"#);
    }

    #[test]
    fn what_is_not_json_is_refused_and_never_a_panic() {
        for json in
            ["", "{", r#"{"a"#, r#"{"a":}"#, r#"{"personal":,}"#, r#"{"a":1]"#, r#"["\"#, r#"{"a" 1}"#]
        {
            assert_eq!(found(json), Err(Malformed), "{json}");
        }
        assert_eq!(found(&"[".repeat(10_000)), Err(Malformed));
    }
}
