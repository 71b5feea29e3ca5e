//! What is said of an event outside the bank: in webhooks, and in the stream of a person's own events.
//!
//! Ids, amounts, dates, states and codes, and nothing that anybody has written: no name, address, narration, reference or
//! reason. What may leave is named here, member by member; a member that is not named stays inside, so that a new one
//! must be thought about. Nothing sealed leaves, whatever it is called.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use super::filter::{TESTED, event_types};
use crate::envelope::{Position, Recorded};

/// Members of events that may leave the bank, and those that hold them.
const MEMBERS: &[&str] = &[
    // Whose and which.
    "account",
    "account_number",
    "admin",
    "bank_code",
    "biller_id",
    "by",
    "closure_id",
    "collateral",
    "collateral_id",
    "current_owner",
    "destination",
    "dispute_id",
    "document",
    "guarantor",
    "holder",
    "id",
    "invitation",
    "item_id",
    "linked_account",
    "loan_id",
    "mandate",
    "new_owner",
    "owner",
    "participant",
    "payer",
    "product_id",
    "refunded_by",
    "request_id",
    "source",
    "transaction_id",
    "transfer_account",
    "transfer_id",
    "undoes",
    "user",
    "verification_id",
    // How much.
    "amount",
    "contribution_amount",
    "currency",
    "daily",
    "daily_limit",
    "fee",
    "goal",
    "initial_deposit",
    "insurance",
    "interest",
    "max_amount",
    "maximum_balance",
    "min_amount",
    "minimum_balance",
    "minimum_deposit",
    "monthly",
    "monthly_limit",
    "monthly_payment",
    "overdraft_limit",
    "owed",
    "principal",
    "principal_left",
    "seats",
    "tenure",
    "total_amount",
    "total_interest",
    // When.
    "again_at",
    "at",
    "day",
    "days",
    "due",
    "effective_at",
    "ends_at",
    "expires_at",
    "first",
    "frequency",
    "from",
    "last",
    "matures_at",
    "maturity_date",
    "next",
    "next_collection",
    "next_due",
    "silent_since",
    "since",
    "skipped",
    "starts_at",
    "to",
    "until",
    // What.
    "account_type",
    "address_type",
    "approve",
    "brand",
    "card_type",
    "code",
    "collateral_type",
    "collected",
    "contribution_frequency",
    "document_type",
    "form",
    "interest_rate",
    "is_active",
    "is_default",
    "is_final",
    "is_primary",
    "kind",
    "loan_type",
    "mandate_type",
    "number",
    "outcome",
    "payment_type",
    "purpose",
    "role",
    "side",
    "status",
    "withdrawal_policy",
    // What holds them.
    "biller",
    "calendar",
    "contributions",
    "cost",
    "external",
    "internal",
    "item",
    "limits",
    "loan",
    "outside",
    "payee",
    "plan",
    "refund",
    "rows",
    "rules",
    "settings",
    "shares",
    "swept",
    "target",
    "terms",
];

/// What is said of an event: the body of a webhook (Standard Webhooks), and the data of a server-sent event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Published {
    /// The name of the event.
    #[serde(rename = "type")]
    pub event_type: &'static str,
    /// When it was recorded.
    pub timestamp: Timestamp,
    /// The rest.
    pub data: PublishedData,
}

/// What is said of an event besides its name.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PublishedData {
    /// Its place in the log.
    pub position: Position,
    /// The noun it happened to.
    pub resource: &'static str,
    /// Which one; for what is kept a list a person, the person.
    pub id: String,
    /// What may be known of it.
    pub attributes: Map<String, Value>,
}

/// What is said of an event outside the bank; none when it is not told at all.
#[must_use]
pub fn published(recorded: &Recorded) -> Option<Published> {
    let event_type = recorded.event.name();
    if event_type != TESTED && !event_types().any(|name| name == event_type) {
        return None;
    }
    // An event is a word, or an object with one member: what happened, and how.
    let attributes = match serde_json::from_str(&recorded.event.write().ok()?).ok()? {
        Value::Object(event) => event.into_iter().find_map(|(_, how)| match how {
            Value::Object(how) => Some(members(how)),
            _ => None,
        }),
        _ => None,
    };
    Some(Published {
        event_type,
        timestamp: recorded.recorded_at,
        data: PublishedData {
            position: recorded.position,
            resource: recorded.stream.kind.as_str(),
            id: recorded.stream.id.to_string(),
            attributes: attributes.unwrap_or_default(),
        },
    })
}

/// Those members that may leave, spelled as in the rest of the interface.
fn members(object: Map<String, Value>) -> Map<String, Value> {
    let told = object.into_iter().filter(|(name, _)| MEMBERS.contains(&name.as_str()));
    told.filter_map(|(name, value)| Some((camel_case(&name), told_value(value)?))).collect()
}

/// The part of a value that may leave; none when nothing is left of it.
fn told_value(value: Value) -> Option<Value> {
    match value {
        Value::Object(object) if is_personal(&object) => None,
        Value::Object(object) => Some(members(object)).filter(|left| !left.is_empty()).map(Value::Object),
        Value::Array(values) => Some(Value::Array(values.into_iter().filter_map(told_value).collect())),
        Value::Null => None,
        // A code, an id, a date: whatever is longer or has a space in it is somebody's words after all.
        Value::String(text) => (text.len() <= 64 && !text.contains(' ')).then_some(Value::String(text)),
        Value::Bool(_) | Value::Number(_) => Some(value),
    }
}

/// Whether it is a [`Personal`](crate::Personal), sealed or not.
fn is_personal(object: &Map<String, Value>) -> bool {
    ["personal", "sealed", "erased"].iter().any(|form| object.contains_key(*form))
}

fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let mut camel = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    camel
}
