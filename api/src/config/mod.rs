//! Configuration: one typed struct, every default documented, unknown keys refused.
//!
//! Read in this order, later ones win: defaults, `bursar.toml`, environment (`BURSAR_SECTION_FIELD`), flags.

mod load;
mod secret;
#[cfg(test)]
mod tests;

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use bursar_domain::Currency;
use serde::{Deserialize, Serialize};

pub use load::{ConfigError, Loader, reference};
pub use secret::Secret;

/// Declares a section: the struct, its defaults, and the doc lines that `bursar config` prints.
macro_rules! section {
    ($(#[doc = $about:literal])* $name:ident {
        $($(#[doc = $doc:literal])* $field:ident: $type:ty = $default:expr,)*
    }) => {
        $(#[doc = $about])*
        #[derive(Clone, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct $name {$(
            $(#[doc = $doc])*
            pub $field: $type,
        )*}

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl $name {
            /// Field and what it is for, in order.
            pub(super) const DOCS: &'static [(&'static str, &'static str)] =
                &[$((stringify!($field), concat!($($doc),*)),)*];
        }
    };
}

section! {
    /// Where the server listens and how long it waits.
    Server {
        /// Address and port to listen on.
        listen: SocketAddr = SocketAddr::from(([127, 0, 0, 1], 8080)),
        /// Seconds that a connection gets to send the headers of its first request, and of each further one: also how long it
        /// may be idle. More than the 60 that load balancers usually keep a connection; more yet behind one that keeps it longer.
        header_seconds: u64 = 75,
        /// Seconds until a request is answered 503. A write that was queued is carried out all the same.
        request_seconds: u64 = 30,
        /// Seconds that open requests get to finish when the server stops.
        shutdown_seconds: u64 = 20,
        /// Bytes a JSON body may have.
        body_bytes: usize = 1024 * 1024,
        /// Bytes a JSON body with a file in it may have; the file itself, decoded, at most 5 MiB.
        file_body_bytes: usize = 10 * 1024 * 1024,
        /// Addresses of proxies whose X-Forwarded-For is believed.
        trusted_proxies: Vec<IpAddr> = Vec::new(),
        /// Whether writes that move money are refused without an Idempotency-Key.
        require_idempotency_key: bool = false,
    }
}

section! {
    /// Which bank this is.
    BankSection {
        /// Its code, by which other banks route payments to it.
        code: String = "999999".to_owned(),
        /// Its name.
        name: String = "Bursar Demo Bank".to_owned(),
        /// Its country (ISO 3166-1 alpha-2): payments inside it are instant.
        country: String = "NG".to_owned(),
        /// The channels by which its customers send money.
        channels: Vec<String> = vec!["MOBILE_APP".to_owned(), "WEB".to_owned()],
        /// The name that the banks have agreed on for their clearing system, as exported payments say it.
        clearing_system: Option<String> = None,
    }
}

section! {
    /// The Postgres that holds the bank.
    Database {
        /// Address of the server (DATABASE_URL works too); none for a private Postgres under data_dir.
        url: Option<Secret> = None,
        /// Connections for reading; the journal has one more for writing.
        connections: u32 = 16,
        /// Seconds to wait for a connection before answering 503.
        acquire_seconds: u64 = 5,
    }
}

section! {
    /// Tokens and sessions.
    Auth {
        /// Seconds an access token is good.
        access_seconds: i64 = 900,
        /// Seconds a refresh token is good.
        refresh_seconds: i64 = 24 * 60 * 60,
        /// Seconds a refresh token is good after a login with rememberMe.
        remembered_seconds: i64 = 30 * 24 * 60 * 60,
        /// Seconds after which a session ends, however often it is refreshed.
        absolute_seconds: i64 = 90 * 24 * 60 * 60,
        /// The iss claim of access tokens.
        issuer: String = "bursar".to_owned(),
        /// The aud claim of access tokens.
        audience: String = "bursar".to_owned(),
        /// Whether login, refresh, reset and registration need the client token in the Authorization header.
        require_client_token: bool = false,
        /// The token that client applications send there.
        client_token: Option<Secret> = None,
        /// Seconds in which a login that needs a second factor can be finished.
        mfa_seconds: i64 = 300,
        /// Whether a login from a device on which no second factor was ever given asks for one, by short message.
        mfa_on_new_device: bool = false,
        /// The address of the certificate login as devices see it: the aud claim of their assertions.
        certificate_login_url: String = "http://127.0.0.1:8080/v1/users/certificate/login".to_owned(),
        /// Verified access tokens remembered, so that a signature is checked once.
        remembered_tokens: usize = 100_000,
    }
}

section! {
    /// How often one caller may ask.
    Limits {
        /// Whether there are limits at all.
        enabled: bool = true,
        /// Reads a minute and caller.
        reads_per_minute: u32 = 1200,
        /// Writes a minute and caller.
        writes_per_minute: u32 = 300,
        /// Logins and refreshes a minute, address and user name.
        logins_per_minute: u32 = 5,
        /// Files a minute and caller.
        uploads_per_minute: u32 = 10,
        /// Look-ups of other people's accounts a minute and caller.
        lookups_per_minute: u32 = 5,
        /// Streams of events that a server has open at once.
        streams: usize = 1_000,
        /// Streams of events of one caller, on each server.
        streams_per_caller: usize = 5,
        /// Logins and refreshes a minute and address, whatever the user name.
        logins_per_address_per_minute: u32 = 60,
    }
}

section! {
    /// The write side.
    JournalSection {
        /// Units of work that may wait; one more is answered 503.
        queue: usize = 4096,
        /// Units of work written at once.
        batch: usize = 400,
        /// Seconds the store may stay away before callers are told so.
        store_patience_seconds: u64 = 10,
        /// Full UTC days an idempotency key is kept after its own day; after that it is a new key.
        keep_keys_days: u16 = 2,
    }
}

section! {
    /// The read side.
    Projections {
        /// Milliseconds a read waits for the caller's own last write before it is answered 503.
        wait_millis: u64 = 2000,
        /// Events a read model may be behind before /readyz says so.
        most_lag: i64 = 10_000,
    }
}

/// Mobile money in the countries whose banks ship with this one, and around them.
const WALLET_PROVIDERS: [&str; 20] = [
    "AIRTEL",
    "AIRTEL_MONEY",
    "AIRTELTIGO_MONEY",
    "CHIPPER",
    "ECOCASH",
    "KUDA",
    "MOMO_PSB",
    "MPESA",
    "MTN",
    "MTN_MOMO",
    "OPAY",
    "ORANGE_MONEY",
    "PAGA",
    "PALMPAY",
    "SMARTCASH",
    "TIGO_PESA",
    "TKASH",
    "VODAFONE_CASH",
    "WAVE",
    "9PSB",
];

section! {
    /// The ways money leaves the bank and comes into it.
    Rails {
        /// Seconds until the sandbox rail settles a payment.
        sandbox_delay_seconds: u32 = 60,
        /// The codes of the wallet providers that the bank works with: each has a settlement account of its own.
        wallet_providers: Vec<String> = WALLET_PROVIDERS.map(str::to_owned).to_vec(),
    }
}

section! {
    /// Cards of other banks that customers bring money from, and the bank's own. A card keeps what was set when it was linked
    /// or asked for.
    CardsSection {
        /// The currency they are charged in, ISO 4217.
        currency: Currency = Currency::NGN,
        /// What may be taken from one a UTC day, minor units.
        daily_limit: i64 = 20_000_000,
        /// What may be taken from one a UTC month, minor units.
        monthly_limit: i64 = 200_000_000,
        /// Cards that a customer links a UTC day, those included that are removed again.
        links_a_day: u32 = 3,
        /// Issuer identification numbers of the bank's own cards, six digits each, the usual one first; they say which
        /// brands there are. The default is for the sandbox.
        issued: Vec<String> = vec!["506198".to_owned()],
        /// Months that one of the bank's own cards is good, besides the month it is asked for in.
        validity_months: u16 = 36,
        /// Days that one is on its way.
        delivery_days: u16 = 7,
    }
}

section! {
    /// Customers' devices and their certificates.
    DevicesSection {
        /// Days a certificate is good when nobody says how long; never more than 397.
        certificate_days: u16 = 365,
        /// Seconds an old certificate is good beside the one that takes its place.
        rotation_seconds: u32 = 24 * 60 * 60,
        /// Zones of the domain name system whose names devices may have certified; none to certify no names.
        dns_zones: Vec<String> = Vec::new(),
        /// Seconds a revocation list is good.
        revocation_list_seconds: u32 = 24 * 60 * 60,
        /// Seconds in which a device that is offered to somebody can be accepted.
        transfer_seconds: u32 = 72 * 60 * 60,
        /// Seconds after a login in which a device can be given away without the password.
        fresh_login_seconds: u32 = 5 * 60,
    }
}

section! {
    /// Codes and tokens that prove somebody has a phone or a mailbox.
    Codes {
        /// Seconds a code counts.
        seconds: u32 = 10 * 60,
        /// Guesses a code takes.
        tries: u32 = 5,
        /// Seconds before a code is sent again.
        resend_seconds: u32 = 60,
        /// Codes for one purpose that are sent to a person in a UTC day.
        a_day: u32 = 5,
        /// Seconds a password reset token counts.
        reset_seconds: u32 = 30 * 60,
    }
}

section! {
    /// Accounts of customers.
    AccountsSection {
        /// Days without a movement, interest aside, after which no money leaves an account until staff say so; 0 for never.
        dormant_after_days: u32 = 365,
    }
}

section! {
    /// Who can become a customer.
    UsersSection {
        /// Years somebody must be old.
        minimum_age: i16 = 16,
    }
}

section! {
    /// How messages leave the bank; without a way, a message is only kept for the app. A sandbox sends none.
    MessagesSection {
        /// The mail server, smtps://user:password@host:465; none to send no mail.
        smtp_url: Option<Secret> = None,
        /// The sender of mail, such as Bursar <no-reply@example.com>.
        from: String = "Bursar <no-reply@localhost>".to_owned(),
        /// Where short messages are posted; none to send none.
        sms_url: Option<String> = None,
        /// The Authorization header of the gateway for short messages.
        sms_authorization: Option<Secret> = None,
        /// The JSON that is posted, with {to}, {body}, {subject} and {id} in its strings.
        sms_body: String = r#"{"id":"{id}","to":"{to}","text":"{body}"}"#.to_owned(),
        /// Where notifications are posted; none to send none.
        push_url: Option<String> = None,
        /// The Authorization header of the gateway for notifications.
        push_authorization: Option<Secret> = None,
        /// The JSON that is posted, with {to} (the user id), {body}, {subject} and {id} in its strings.
        push_body: String = r#"{"id":"{id}","user":"{to}","title":"{subject}","text":"{body}"}"#.to_owned(),
        /// Where the app takes the token of a password reset, such as https://app.example.com/reset; none to mail the token.
        reset_link: Option<String> = None,
        /// Where the app takes the code of a mailbox, such as https://app.example.com/email; none to mail the code alone.
        email_link: Option<String> = None,
    }
}

section! {
    /// Files that customers hand in. They are encrypted before they get here.
    FilesSection {
        /// The directory they are kept in; none for files in data_dir. Passed over where there is a bucket.
        directory: Option<PathBuf> = None,
        /// The bucket of an S3-compatible store they are kept in; none for a directory. Several servers need one, or a
        /// directory that they share.
        bucket: Option<String> = None,
        /// The bucket's region.
        region: String = "us-east-1".to_owned(),
        /// Address of the store, such as https://minio.example.com; none for Amazon's.
        endpoint: Option<String> = None,
        /// Key id for the store; none to take what the machine has (environment, instance role).
        access_key_id: Option<String> = None,
        /// The secret that goes with it.
        secret_access_key: Option<Secret> = None,
        /// The most pixels of a picture.
        most_pixels: u32 = 25_000_000,
        /// Pictures decoded at once: each takes up to 16 bytes a pixel.
        pictures_at_once: usize = 2,
    }
}

section! {
    /// The proof of the log: what was written is sealed in a tree, and each of its roots is signed. And the monitor, which stops
    /// the writing when the ledger is wrong.
    Audit {
        /// The name of the log, which its checkpoints bear: an address of the bank's without a scheme.
        origin: String = "localhost/bursar".to_owned(),
        /// Milliseconds between two checkpoints while the log grows; 0 to leave sealing to other servers.
        seal_millis: u64 = 1000,
        /// Milliseconds between two looks at what was written; 0 to leave it to other servers.
        monitor_millis: u64 = 1000,
        /// The file that checkpoints are appended to; none for checkpoints.txt in data_dir. It belongs on another disk.
        checkpoint_file: Option<PathBuf> = None,
        /// An address that checkpoints are posted to, as text; none to post none.
        checkpoint_url: Option<String> = None,
    }
}

section! {
    /// Who outside the bank is told what happens in it.
    WebhooksSection {
        /// Whether this server tells them; false leaves it to others.
        deliver: bool = true,
        /// Whether machines of private networks, this one among them, may be told. For tests.
        private_addresses: bool = false,
        /// Days that is remembered what was delivered.
        keep_days: u32 = 30,
    }
}

section! {
    /// Logs, traces and metrics.
    Telemetry {
        /// What is logged: error, warn, info, debug, trace, or a filter such as info,sqlx=warn.
        log: String = "info,sqlx=warn".to_owned(),
        /// Whether log lines are JSON.
        json: bool = false,
        /// Address of an OTLP/HTTP collector such as http://localhost:4318/v1/traces; none to send no traces.
        otlp_endpoint: Option<String> = None,
    }
}

/// Everything that can be set.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs, reason = "each section says what it is")]
pub struct Config {
    /// Where the embedded Postgres and the master key live.
    pub data_dir: PathBuf,
    /// 32 bytes in base64url that every other key is wrapped by; none to keep them in a file in `data_dir`.
    pub master_key: Option<Secret>,
    /// Test bank: messages are shown instead of sent, and the clock can be moved. Never for real money.
    pub sandbox: bool,
    pub bank: BankSection,
    pub accounts: AccountsSection,
    pub server: Server,
    pub database: Database,
    pub auth: Auth,
    pub limits: Limits,
    pub journal: JournalSection,
    pub projections: Projections,
    pub audit: Audit,
    pub rails: Rails,
    pub cards: CardsSection,
    pub devices: DevicesSection,
    pub codes: Codes,
    pub messages: MessagesSection,
    pub users: UsersSection,
    pub files: FilesSection,
    pub webhooks: WebhooksSection,
    pub telemetry: Telemetry,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            data_dir: PathBuf::from("./bursar-data"),
            master_key: None,
            sandbox: false,
            bank: BankSection::default(),
            accounts: AccountsSection::default(),
            server: Server::default(),
            database: Database::default(),
            auth: Auth::default(),
            limits: Limits::default(),
            journal: JournalSection::default(),
            projections: Projections::default(),
            audit: Audit::default(),
            rails: Rails::default(),
            cards: CardsSection::default(),
            devices: DevicesSection::default(),
            codes: Codes::default(),
            messages: MessagesSection::default(),
            users: UsersSection::default(),
            files: FilesSection::default(),
            webhooks: WebhooksSection::default(),
            telemetry: Telemetry::default(),
        }
    }
}

impl Config {
    /// Name of the section (empty for the top), and its fields with their doc lines.
    const SECTIONS: &'static [(&'static str, &'static [(&'static str, &'static str)])] = &[
        (
            "",
            &[
                ("data_dir", " Where the embedded Postgres and the master key live."),
                (
                    "master_key",
                    " 32 bytes in base64url that every other key is wrapped by; none to keep them in data_dir/master.key.",
                ),
                ("sandbox", " Test bank: messages are shown instead of sent, the clock can be moved."),
            ],
        ),
        ("bank", BankSection::DOCS),
        ("accounts", AccountsSection::DOCS),
        ("server", Server::DOCS),
        ("database", Database::DOCS),
        ("auth", Auth::DOCS),
        ("limits", Limits::DOCS),
        ("journal", JournalSection::DOCS),
        ("projections", Projections::DOCS),
        ("audit", Audit::DOCS),
        ("rails", Rails::DOCS),
        ("cards", CardsSection::DOCS),
        ("devices", DevicesSection::DOCS),
        ("codes", Codes::DOCS),
        ("messages", MessagesSection::DOCS),
        ("users", UsersSection::DOCS),
        ("files", FilesSection::DOCS),
        ("webhooks", WebhooksSection::DOCS),
        ("telemetry", Telemetry::DOCS),
    ];
}
