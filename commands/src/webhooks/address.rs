//! Where a webhook is.

use std::str::FromStr;

use reqwest::Url;

/// The longest address.
const LONGEST: usize = 2_048;

/// An address that can be told something: HTTP, with a host, and without a password in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address(Url);

/// Text that is not such an address. Does not quote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected an address such as https://example.com/hooks, without user name, password or fragment")]
pub struct NotAnAddress;

impl Address {
    /// Whether what is told travels encrypted.
    #[must_use]
    pub fn is_secure(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// As it is kept.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl FromStr for Address {
    type Err = NotAnAddress;

    fn from_str(text: &str) -> Result<Self, NotAnAddress> {
        let url = Url::parse(text).map_err(|_| NotAnAddress)?;
        let fits = text.len() <= LONGEST
            && matches!(url.scheme(), "https" | "http")
            && url.host_str().is_some_and(|host| !host.is_empty())
            && url.username().is_empty()
            && url.password().is_none()
            && url.fragment().is_none();
        if fits { Ok(Self(url)) } else { Err(NotAnAddress) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_holds_no_password_and_is_on_the_web() {
        for good in ["https://example.com", "http://127.0.0.1:8080/a?b=c", "https://[2001:db8::1]/x"] {
            assert!(good.parse::<Address>().is_ok(), "{good}");
        }
        let long = format!("https://example.com/{}", "x".repeat(2_048));
        for bad in [
            "",
            "example.com",
            "ftp://example.com",
            "file:///etc/passwd",
            "https://",
            "https://ada@example.com",
            "https://ada:secret@example.com",
            "https://example.com/#x",
            "javascript:alert(1)",
            long.as_str(),
        ] {
            assert_eq!(bad.parse::<Address>(), Err(NotAnAddress), "{bad}");
        }
    }
}
