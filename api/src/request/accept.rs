//! Which representation a client wants (RFC 9110, 12.5.1).

use axum::extract::FromRequestParts;
use axum::http::header::ACCEPT;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};

use crate::app::App;
use crate::problem::Problem;

/// The representations that an endpoint has.
pub trait Representation: Copy + 'static {
    /// Each by its media type; of those that a client likes equally the first is taken.
    const ALL: &'static [(&'static str, Self)];
}

/// The representation that suits the client best; the first one when it does not say.
#[derive(Debug, Clone, Copy)]
pub struct Accept<R>(pub R);

impl<R: Representation> FromRequestParts<App> for Accept<R> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        negotiate(&parts.headers, R::ALL).map(Self)
    }
}

/// # Errors
/// 406 when the client wants none of them.
fn negotiate<R: Copy>(headers: &HeaderMap, offers: &[(&str, R)]) -> Result<R, Problem> {
    let values: Vec<_> =
        headers.get_all(ACCEPT).into_iter().map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
    let ranges = values.iter().flat_map(|value| value.split(','));
    let wanted: Vec<&str> = ranges.filter(|range| !range.trim().is_empty()).collect();
    // No header means that anything will do. Of equals `max_by_key` takes the last.
    let quality = |media: &str| if wanted.is_empty() { 1000 } else { quality(&wanted, media) };
    let best = offers.iter().rev().max_by_key(|(media, _)| quality(media));
    best.filter(|(media, _)| quality(media) > 0).map(|(_, offer)| *offer).ok_or_else(|| {
        let offers: Vec<&str> = offers.iter().map(|(media, _)| *media).collect();
        let detail = format!("this resource comes as one of: {}", offers.join(", "));
        Problem::new(StatusCode::NOT_ACCEPTABLE, "NOT_ACCEPTABLE", detail)
    })
}

/// How much the client wants `media`, in thousandths: what its most specific range says, 0 when none matches.
/// Parameters of a range other than its weight are passed over, as is a range that is malformed.
fn quality(wanted: &[&str], media: &str) -> u16 {
    let matching = wanted.iter().filter_map(|wanted| {
        let mut parts = wanted.split(';').map(str::trim);
        let range = parts.next()?;
        let specific = match range.split_once('/')? {
            ("*", "*") => 0,
            (kind, "*") if media.split('/').next()?.eq_ignore_ascii_case(kind) => 1,
            _ if range.eq_ignore_ascii_case(media) => 2,
            _ => return None,
        };
        let weight = parts.find_map(|parameter| parameter.strip_prefix(['q', 'Q'])?.strip_prefix('='));
        Some((specific, weight.map_or(Some(1000), thousandths)?))
    });
    matching.max_by_key(|(specific, _)| *specific).map_or(0, |(_, weight)| weight)
}

/// `0.25` is 250: at most one before the point, three digits behind it.
fn thousandths(weight: &str) -> Option<u16> {
    let (whole, fraction) = weight.split_once('.').unwrap_or((weight, ""));
    let digits = fraction.len() <= 3 && fraction.bytes().all(|digit| digit.is_ascii_digit());
    let fraction: u16 = if digits { format!("{fraction:0<3}").parse().ok()? } else { return None };
    match whole {
        // Java sends `.2`.
        "0" | "" => Some(fraction),
        "1" if fraction == 0 => Some(1000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFFERS: [(&str, char); 3] =
        [("application/json", 'j'), ("application/xml", 'x'), ("text/csv", 'c')];

    fn chosen(accept: &[&str]) -> Option<char> {
        let mut headers = HeaderMap::new();
        for value in accept {
            headers.append(ACCEPT, value.parse().unwrap());
        }
        negotiate(&headers, &OFFERS).ok()
    }

    #[test]
    fn the_client_gets_what_it_likes_best() {
        for (accept, expected) in [
            ("application/json", Some('j')),
            ("application/xml", Some('x')),
            ("TEXT/CSV; charset=utf-8", Some('c')),
            ("*/*", Some('j')),
            ("text/*", Some('c')),
            ("application/*", Some('j')),
            ("application/*, application/json;q=0.5", Some('x')),
            ("text/csv, application/xml", Some('x')),
            ("text/csv, application/xml;q=0.999", Some('c')),
            ("application/json;q=0.1, text/csv;q=0.2", Some('c')),
            ("*/*;q=0.1, application/xml;q=0", Some('j')),
            ("application/json;q=0, */*", Some('x')),
            ("text/csv;header=present;q=0.3, application/json;Q=0.2", Some('c')),
            // A browser, and Java's URLConnection.
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", Some('x')),
            ("text/html, image/gif, *; q=.2, */*; q=.2", Some('j')),
            // Nothing that we have.
            ("text/html", None),
            ("application/pdf, image/*", None),
            ("application/json;q=0", None),
            ("*/*;q=0", None),
            ("json", None),
            // A weight that is none does not count as one.
            ("application/xml;q=2, text/csv;q=0.1", Some('c')),
            ("application/xml;q=0.1234", None),
            ("application/xml;q=-1", None),
            ("application/xml;q=é", None),
        ] {
            assert_eq!(chosen(&[accept]), expected, "{accept}");
        }
    }

    #[test]
    fn silence_means_anything_and_two_headers_are_one() {
        assert_eq!(chosen(&[]), Some('j'));
        assert_eq!(chosen(&[""]), Some('j'));
        assert_eq!(chosen(&[" , "]), Some('j'));
        assert_eq!(chosen(&["text/csv;q=0.5", "application/xml"]), Some('x'));
    }
}
