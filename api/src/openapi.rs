//! The OpenAPI 3.1 document: what the handlers do not say themselves.

use std::collections::BTreeMap;

use serde_json::json;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    ComponentsBuilder, InfoBuilder, OpenApi, OpenApiBuilder, Ref, RefOr, Response, ResponseBuilder,
};
use utoipa::{IntoParams, IntoResponses, PartialSchema as _, ToSchema};

use crate::problem::FieldError;

/// Name of the security scheme.
const BEARER: &str = "accessToken";

/// The document without its paths.
#[must_use]
pub fn base() -> OpenApi {
    let info = InfoBuilder::new()
        .title("bursar")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(include_str!("../docs/api.md")))
        .build();
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .bearer_format("JWT")
        .description(Some("The accessToken of a login or refresh."))
        .build();
    let components = ComponentsBuilder::new()
        .security_scheme(BEARER, SecurityScheme::Http(bearer))
        .schema("Problem", ProblemBody::schema())
        .schema("FieldError", FieldError::schema())
        .build();
    OpenApiBuilder::new()
        .info(info)
        .components(Some(components))
        .security(Some([SecurityRequirement::new(BEARER, Vec::<String>::new())]))
        .build()
}

/// An error (RFC 9457). Some codes have further members, such as `availableBalance`.
#[derive(Debug, ToSchema)]
#[schema(as = Problem, rename_all = "camelCase")]
#[allow(dead_code, reason = "documents what Problem::render writes")]
struct ProblemBody {
    /// A URN that names the kind of problem.
    r#type: String,
    /// The status in words.
    title: String,
    /// The HTTP status.
    status: u16,
    /// What happened, for people.
    detail: String,
    /// The template of the route, never an id.
    instance: String,
    /// What happened, for programs: stable, UPPER_SNAKE.
    code: String,
    /// The request id, to be quoted to support.
    trace_id: String,
    /// Every field that is wrong.
    errors: Option<Vec<FieldError>>,
}

/// What can go wrong with a read.
pub struct ReadProblems;

/// What can go wrong where there are several representations.
pub struct ChoiceProblems;

/// What can go wrong with a write.
pub struct WriteProblems;

/// What can go wrong where no token is needed.
pub struct PublicProblems;

impl IntoResponses for ReadProblems {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let mut responses = problems(&[400, 401, 403, 404, 429, 503]);
        let unchanged =
            ResponseBuilder::new().description("What the client has (`If-None-Match`) is current.");
        responses.insert("304".to_owned(), RefOr::T(unchanged.build()));
        responses
    }
}

impl IntoResponses for ChoiceProblems {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        problems(&[406])
    }
}

impl IntoResponses for WriteProblems {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        problems(&[400, 401, 403, 404, 409, 412, 413, 415, 422, 429, 503])
    }
}

impl IntoResponses for PublicProblems {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        problems(&[400, 404])
    }
}

fn problems(codes: &[u16]) -> BTreeMap<String, RefOr<Response>> {
    codes.iter().map(|code| (code.to_string(), RefOr::T(problem(*code)))).collect()
}

fn problem(code: u16) -> Response {
    let description = match code {
        400 => "Malformed, or a field or parameter is wrong; `errors` lists them all.",
        401 => "No token, or it is expired or revoked.",
        403 => "`PERMISSION_DENIED`, naming the permission.",
        404 => "Unknown, or not the caller's; the two look the same.",
        406 => "`Accept` admits none of the representations.",
        409 => "`INVALID_STATE` with `currentState`, or a value that is taken.",
        412 => "`If-Match` does not match: it has changed since.",
        413 => "The body is too large.",
        415 => "The body is not JSON.",
        422 => "Refused by a rule about money or business, such as `INSUFFICIENT_FUNDS`.",
        429 => "Too many requests; see `Retry-After`.",
        _ => "Try again; see `Retry-After`.",
    };
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
    ResponseBuilder::new().description(description).content("application/problem+json", content).build()
}

/// Headers of every write.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[allow(dead_code, reason = "documents what the extractors read")]
pub struct WriteHeaders {
    /// 1 to 255 printable ASCII characters. The same key and body again is answered as the first time, with
    /// `Idempotent-Replayed: true`; another body under it is 422.
    #[param(rename = "Idempotency-Key", max_length = 255)]
    idempotency_key: Option<String>,
    /// Names the request in logs and problems; echoed.
    #[param(rename = "X-Request-Id", max_length = 128)]
    request_id: Option<String>,
}

/// The header of a write to something that can be read.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[allow(dead_code, reason = "documents what the extractors read")]
pub struct IfMatch {
    /// The `ETag` of a read; 412 when the thing has changed since.
    #[param(rename = "If-Match")]
    if_match: Option<String>,
}

/// Headers of every read.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[allow(dead_code, reason = "documents what the extractors read")]
pub struct ReadHeaders {
    /// An `ETag`; the answer is 304 when nothing has changed.
    #[param(rename = "If-None-Match")]
    if_none_match: Option<String>,
    /// A `Bursar-Position`; the answer includes what was written there.
    #[param(rename = "Bursar-Min-Position", minimum = 0)]
    min_position: Option<i64>,
    /// Names the request in logs and problems; echoed.
    #[param(rename = "X-Request-Id", max_length = 128)]
    request_id: Option<String>,
}

/// The document as it is committed and served: pretty, with a final line break.
#[must_use]
pub fn render(document: &OpenApi) -> String {
    let value = serde_json::to_value(document).unwrap_or_else(|_| json!({}));
    let mut text = serde_json::to_string_pretty(&value).unwrap_or_default();
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;
    use crate::router::document;

    /// `UPDATE_SNAPSHOTS=1 cargo test -p bursar-api openapi` writes it anew; the diff is what clients will see.
    #[test]
    fn the_committed_document_is_what_the_handlers_say() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi.json");
        let current = render(&document());
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
            std::fs::write(&path, &current).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            committed == current,
            "api/openapi.json is old: UPDATE_SNAPSHOTS=1 cargo test -p bursar-api openapi"
        );
    }

    #[test]
    fn every_operation_has_a_name_of_its_own_a_summary_and_a_tag() {
        let document = serde_json::to_value(document()).unwrap();
        let mut names = BTreeSet::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                let name = operation["operationId"].as_str().unwrap().to_owned();
                assert!(names.insert(name), "{method} {path}");
                assert!(
                    operation["summary"].is_string() && operation["tags"][0].is_string(),
                    "{method} {path}"
                );
            }
        }
        assert!(names.len() >= 12);
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let document = serde_json::to_value(document()).unwrap();
        let text = document.to_string();
        let schemas = document["components"]["schemas"].as_object().unwrap();
        for reference in text.split("\"#/components/schemas/").skip(1) {
            let name = reference.split('"').next().unwrap();
            assert!(schemas.contains_key(name), "{name}");
        }
    }
}
