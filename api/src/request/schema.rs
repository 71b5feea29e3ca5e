//! What the OpenAPI document says about a value: the same limits that the reader checks.

use utoipa::openapi::schema::{Array, KnownFormat, ObjectBuilder, Schema, SchemaFormat, SchemaType, Type};
use utoipa::openapi::{RefOr, Required};

/// Text that `dress` describes further.
pub fn text(dress: impl FnOnce(ObjectBuilder) -> ObjectBuilder) -> Schema {
    dress(ObjectBuilder::new().schema_type(Type::String)).into()
}

/// Text of a known format.
pub(super) fn formatted(format: KnownFormat) -> Schema {
    text(|schema| schema.format(Some(SchemaFormat::KnownFormat(format))))
}

/// Text that is one of `spellings`.
pub(super) fn one_of(spellings: &'static [&'static str]) -> Schema {
    text(|schema| schema.enum_values(Some(spellings.iter().copied())))
}

/// A whole number from `least` to `most`.
#[allow(
    clippy::cast_precision_loss,
    reason = "10^15 and below are exact in 53 bits; larger ones are not written"
)]
pub fn whole(least: i64, most: Option<i64>) -> Schema {
    let mut schema = ObjectBuilder::new()
        .schema_type(Type::Integer)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
        .minimum(Some(least));
    if let Some(most) = most {
        schema = schema.maximum(Some(most));
    }
    schema.into()
}

/// A list of `items`.
pub(super) fn list(items: Schema) -> Schema {
    Schema::Array(Array::new(items))
}

/// `schema`, or null.
pub(super) fn nullable(schema: Schema) -> Schema {
    let Schema::Object(mut object) = schema else { return schema };
    if let SchemaType::Type(one) = &object.schema_type {
        object.schema_type = SchemaType::Array(vec![one.clone(), Type::Null]);
    }
    if let Some(values) = &mut object.enum_values {
        values.push(serde_json::Value::Null);
    }
    Schema::Object(object)
}

/// `schema` with the text of a doc comment.
#[must_use]
pub fn described(mut schema: Schema, lines: &[&str]) -> Schema {
    let about = Some(prose(lines)).filter(|about| !about.is_empty());
    match &mut schema {
        Schema::Object(object) if about.is_some() => object.description = about,
        Schema::Array(array) if about.is_some() => array.description = about,
        _ => {}
    }
    schema
}

/// The lines of a doc comment as one text.
#[must_use]
pub fn prose(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The schema of a request, field by field.
#[must_use]
pub fn object(about: &[&str], fields: Vec<(&'static str, bool, Schema)>) -> Schema {
    let mut object = ObjectBuilder::new().schema_type(Type::Object);
    for (name, required, schema) in fields {
        object = object.property(name, RefOr::T(schema));
        if required {
            object = object.required(name);
        }
    }
    described(object.into(), about)
}

/// Whether a parameter must be there.
pub(super) const fn required(required: bool) -> Required {
    if required { Required::True } else { Required::False }
}
