//! Query parameters, with every error at once.
//!
//! The parameters of an endpoint are declared with [`query!`](crate::query), which makes the struct, its part of the
//! OpenAPI document and its [`Query`] implementation from one list.

use std::collections::BTreeMap;

use axum::extract::{FromRequestParts, Query as RawQuery};
use axum::http::request::Parts;
use bursar_projections::{Page, Sort, SortField};
use jiff::Timestamp;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::Schema;

use super::fields::{Faults, Field, under};
use super::schema;
use super::values::Text;
use crate::app::App;
use crate::problem::Problem;

/// Largest page; a larger one is made this large.
const LARGEST_PAGE: u32 = 100;
/// Items of a keyset list at once, when nobody says, and at most.
const USUAL_TAIL: i64 = 100;
const LONGEST_TAIL: i64 = 1000;
/// Longest text to look for, in characters.
const LONGEST_SEARCH: usize = 100;

/// The parameters of one endpoint.
pub trait Query: Sized {
    /// Reads them all; what is wrong is noted in `params`.
    fn read(params: &mut Params) -> Self;
}

/// Extracts a [`Query`].
#[derive(Debug)]
pub struct Queried<T>(pub T);

impl<T: Query> FromRequestParts<App> for Queried<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let values = RawQuery::<Vec<(String, String)>>::try_from_uri(&parts.uri)
            .map_err(|_| Problem::bad_request("", "MALFORMED", "the query string is not well-formed"))?;
        let mut params = Params::new(values.0, app.journal.sources().clock.now());
        let query = T::read(&mut params);
        params.finish(query).map(Self).map_err(Problem::invalid)
    }
}

/// One parameter of a query, or several that belong together.
pub trait Param: Sized {
    /// Takes it. When it is wrong, notes why and answers as if it were absent.
    fn take(params: &mut Params, name: &str) -> Self;

    /// What the document says about it; `about` is the doc comment.
    fn document(name: &str, about: &str) -> Vec<Parameter>;
}

/// The parameters of one request, taken one after another.
#[derive(Debug)]
pub struct Params {
    values: BTreeMap<String, String>,
    faults: Faults,
    /// When the request was made.
    pub now: Timestamp,
}

impl Params {
    /// The parameters of a request made at `now`.
    #[must_use]
    pub fn new(values: Vec<(String, String)>, now: Timestamp) -> Self {
        Self { values: values.into_iter().collect(), faults: Vec::new(), now }
    }

    /// The query, unless a parameter was wrong.
    ///
    /// # Errors
    /// Everything that was wrong.
    pub fn finish<T>(self, query: T) -> Result<T, Faults> {
        if self.faults.is_empty() { Ok(query) } else { Err(self.faults) }
    }

    /// The text of a parameter, once.
    pub fn text(&mut self, name: &str) -> Option<String> {
        self.values.remove(name)
    }

    /// The value of a parameter, when it is there and right.
    pub fn read<T>(&mut self, name: &str, read: impl FnOnce(String) -> Result<T, Faults>) -> Option<T> {
        let text = self.text(name)?;
        read(text).map_err(|faults| self.faults.extend(under(name, faults))).ok()
    }

    /// Notes that a parameter is wrong.
    pub fn fault(&mut self, name: &str, code: &'static str, message: &str) {
        self.faults.extend(under(name, super::fault(code, message)));
    }

    /// A whole number from `least` on. One too large for 64 bits is the largest: past the end, or clamped.
    pub(super) fn whole(&mut self, name: &str, least: i64) -> Option<i64> {
        let text = self.text(name)?;
        let value = if !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit()) {
            Some(text.parse().unwrap_or(i64::MAX))
        } else {
            text.parse().ok()
        };
        let value = value.filter(|value| *value >= least);
        if value.is_none() {
            self.fault(name, "OUT_OF_RANGE", &format!("expected a whole number from {least}"));
        }
        value
    }
}

/// Declares the parameters of a query: the struct, what the document says, and how it is read.
#[macro_export]
macro_rules! query {
    ($(#[doc = $about:literal])* $name:ident {
        $($(#[doc = $doc:literal])* $field:ident: $type:ty = $param:literal,)*
    }) => {
        $(#[doc = $about])*
        #[derive(Debug)]
        pub struct $name {$(
            $(#[doc = $doc])*
            pub $field: $type,
        )*}

        impl $crate::request::Query for $name {
            fn read(params: &mut $crate::request::Params) -> Self {
                Self { $($field: $crate::request::Param::take(params, $param),)* }
            }
        }

        impl utoipa::IntoParams for $name {
            fn into_params(
                _: impl Fn() -> Option<utoipa::openapi::path::ParameterIn>,
            ) -> Vec<utoipa::openapi::path::Parameter> {
                use $crate::request::{Param, schema::prose};
                let mut all = Vec::new();
                $(all.extend(<$type as Param>::document($param, &prose(&[$($doc),*])));)*
                all
            }
        }
    };
}

/// One query parameter of the document.
pub(super) fn parameter(name: &str, about: &str, schema: Schema) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Query)
        .required(schema::required(false))
        .description(Some(about))
        .schema(Some(schema))
        .build()
}

impl<T: Field> Param for Option<T> {
    fn take(params: &mut Params, name: &str) -> Self {
        params.read(name, T::from_text)
    }

    fn document(name: &str, about: &str) -> Vec<Parameter> {
        vec![parameter(name, about, T::schema())]
    }
}

/// Text to look for; none when it is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search(pub Option<String>);

impl Search {
    /// Whether it is in one of `texts`; case does not matter.
    #[must_use]
    pub fn finds<const N: usize>(&self, texts: [&str; N]) -> bool {
        let Some(wanted) = self.0.as_ref().map(|text| text.to_lowercase()) else { return true };
        texts.iter().any(|text| text.to_lowercase().contains(&wanted))
    }
}

impl Param for Search {
    fn take(params: &mut Params, name: &str) -> Self {
        let text = params.text(name).filter(|text| !text.is_empty());
        let read = text.map(Text::<LONGEST_SEARCH>::from_text).transpose();
        match read {
            Ok(text) => Self(text.map(String::from)),
            Err(faults) => {
                params.faults.extend(under(name, faults));
                Self(None)
            }
        }
    }

    fn document(name: &str, about: &str) -> Vec<Parameter> {
        vec![parameter(name, about, schema::text(|text| text.max_length(Some(LONGEST_SEARCH))))]
    }
}

/// `page` and `size`: 1 and 20 when absent, at most 100 a page.
impl Param for Page {
    fn take(params: &mut Params, _: &str) -> Self {
        let usual = Self::default();
        let page = params.whole("page", 1).map(|page| page.min(i64::from(u32::MAX)));
        let size = params.whole("size", 1).map(|size| size.min(i64::from(LARGEST_PAGE)));
        let number = |given: Option<i64>, usual| given.and_then(|n| u32::try_from(n).ok()).unwrap_or(usual);
        Self { page: number(page, usual.page), size: number(size, usual.size) }
    }

    fn document(_: &str, _: &str) -> Vec<Parameter> {
        vec![
            parameter("page", "From 1 (the default).", schema::whole(1, None)),
            parameter("size", "Items a page, 20 when absent; more than 100 is 100.", schema::whole(1, None)),
        ]
    }
}

/// Where to go on in what only grows, and how far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tail {
    /// What comes after this position; 0 is the beginning.
    pub after: i64,
    /// At most so many items.
    pub limit: i64,
}

/// `after` and `limit`: 0 and 100 when absent, at most 1000 at once.
impl Param for Tail {
    fn take(params: &mut Params, _: &str) -> Self {
        let after = params.whole("after", 0).unwrap_or(0);
        let limit = params.whole("limit", 1).unwrap_or(USUAL_TAIL).min(LONGEST_TAIL);
        Self { after, limit }
    }

    fn document(_: &str, _: &str) -> Vec<Parameter> {
        vec![
            parameter("after", "The position to go on after; 0 when absent.", schema::whole(0, None)),
            parameter(
                "limit",
                "Items at once, 100 when absent; more than 1000 is 1000.",
                schema::whole(1, None),
            ),
        ]
    }
}

/// A field of the list, `-` in front for descending; newest first when absent.
impl<F: SortField> Param for Sort<F> {
    fn take(params: &mut Params, name: &str) -> Self {
        let read = |text: String| {
            text.parse()
                .map_err(|e: bursar_projections::UnknownSort| super::fault("UNKNOWN_VALUE", &e.to_string()))
        };
        params.read(name, read).unwrap_or_default()
    }

    fn document(name: &str, about: &str) -> Vec<Parameter> {
        let fields = F::NAMES.iter().flat_map(|(field, _)| [(*field).to_owned(), format!("-{field}")]);
        let schema = schema::text(|text| text.enum_values(Some(fields)));
        vec![parameter(name, &format!("{about} `-` in front for descending."), schema)]
    }
}
