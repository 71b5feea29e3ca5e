//! Reading a JSON body field by field, with every error at once.
//!
//! A request type is declared with [`request!`](crate::request), which makes the struct, its OpenAPI schema and its
//! [`Field`] implementation from one list. The body is parsed once; reading it costs no further parse. The types a field
//! can have are in [`values`](super::values).

use serde_json::{Map, Value};
use utoipa::openapi::schema::{AdditionalProperties, Schema};

use crate::problem::FieldError;

/// What is wrong with a value; pointers are relative to it.
pub type Faults = Vec<FieldError>;

/// A value a request can hold.
pub trait Field: Sized {
    /// Whether a body without it is wrong.
    const REQUIRED: bool = true;
    /// Whether it holds a file: a body with one may be larger.
    const HOLDS_FILE: bool = false;
    /// Whether a body of this type may as well be absent.
    const ASKS_FOR_NOTHING: bool = false;
    /// The names of an object's fields.
    const NAMES: &'static [&'static str] = &[];

    /// Reads a value that is there.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    fn read(value: Value) -> Result<Self, Faults>;

    /// What an absent or null one means.
    ///
    /// # Errors
    /// `REQUIRED`, unless the field is optional.
    fn absent() -> Result<Self, Faults> {
        Err(fault("REQUIRED", "this field is required"))
    }

    /// What a null means: what an absent one does, unless the field can be taken away.
    ///
    /// # Errors
    /// As [`absent`](Self::absent).
    fn null() -> Result<Self, Faults> {
        Self::absent()
    }

    /// Reads a value that came as text, in a query string.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn from_text(text: String) -> Result<Self, Faults> {
        Self::read(Value::String(text))
    }

    /// What the document says about it.
    fn schema() -> Schema;
}

/// One thing wrong with a value.
#[must_use]
pub fn fault(code: &'static str, message: &str) -> Faults {
    vec![FieldError { pointer: String::new(), code, message: message.to_owned() }]
}

/// The fields of one JSON object, taken one after another.
#[derive(Debug)]
pub struct Fields {
    object: Map<String, Value>,
    faults: Faults,
}

impl Fields {
    /// The fields of `value`.
    ///
    /// # Errors
    /// When it is not an object.
    pub fn of(value: Value) -> Result<Self, Faults> {
        match value {
            Value::Object(object) => Ok(Self { object, faults: Vec::new() }),
            _ => Err(fault("WRONG_TYPE", "expected an object")),
        }
    }

    /// Takes the field `name`; when it is wrong, remembers why and answers `None`.
    pub fn take<T: Field>(&mut self, name: &str) -> Option<T> {
        let read = match self.object.get_mut(name).map(Value::take) {
            None => T::absent(),
            Some(Value::Null) => T::null(),
            Some(value) => T::read(value),
        };
        read.map_err(|faults| self.faults.extend(under(name, faults))).ok()
    }

    /// The request, unless a field was wrong.
    ///
    /// # Errors
    /// Everything that was wrong.
    pub fn finish<T>(self, request: Option<T>) -> Result<T, Faults> {
        match request {
            Some(request) if self.faults.is_empty() => Ok(request),
            _ => Err(self.faults),
        }
    }
}

/// Faults of a member, with pointers relative to its object or list.
pub(super) fn under(name: impl std::fmt::Display, faults: Faults) -> impl Iterator<Item = FieldError> {
    faults.into_iter().map(move |fault| FieldError { pointer: format!("/{name}{}", fault.pointer), ..fault })
}

/// Declares the body of a request: the struct, its OpenAPI schema, and how it is read.
///
/// `field: Type = "jsonName"`; a field of type `Option<_>` may be absent or null.
#[macro_export]
macro_rules! request {
    ($(#[doc = $about:literal])* $name:ident {
        $($(#[doc = $doc:literal])* $field:ident: $type:ty = $json:literal,)*
    }) => {
        $(#[doc = $about])*
        #[allow(dead_code, reason = "the interface names fields that the bank passes over")]
        pub struct $name {$(
            $(#[doc = $doc])*
            pub $field: $type,
        )*}

        impl $crate::request::Field for $name {
            const HOLDS_FILE: bool = false $(|| <$type as $crate::request::Field>::HOLDS_FILE)*;
            const NAMES: &'static [&'static str] = &[$($json),*];

            fn read(value: serde_json::Value) -> Result<Self, $crate::request::Faults> {
                let mut fields = $crate::request::Fields::of(value)?;
                $(let $field = fields.take::<$type>($json);)*
                // Every field has been read by now, so that every error is known.
                let request = (|| Some(Self { $($field: $field?,)* }))();
                fields.finish(request)
            }

            fn schema() -> utoipa::openapi::schema::Schema {
                use $crate::request::{Field, schema};
                schema::object(&[$($about),*], vec![$((
                    $json,
                    <$type as Field>::REQUIRED,
                    schema::described(<$type as Field>::schema(), &[$($doc),*]),
                ),)*])
            }
        }

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                utoipa::openapi::RefOr::T(<Self as $crate::request::Field>::schema())
            }
        }

        impl utoipa::ToSchema for $name {}
    };
}

/// An object in which nothing but its own fields may stand: an app that believes to have changed something that cannot be
/// changed is told so.
pub struct Strict<T>(pub T);

impl<T: Field> Field for Strict<T> {
    const HOLDS_FILE: bool = T::HOLDS_FILE;
    const NAMES: &'static [&'static str] = T::NAMES;

    fn read(value: Value) -> Result<Self, Faults> {
        let names = value.as_object().into_iter().flat_map(Map::keys);
        let unknown = names.filter(|name| !T::NAMES.contains(&name.as_str()));
        let mut faults: Faults = unknown
            .flat_map(|name| {
                let name = name.replace('~', "~0").replace('/', "~1");
                under(name, fault("UNKNOWN_FIELD", "this field cannot be set here"))
            })
            .collect();
        match T::read(value) {
            Ok(read) if faults.is_empty() => Ok(Self(read)),
            Ok(_) => Err(faults),
            Err(wrong) => {
                faults.extend(wrong);
                Err(faults)
            }
        }
    }

    fn schema() -> Schema {
        let schema = T::schema();
        let Schema::Object(mut object) = schema else { return schema };
        object.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
        Schema::Object(object)
    }
}

impl<T: Field> Field for Option<T> {
    const REQUIRED: bool = false;
    const HOLDS_FILE: bool = T::HOLDS_FILE;

    fn read(value: Value) -> Result<Self, Faults> {
        T::read(value).map(Some)
    }

    fn absent() -> Result<Self, Faults> {
        Ok(None)
    }

    fn from_text(text: String) -> Result<Self, Faults> {
        T::from_text(text).map(Some)
    }

    fn schema() -> Schema {
        super::schema::nullable(T::schema())
    }
}

/// An optional field of a change: absent, it stays; null takes away what is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit<T> {
    /// As it is.
    Keep,
    /// Nothing any more.
    Clear,
    /// This instead.
    Set(T),
}

impl<T> Edit<T> {
    /// None when it stays; what is there instead otherwise.
    pub fn change<U>(self, of: impl FnOnce(T) -> U) -> Option<Option<U>> {
        match self {
            Self::Keep => None,
            Self::Clear => Some(None),
            Self::Set(value) => Some(Some(of(value))),
        }
    }
}

impl<T: Field> Field for Edit<T> {
    const REQUIRED: bool = false;

    fn read(value: Value) -> Result<Self, Faults> {
        T::read(value).map(Self::Set)
    }

    fn absent() -> Result<Self, Faults> {
        Ok(Self::Keep)
    }

    fn null() -> Result<Self, Faults> {
        Ok(Self::Clear)
    }

    fn schema() -> Schema {
        super::schema::nullable(T::schema())
    }
}
