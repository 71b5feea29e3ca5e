//! Mail by SMTP.

use bursar_domain::messages::Channel;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use lettre::message::Mailbox;
use lettre::message::header::ContentType;
use lettre::{AsyncSmtpTransport, AsyncTransport as _, Tokio1Executor};

use super::{Message, Messenger, NotSent};

/// Why there is no mailer. Never quotes the address, which holds a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MailerError {
    /// The address of the mail server.
    #[error("messages.smtp_url must be smtps://user:password@host:465 or smtp://...?tls=required")]
    Url,
    /// The sender.
    #[error("messages.from must be an address, such as Bursar <no-reply@example.com>")]
    From,
}

/// Hands mail to an SMTP server.
pub struct Mailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
}

impl Mailer {
    /// A mailer that sends by the server at `url` in the name of `from`.
    ///
    /// # Errors
    /// [`MailerError`].
    pub fn new(url: &str, from: &str) -> Result<Self, MailerError> {
        let transport =
            AsyncSmtpTransport::<Tokio1Executor>::from_url(url).map_err(|_| MailerError::Url)?.build();
        Ok(Self { transport, from: from.parse().map_err(|_| MailerError::From)? })
    }

    async fn mail(&self, message: Message) -> Result<(), NotSent> {
        let domain = self.from.email.domain();
        // A mail server drops a second mail of the same id.
        let mail = lettre::Message::builder()
            .message_id(Some(format!("<{}@{domain}>", message.id.replace(':', "."))))
            .from(self.from.clone())
            .to(message.to.parse().map_err(|_| NotSent)?)
            .subject(message.subject)
            .header(ContentType::TEXT_PLAIN)
            .body(message.body)
            .map_err(|_| NotSent)?;
        match self.transport.send(mail).await {
            Ok(_) => Ok(()),
            Err(error) => {
                // Says what the server answered; a server that quotes the mail back quotes its headers.
                tracing::warn!(message = message.id, status = ?error.status(), "mail was not taken");
                Err(NotSent)
            }
        }
    }
}

impl Messenger for Mailer {
    fn carries(&self, channel: Channel) -> bool {
        channel == Channel::Email
    }

    fn send(&self, message: Message) -> BoxFuture<'_, Result<(), NotSent>> {
        self.mail(message).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The pool of connections has a task of its own.
    #[tokio::test]
    async fn what_is_no_mail_server_is_refused_without_being_quoted() {
        let wrong = |url: &str, from: &str| Mailer::new(url, from).err();
        assert_eq!(wrong("https://ada:secret@mail.example.com", "a@example.com"), Some(MailerError::Url));
        assert_eq!(wrong("smtps://ada:secret@mail.example.com", "nobody"), Some(MailerError::From));
        assert!(!MailerError::Url.to_string().contains("secret"));
        assert_eq!(wrong("smtps://ada:secret@mail.example.com:465", "Bank <a@example.com>"), None);
    }
}
