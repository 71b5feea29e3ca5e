//! Who carries the bank's messages out of the house, and what it allows for codes: from configuration to ports.

use std::sync::Arc;

use bursar_commands::files::{Bucket, FileStore, Files, ObjectFiles, PictureLimits};
use bursar_commands::identity::{IdentityRegistry, SandboxRegistry};
use bursar_commands::messages::{Channel, Gateway, GatewayError, Mailer, Messenger, Template, Ways};
use bursar_commands::proof::Outside;
use bursar_commands::verifications::Policies;
use bursar_commands::webhooks::{DeliveryOptions, SystemLookup};
use bursar_domain::verifications::Policy;
use jiff::SignedDuration;

use crate::app::StartError;
use crate::config::{Codes, Config, DevicesSection, Secret};
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

/// Where customers' files are: the store, and the way there.
///
/// # Errors
/// [`StartError`], when the directory or the bucket cannot be used.
pub fn files(config: &Config) -> Result<(Arc<dyn FileStore>, Files), StartError> {
    let wanted = &config.files;
    let objects = match &wanted.bucket {
        Some(name) => ObjectFiles::bucket(Bucket {
            name: name.clone(),
            region: wanted.region.clone(),
            endpoint: wanted.endpoint.clone(),
            credentials: wanted
                .access_key_id
                .clone()
                .zip(wanted.secret_access_key.as_ref().map(|s| s.expose().to_owned())),
        })?,
        None => ObjectFiles::directory(
            &wanted.directory.clone().unwrap_or_else(|| config.data_dir.join("files")),
        )?,
    };
    let store: Arc<dyn FileStore> = Arc::new(objects);
    let limits = PictureLimits { most_pixels: wanted.most_pixels, at_once: wanted.pictures_at_once };
    let files = Files::new(Arc::clone(&store), limits);
    Ok((store, files))
}

/// Where checkpoints of the log go besides the database.
#[must_use]
pub fn checkpoints(config: &Config) -> Outside {
    let file = config.audit.checkpoint_file.clone();
    Outside {
        file: Some(file.unwrap_or_else(|| config.data_dir.join("checkpoints.txt"))),
        url: config.audit.checkpoint_url.clone(),
    }
}

/// How webhooks are told.
#[must_use]
pub fn webhooks(config: &Config) -> DeliveryOptions {
    DeliveryOptions {
        lookup: Arc::new(SystemLookup),
        private_addresses: config.webhooks.private_addresses,
        keep: SignedDuration::from_hours(24 * i64::from(config.webhooks.keep_days)),
    }
}

/// The register of a test bank. A bank of its own has none yet, and says so to whoever wants to be verified.
#[must_use]
pub fn registry(config: &Config) -> Option<Arc<dyn IdentityRegistry>> {
    config.sandbox.then(|| Arc::new(SandboxRegistry) as Arc<dyn IdentityRegistry>)
}

/// What the bank allows for codes and tokens.
#[must_use]
pub fn policies(codes: &Codes, devices: &DevicesSection) -> Policies {
    let code = Policy {
        lifetime: codes.seconds.into(),
        tries: codes.tries,
        resend_after: codes.resend_seconds.into(),
        a_day: codes.a_day,
    };
    Policies {
        code,
        token: Policy { lifetime: codes.reset_seconds.into(), ..code },
        offer: Policy { lifetime: devices.transfer_seconds.into(), ..code },
    }
}
