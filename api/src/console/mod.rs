//! The operator console: a few files that the binary serves, and that talk to `/v1` as any app does.
//!
//! It has no rights of its own. Whoever opens it logs in as staff, holds the token in the page, and can do there what their
//! permissions allow anywhere; what they do is in the log under their name. There is no cookie, so that no other site can act
//! for them, and no script, style or address but the server's own (`Content-Security-Policy`), so that nothing that a customer
//! calls themselves ever runs.

use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::{fingerprint, known};
use crate::app::App;
use crate::openapi::ReadProblems;
use crate::problem::Problem;
use crate::request::{Conditions, ConsoleFile, InPath};

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(open_console)).routes(routes!(read_console_file))
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Nothing but the server's own, nothing inline, nowhere in a frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
    frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

const SHELL: File = File { name: "index.html", media: HTML, text: include_str!("index.html") };

/// A file of the console.
#[derive(Debug, Clone, Copy)]
struct File {
    name: &'static str,
    media: &'static str,
    text: &'static str,
}

macro_rules! files {
    ($($name:literal: $media:expr,)*) => {
        /// What the page asks for.
        const FILES: &[File] = &[$(File { name: $name, media: $media, text: include_str!($name) }),*];
    };
}

files! {
    "console.css": CSS,
    "accounts.js": SCRIPT,
    "api.js": SCRIPT,
    "app.js": SCRIPT,
    "approvals.js": SCRIPT,
    "charts.js": SCRIPT,
    "customers.js": SCRIPT,
    "dom.js": SCRIPT,
    "format.js": SCRIPT,
    "health.js": SCRIPT,
    "login.js": SCRIPT,
    "projections.js": SCRIPT,
    "records.js": SCRIPT,
    "schedule.js": SCRIPT,
    "timeline.js": SCRIPT,
    "transactions.js": SCRIPT,
}

/// A file as it is sent, unless the browser has it.
fn sent(file: File, wants: &Conditions) -> Response {
    let mut headers = HeaderMap::new();
    // Asked for each time, and answered by 304 while the server is the same.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    let tag = format!("\"{}\"", fingerprint(file.text.as_bytes(), 8));
    if known(&mut headers, &tag, wants.none_match.as_deref()) {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(file.media));
    (headers, file.text).into_response()
}

/// The operator console, for browsers. Staff log in there; the page itself holds nothing.
#[utoipa::path(
    get, path = "/console", tag = "Operations", security(()),
    responses((status = 200, description = "The page.", body = String, content_type = "text/html"), ReadProblems)
)]
async fn open_console(wants: Conditions) -> Response {
    sent(SHELL, &wants)
}

/// A file that the console is made of.
#[utoipa::path(
    get, path = "/console/{file}", tag = "Operations", security(()), params(InPath<ConsoleFile>),
    responses(
        (status = 200, description = "The file.", content((String = "text/javascript"), (String = "text/css"))),
        ReadProblems
    )
)]
async fn read_console_file(wants: Conditions, name: InPath<ConsoleFile>) -> Result<Response, Problem> {
    let ConsoleFile(name) = name.get()?;
    let file = FILES.iter().copied().find(|file| file.name == name);
    Ok(sent(file.ok_or_else(|| Problem::not_found("file"))?, &wants))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What stands between two marks, each time.
    fn between<'a>(text: &'a str, before: &str, after: &str) -> Vec<&'a str> {
        text.split(before).skip(1).filter_map(|rest| rest.split(after).next()).collect()
    }

    #[test]
    fn every_file_that_is_asked_for_is_there_and_every_file_is_asked_for() {
        let mut asked: Vec<String> =
            between(SHELL.text, "\"/console/", "\"").into_iter().map(str::to_owned).collect();
        for file in FILES.iter().filter(|file| file.media == SCRIPT) {
            asked.extend(between(file.text, "from \"./", "\"").into_iter().map(str::to_owned));
        }
        asked.sort_unstable();
        asked.dedup();
        let there: Vec<&str> = FILES.iter().map(|file| file.name).collect();
        let mut sorted = there.clone();
        sorted.sort_unstable();
        assert_eq!(asked, sorted);
    }

    /// What the policy forbids would fail in a browser only, and what the page is parsed from would be somebody's name.
    #[test]
    fn nothing_is_inline_and_nothing_is_parsed_as_html() {
        let forbidden = [
            "innerHTML",
            "outerHTML",
            "insertAdjacent",
            "document.write",
            "eval(",
            "new Function",
            ".style",
            "http:",
            "https:",
        ];
        for file in FILES.iter().chain([&SHELL]) {
            // The name of the SVG language, which is nowhere.
            let text = file.text.replace("http://www.w3.org/2000/svg", "");
            for word in forbidden {
                assert!(!text.contains(word), "{}: {word}", file.name);
            }
        }
        assert!(
            !SHELL.text.contains("<style")
                && !SHELL.text.contains("style=")
                && !SHELL.text.contains("onload=")
        );
        assert_eq!(
            SHELL.text.matches("<script").count(),
            SHELL.text.matches("<script type=\"module\" src=").count()
        );
    }
}
