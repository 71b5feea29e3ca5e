//! The operations about passwords and second factors, each with somebody of its own: they end sessions, and what they do
//! cannot be done twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bursar_commands::users::{self, StaffChange};
use bursar_commands::verifications::Wanted;
use bursar_commands::{Context, Unit};
use bursar_domain::Clock;
use bursar_domain::kernel::Permission::{ManageProfile, MfaVerify};
use bursar_domain::kernel::{EnrolmentId, Permission, SessionId, UserId};
use bursar_domain::messages::Channel;
use bursar_domain::mfa::MfaCommand;
use bursar_domain::sessions::{EndReason, SecondFactor, SessionCommand};
use bursar_domain::users::RegisterUser;
use bursar_domain::verifications::{Purpose, VerificationsCommand};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use reqwest::Method;
use serde_json::{Value, json};

use super::repeat;
use super::row::{Access, Names, Row, post};
use super::world::World;
use crate::support::client::{PASSWORD, Request};
use crate::support::devices::{self, Device};
use crate::support::totp::shown;
use crate::support::{Bank, Client, started};

/// Later than any step that a clock will come to.
const LAST_STEP: i64 = 1 << 40;

/// Everybody who has something to do with second factors.
pub struct Factors {
    /// Whoever has no login: is given permissions, and sets a first password.
    pub recruit: String,
    /// The token for that.
    pub token: String,
    /// A session each for showing an app's first code, its last one, and a code that was sent.
    confirming: Enrolled,
    removing: Enrolled,
    texting: Enrolled,
    /// A login that waits for a code, and one that waits for another code.
    waiting: Enrolled,
    resending: Enrolled,
    /// A device with a certificate, and how often it has logged in.
    device: Device,
    logins: AtomicUsize,
    clock: Arc<dyn Clock>,
}

/// Somebody with a session, and a code to show in it.
struct Enrolled {
    user: UserId,
    client: Client,
    app: EnrolmentId,
    code: String,
}

impl Factors {
    pub async fn new(bank: &Bank) -> Self {
        let recruit = registers(bank, "recruit").await;
        let mut factors = Self {
            token: String::new(),
            confirming: Enrolled::new(bank, "confirming").await,
            removing: Enrolled::new(bank, "removing").await,
            texting: Enrolled::new(bank, "texting").await,
            waiting: Enrolled::new(bank, "waiting").await,
            resending: Enrolled::new(bank, "resending").await,
            device: Device::of(recruit),
            logins: AtomicUsize::new(0),
            clock: Arc::clone(&bank.app.journal.sources().clock),
            recruit: recruit.to_string(),
        };
        factors.new_token(bank).await;
        ask_for_texts(bank).await;
        factors.confirming.enrol(bank, false).await;
        factors.removing.enrol(bank, true).await;
        factors.texting.text(bank).await;
        factors.waiting.wait(bank, true).await;
        factors.resending.wait(bank, false).await;
        factors
    }

    /// Whose session the operation is tried with.
    pub fn client(&self, row: &Row) -> Option<Client> {
        let whose = match (row.method.as_str(), row.path) {
            ("POST", "/v1/users/mfa/totp/confirm") => &self.confirming,
            ("DELETE", "/v1/users/mfa/totp") => &self.removing,
            ("POST", "/v1/users/mfa/sms/confirm") => &self.texting,
            ("POST", "/v1/users/mfa/verify") => &self.waiting,
            ("POST", "/v1/users/mfa/resend") => &self.resending,
            _ => return None,
        };
        Some(whose.client.clone())
    }

    /// A login with the device's certificate, and an assertion that was not used before.
    pub fn with_certificate(&self, client: &Client) -> Request {
        let body = self.device.body().to_string();
        let jti = format!("assertion {:06}", self.logins.fetch_add(1, Ordering::Relaxed));
        devices::login(client, &body, &self.device.assertion(&body, &jti, self.clock.now().as_second()))
            .header("X-Request-Id", "ratchet")
    }

    async fn new_token(&mut self, bank: &Bank) {
        let user: UserId = self.recruit.parse().unwrap();
        let wanted = Wanted {
            purpose: Purpose::PasswordReset,
            channel: Channel::Email,
            destination: "recruit@example.com".into(),
            bound_to: String::new(),
        };
        let id = issue(bank, user, wanted).await;
        self.token = bank.app.keys.reset_token(user, id).as_str().to_owned();
    }
}

pub(super) async fn issue(
    bank: &Bank,
    user: UserId,
    wanted: Wanted,
) -> bursar_domain::kernel::VerificationId {
    let command = bank.app.verifier.issue(wanted);
    let VerificationsCommand::Issue(new) = &command else { panic!() };
    let id = new.id;
    bank.app.journal.submit(Unit::new(Context::default()).step(user, command)).await.unwrap();
    id
}

impl Enrolled {
    async fn new(bank: &Bank, name: &str) -> Self {
        let user = registers(bank, name).await;
        let session = bank.session(user, &[ManageProfile]).await;
        let client = bank.client().with_token(&bank.token(user, session, &[ManageProfile], 0));
        Self { user, client, app: EnrolmentId::mint(bank.app.journal.sources()), code: String::new() }
    }

    /// An app has a new secret, and has shown that it has or not.
    async fn enrol(&mut self, bank: &Bank, confirmed: bool) {
        let (journal, user) = (&bank.app.journal, self.user);
        self.app = EnrolmentId::mint(journal.sources());
        let id = self.app;
        let commands = [MfaCommand::RemoveTotp { step: LAST_STEP }, MfaCommand::EnrolTotp { id }];
        for command in commands {
            // Unless there is none to remove.
            drop(journal.submit(Unit::new(Context::default()).step(user, command)).await);
        }
        if confirmed {
            let confirm = MfaCommand::ConfirmTotp { id, step: 1 };
            journal.submit(Unit::new(Context::default()).step(user, confirm)).await.unwrap();
        }
    }

    /// The code that the app shows now.
    fn shown(&self, bank: &Bank) -> String {
        shown(&bank.app.keys, self.user, self.app, bank.app.journal.sources().clock.now())
    }

    /// Codes by short message are not asked for, and one was sent.
    async fn text(&mut self, bank: &Bank) {
        let session = bank.session(self.user, &[ManageProfile]).await;
        self.client = bank.client().with_token(&bank.token(self.user, session, &[ManageProfile], 0));
        let off = Unit::new(Context::default()).step(self.user, MfaCommand::RemoveSms);
        // Unless they never were.
        drop(bank.app.journal.submit(off).await);
        self.send(bank, session).await;
    }

    /// A login waits for a code, which was sent or not.
    async fn wait(&mut self, bank: &Bank, sent: bool) {
        let mut waiting = started(bank, self.user, &[MfaVerify]).await;
        let (id, now) = (waiting.0, waiting.1.first.issued_at);
        let expires_at = now + jiff::SignedDuration::from_secs(300);
        waiting.1.awaits = Some(SecondFactor { expires_at, remember_me: false });
        let start = SessionCommand::Start(Box::new(waiting.1));
        bank.app.journal.submit(Unit::new(Context::default()).create(id, start)).await.unwrap();
        self.client = bank.client().with_token(&bank.token(self.user, id, &[MfaVerify], 0));
        if sent {
            self.send(bank, id).await;
        }
    }

    async fn send(&mut self, bank: &Bank, session: SessionId) {
        let wanted = Wanted {
            purpose: Purpose::SecondFactor,
            channel: Channel::Sms,
            destination: "+2348039999999".into(),
            bound_to: session.to_string(),
        };
        let id = issue(bank, self.user, wanted).await;
        self.code = bank.app.keys.code(self.user, id, 0).to_string();
    }
}

/// Somebody new, who has no password.
pub(super) async fn registers(bank: &Bank, name: &str) -> UserId {
    let person = RegisterUser {
        first_name: "Dayo".into(),
        last_name: "Recruit".into(),
        email: format!("{name}@example.com"),
        phone_number: "+2348039999999".into(),
        date_of_birth: jiff::civil::date(1990, 1, 1),
        country_code: "NG".into(),
        preferred_language: None,
    };
    let (journal, keys) = (&bank.app.journal, &bank.app.keys);
    let registered = users::register(journal, keys, Context::default(), person).await.unwrap();
    let id = registered.events[0].stream.id.parse().unwrap();
    users::activate(journal, Context::default(), id).await.unwrap();
    id
}

fn new_token(world: &mut World) -> BoxFuture<'_, ()> {
    async { world.factors.new_token(&world.bank).await }.boxed()
}

fn new_secret(world: &mut World) -> BoxFuture<'_, ()> {
    async { world.factors.confirming.enrol(&world.bank, false).await }.boxed()
}

fn new_app(world: &mut World) -> BoxFuture<'_, ()> {
    async { world.factors.removing.enrol(&world.bank, true).await }.boxed()
}

fn new_text(world: &mut World) -> BoxFuture<'_, ()> {
    async { world.factors.texting.text(&world.bank).await }.boxed()
}

fn new_login(world: &mut World) -> BoxFuture<'_, ()> {
    async { world.factors.waiting.wait(&world.bank, true).await }.boxed()
}

fn new_silent_login(world: &mut World) -> BoxFuture<'_, ()> {
    async { world.factors.resending.wait(&world.bank, false).await }.boxed()
}

/// Ends a session by hand.
pub async fn end(bank: &Bank, session: SessionId) {
    let end = SessionCommand::End { reason: EndReason::Revoked };
    bank.app.journal.submit(Unit::new(Context::default()).step(session, end)).await.unwrap();
}

/// The auditor is asked for codes by short message.
fn texted(world: &mut World) -> BoxFuture<'_, ()> {
    ask_for_texts(&world.bank).boxed()
}

async fn ask_for_texts(bank: &Bank) {
    let user = bank.user("auditor@example.com").await;
    let on = Unit::new(Context::default()).step(user, MfaCommand::EnrolSms);
    // Unless it is so already.
    drop(bank.app.journal.submit(on).await);
}

pub fn rows() -> Vec<Row> {
    let mine = Access::Needs(ManageProfile);
    let password = |_: &World, _: &str| json!({"password": PASSWORD});
    let own = |path, body: fn(&World, &str) -> Value| post(path, mine, Names::Nothing, body);
    vec![
        // A repeat brings a new assertion, and is another login.
        Row {
            replays: false,
            ..post(devices::LOGIN, Access::Public, Names::Nothing, |world, _| world.factors.device.body())
        },
        post(
            "/v1/users/password/reset",
            Access::Public,
            Names::Nothing,
            |_, _| json!({"email": "nobody@example.com", "username": "nobody@example.com"}),
        ),
        post(
            "/v1/users/password/confirm",
            Access::Public,
            Names::Nothing,
            |world, _| json!({"resetToken": world.factors.token, "newPassword": repeat::NEW_PASSWORD, "confirmPassword": repeat::NEW_PASSWORD}),
        )
        .after(new_token),
        own("/v1/users/mfa/totp", password),
        own("/v1/users/mfa/totp/confirm", |world, _| json!({"code": world.factors.confirming.shown(&world.bank)}))
            .after(new_secret),
        Row {
            method: Method::DELETE,
            ..own("/v1/users/mfa/totp", |world, _| json!({"code": world.factors.removing.shown(&world.bank)}))
        }
        .after(new_app),
        own("/v1/users/mfa/sms", password),
        own("/v1/users/mfa/sms/confirm", |world, _| json!({"code": world.factors.texting.code})).after(new_text),
        Row { method: Method::DELETE, ..own("/v1/users/mfa/sms", password) }.after(texted),
        post(
            "/v1/users/mfa/verify",
            Access::Needs(MfaVerify),
            Names::Nothing,
            |world, _| json!({"code": world.factors.waiting.code, "method": "SMS", "deviceId": "test-device"}),
        )
        .after(new_login),
        post("/v1/users/mfa/resend", Access::Needs(MfaVerify), Names::Nothing, |_, _| json!({"deviceId": "test-device"}))
            .after(new_silent_login),
    ]
}

/// The recruit is no staff.
pub fn no_permission(world: &mut World) -> BoxFuture<'_, ()> {
    let change = StaffChange { revoke: [Permission::KycVerify].into(), ..StaffChange::default() };
    let recruit = world.factors.recruit.parse().unwrap();
    async move {
        drop(
            users::change_staff(&world.bank.app.journal, Context::default(), recruit, change).await.unwrap(),
        );
    }
    .boxed()
}
