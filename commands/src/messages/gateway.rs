//! Messages by an HTTP gateway: the way every provider of short messages and of push notifications can be reached.

use std::time::Duration;

use bursar_domain::messages::Channel;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use serde_json::Value;

use super::{Message, Messenger, NotSent};

/// How long a gateway may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why there is no gateway. Never quotes a secret.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// The template.
    #[error(
        "a gateway's body must be JSON, with {{to}}, {{body}}, {{subject}} and {{id}} in its strings: {0}"
    )]
    Template(serde_json::Error),
    /// The Authorization header.
    #[error("a gateway's authorization must be printable ASCII")]
    Authorization,
    /// The client.
    #[error("the HTTP client: {0}")]
    Client(reqwest::Error),
}

/// The body of a gateway's request: JSON, in whose strings `{to}`, `{body}`, `{subject}` and `{id}` are filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct Template(Value);

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// [`GatewayError::Template`].
    pub fn parse(text: &str) -> Result<Self, GatewayError> {
        serde_json::from_str(text).map(Self).map_err(GatewayError::Template)
    }

    fn fill(&self, message: &Message) -> Value {
        let mut body = self.0.clone();
        fill(&mut body, message);
        body
    }
}

/// Fills strings after parsing, so that nothing in a message can become JSON of its own.
fn fill(value: &mut Value, message: &Message) {
    match value {
        Value::String(text) => *text = filled(text, message),
        Value::Array(values) => values.iter_mut().for_each(|value| fill(value, message)),
        Value::Object(members) => members.values_mut().for_each(|value| fill(value, message)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// One pass from left to right: what is filled in is not looked at again.
fn filled(template: &str, message: &Message) -> String {
    let places = [
        ("{to}", &message.to),
        ("{body}", &message.body),
        ("{subject}", &message.subject),
        ("{id}", &message.id),
    ];
    let (mut text, mut rest) = (String::new(), template);
    while let Some(start) = rest.find('{') {
        let (before, at) = rest.split_at(start);
        text.push_str(before);
        let (taken, value) = places
            .iter()
            .find(|(place, _)| at.starts_with(place))
            .map_or((1, "{"), |(place, value)| (place.len(), value.as_str()));
        text.push_str(value);
        rest = &at[taken..];
    }
    text.push_str(rest);
    text
}

/// Posts messages to a provider.
pub struct Gateway {
    client: reqwest::Client,
    url: String,
    template: Template,
    channel: Channel,
}

impl Gateway {
    /// A gateway at `url` for messages by `channel`. `authorization` is the value of that header.
    ///
    /// # Errors
    /// [`GatewayError`].
    pub fn new(
        channel: Channel,
        url: String,
        authorization: Option<&str>,
        template: Template,
    ) -> Result<Self, GatewayError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(text) = authorization {
            let mut value = HeaderValue::from_str(text).map_err(|_| GatewayError::Authorization)?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let client = reqwest::Client::builder()
            .default_headers(headers)
            .timeout(PATIENCE)
            // The secret is for this address and no other.
            .redirect(Policy::none())
            .build()
            .map_err(GatewayError::Client)?;
        Ok(Self { client, url, template, channel })
    }

    async fn post(&self, message: Message) -> Result<(), NotSent> {
        let request = self.client.post(&self.url).header("Idempotency-Key", &message.id);
        match request.body(self.template.fill(&message).to_string()).send().await {
            Ok(answer) if answer.status().is_success() => Ok(()),
            Ok(answer) => {
                tracing::warn!(
                    message = message.id,
                    status = answer.status().as_u16(),
                    "the gateway did not take it"
                );
                Err(NotSent)
            }
            Err(error) => {
                let error = error.without_url();
                tracing::warn!(message = message.id, %error, "the gateway cannot be reached");
                Err(NotSent)
            }
        }
    }
}

impl Messenger for Gateway {
    fn carries(&self, channel: Channel) -> bool {
        channel == self.channel
    }

    fn send(&self, message: Message) -> BoxFuture<'_, Result<(), NotSent>> {
        self.post(message).boxed()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message(body: &str) -> Message {
        Message {
            id: "m:1".into(),
            channel: Channel::Sms,
            to: "+2348031000101".into(),
            subject: "Code".into(),
            body: body.into(),
            data: Value::Null,
        }
    }

    #[test]
    fn a_message_stays_inside_its_string() {
        let template = Template::parse(r#"{"to":["{to}"],"text":"{subject}: {body} {x}","n":1}"#).unwrap();
        let hostile = r#"1"},"to":"+1 {to} {id}"#;
        assert_eq!(
            template.fill(&message(hostile)),
            json!({"to": ["+2348031000101"], "text": format!("Code: {hostile} {{x}}"), "n": 1})
        );
        assert!(Template::parse("{to}").is_err());
    }
}
