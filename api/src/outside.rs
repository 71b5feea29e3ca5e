//! Who carries the bank's messages out of the house, and what it allows for codes: from configuration to ports.

use std::sync::Arc;

use bursar_commands::messages::{Channel, Gateway, GatewayError, Mailer, Messenger, Template, Ways};
use bursar_commands::verifications::Policies;
use bursar_domain::verifications::Policy;

use crate::app::StartError;
use crate::config::{Codes, Config, Secret};
use crate::sandbox::Sandbox;

/// The sandbox's outbox, or whatever is configured for each way.
///
/// # Errors
/// [`StartError`], when what is configured cannot be used.
pub fn messenger(config: &Config, sandbox: Option<&Arc<Sandbox>>) -> Result<Arc<dyn Messenger>, StartError> {
    if let Some(sandbox) = sandbox {
        return Ok(Arc::clone(sandbox) as Arc<dyn Messenger>);
    }
    let ways = &config.messages;
    let email = ways.smtp_url.as_ref().map(|url| Mailer::new(url.expose(), &ways.from)).transpose()?;
    let sms = gateway(Channel::Sms, ways.sms_url.as_ref(), ways.sms_authorization.as_ref(), &ways.sms_body)?;
    let push =
        gateway(Channel::Push, ways.push_url.as_ref(), ways.push_authorization.as_ref(), &ways.push_body)?;
    let email = email.map(|mailer| Arc::new(mailer) as Arc<dyn Messenger>);
    Ok(Arc::new(Ways { email, sms, push }))
}

fn gateway(
    channel: Channel,
    url: Option<&String>,
    authorization: Option<&Secret>,
    body: &str,
) -> Result<Option<Arc<dyn Messenger>>, GatewayError> {
    let Some(url) = url else { return Ok(None) };
    let gateway =
        Gateway::new(channel, url.clone(), authorization.map(Secret::expose), Template::parse(body)?)?;
    Ok(Some(Arc::new(gateway)))
}

/// What the bank allows for codes and tokens.
#[must_use]
pub fn policies(codes: &Codes) -> Policies {
    let code = Policy {
        lifetime: codes.seconds.into(),
        tries: codes.tries,
        resend_after: codes.resend_seconds.into(),
        a_day: codes.a_day,
    };
    Policies { code, token: Policy { lifetime: codes.reset_seconds.into(), ..code } }
}
