//! People, as they are known.

use bursar_domain::kernel::{AvatarId, UserId};
use bursar_domain::users::{PostalAddress, Preferences, ProfileUpdated, Registered, UserEvent, Waiting};
use bursar_domain::{Event, Kind, Personal, Position, Recorded};
use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgPool, Postgres, QueryBuilder};

use crate::page::{Page, Paged, beginning};
use crate::read_model::{FoldError, Mask, ReadModel, Table};
use crate::records::{self, Record, Records};
use crate::row::named;

/// A person. The field names are the table's columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the columns of read.users, documented there")]
pub struct UserRow {
    pub user_id: UserId,
    pub status: String,
    pub verification_level: String,
    pub first_name: String,
    pub last_name: String,
    pub email: String,
    pub email_verified: bool,
    pub phone_number: String,
    pub phone_verified: bool,
    pub date_of_birth: Option<Date>,
    pub country_code: String,
    pub language: Option<String>,
    pub timezone: Option<String>,
    pub notify_email: Option<bool>,
    pub notify_sms: Option<bool>,
    pub notify_push: Option<bool>,
    pub street: Option<String>,
    pub city: Option<String>,
    pub state: Option<String>,
    pub postal_code: Option<String>,
    pub country: Option<String>,
    pub waiting_first_name: Option<String>,
    pub waiting_last_name: Option<String>,
    pub waiting_email: Option<String>,
    pub waiting_phone_number: Option<String>,
    pub avatar_id: Option<AvatarId>,
    pub erasure_requested_by: Option<UserId>,
    pub erasure_requested_at: Option<Timestamp>,
    pub source_id: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub version: i64,
    pub last_position: Position,
}

impl UserRow {
    fn of(event: &Recorded, user_id: UserId, person: &Registered) -> Self {
        Self {
            user_id,
            status: "PENDING".to_owned(),
            verification_level: "NONE".to_owned(),
            first_name: shown(&person.first_name),
            last_name: shown(&person.last_name),
            email: shown(&person.email),
            email_verified: false,
            phone_number: shown(&person.phone_number),
            phone_verified: false,
            date_of_birth: person.date_of_birth.get().copied(),
            country_code: person.country_code.clone(),
            language: person.preferred_language.clone(),
            timezone: None,
            notify_email: None,
            notify_sms: None,
            notify_push: None,
            street: None,
            city: None,
            state: None,
            postal_code: None,
            country: None,
            waiting_first_name: None,
            waiting_last_name: None,
            waiting_email: None,
            waiting_phone_number: None,
            avatar_id: None,
            erasure_requested_by: None,
            erasure_requested_at: None,
            source_id: person.origin.as_ref().map(|origin| origin.id.to_string()),
            created_at: person.origin.as_ref().map_or(event.recorded_at, |origin| origin.at),
            updated_at: event.recorded_at,
            version: event.sequence,
            last_position: event.position,
        }
    }

    /// The bank knows who they are.
    fn known(&mut self) {
        "ACTIVE".clone_into(&mut self.status);
        "FULL".clone_into(&mut self.verification_level);
    }

    fn updated(&mut self, updated: &ProfileUpdated) {
        put(&mut self.first_name, updated.first_name.as_ref());
        put(&mut self.last_name, updated.last_name.as_ref());
        self.say(updated.address.as_ref(), updated.preferences.as_ref());
        let Waiting { first_name, last_name, email, phone_number } = &updated.waiting;
        for (column, value) in [
            (&mut self.waiting_first_name, first_name),
            (&mut self.waiting_last_name, last_name),
            (&mut self.waiting_email, email),
            (&mut self.waiting_phone_number, phone_number),
        ] {
            if let Some(value) = value {
                *column = Some(shown(value));
            }
        }
    }

    /// Nothing is left of them, whatever was known.
    fn erase(&mut self) {
        let erased = || Personal::<String>::Erased.or_erased().to_owned();
        "ERASED".clone_into(&mut self.status);
        "NONE".clone_into(&mut self.verification_level);
        (self.first_name, self.last_name) = (erased(), erased());
        (self.email, self.email_verified) = (erased(), false);
        (self.phone_number, self.phone_verified) = (erased(), false);
        self.date_of_birth = None;
        (self.street, self.city, self.state) = (Some(erased()), Some(erased()), Some(erased()));
        (self.postal_code, self.country) = (Some(erased()), Some(erased()));
        (self.waiting_first_name, self.waiting_last_name) = (None, None);
        (self.waiting_email, self.waiting_phone_number) = (None, None);
        self.avatar_id = None;
        (self.erasure_requested_by, self.erasure_requested_at) = (None, None);
    }

    fn say(&mut self, address: Option<&Personal<PostalAddress>>, preferences: Option<&Preferences>) {
        if let Some(address) = address {
            // Of an address that is erased nobody knows which parts it had.
            let erased = || Some(Personal::<String>::Erased.or_erased().to_owned());
            let part = |part: fn(&PostalAddress) -> &Option<String>| {
                address.get().map_or_else(erased, |a| part(a).clone())
            };
            self.street = part(|address| &address.street);
            self.city = part(|address| &address.city);
            self.state = part(|address| &address.state);
            self.postal_code = part(|address| &address.postal_code);
            self.country = part(|address| &address.country);
        }
        if let Some(preferences) = preferences {
            self.language.clone_from(&preferences.language);
            self.timezone.clone_from(&preferences.timezone);
            self.notify_email = preferences.notifications.email;
            self.notify_sms = preferences.notifications.sms;
            self.notify_push = preferences.notifications.push;
        }
    }
}

fn shown(text: &Personal<String>) -> String {
    text.or_erased().to_owned()
}

fn put(column: &mut String, value: Option<&Personal<String>>) {
    if let Some(value) = value {
        *column = shown(value);
    }
}

impl Record for UserRow {
    const TABLE: &'static Table = &Users::TABLES[0];
    const GROUP: &'static str = "user_id";
    type Key = UserId;
    type Group = UserId;

    fn key(&self) -> UserId {
        self.user_id
    }

    fn group(&self) -> UserId {
        self.user_id
    }
}

/// The person.
///
/// # Errors
/// When the database cannot be read.
pub async fn find(pool: &PgPool, id: UserId) -> sqlx::Result<Option<UserRow>> {
    records::find::<UserRow>(pool, &id).await
}

/// One page of the people that `q` may mean, newest first: a user id, the number of an account of theirs, or the beginning of
/// their email address, their phone number or each of their names. Everybody, when it is empty.
///
/// # Errors
/// When the database cannot be read.
pub async fn search(pool: &PgPool, q: &str, page: Page) -> sqlx::Result<Paged<UserRow>> {
    let q = q.trim().to_lowercase();
    let is_number = q.starts_with(|first: char| first == '+' || first.is_ascii_digit());
    let matching = |query: &mut QueryBuilder<'_, Postgres>| {
        if q.parse::<UserId>().is_ok() {
            query.push(" AND user_id = ").push_bind(q.clone());
        } else if q.contains('@') {
            query.push(" AND email LIKE ").push_bind(beginning(&q));
        } else if is_number {
            let compact: String = q.chars().filter(|c| !c.is_whitespace() && *c != '-').collect();
            query.push(" AND (phone_number LIKE ").push_bind(beginning(&compact));
            query.push(" OR user_id = (SELECT a.owner FROM accounts a WHERE a.account_number = ");
            query.push_bind(compact).push("))");
        } else {
            for word in q.split_whitespace() {
                query.push(" AND (lower(first_name) LIKE ").push_bind(beginning(word));
                query.push(" OR lower(last_name) LIKE ").push_bind(beginning(word)).push(")");
            }
        }
    };
    records::list_all(pool, matching, "created_at DESC", page).await
}

/// The read model behind [`find`].
#[derive(Debug, Default)]
pub struct Users {
    rows: Records<UserRow>,
}

impl Users {
    fn change(&mut self, event: &Recorded, id: UserId, change: impl Fn(&mut UserRow)) {
        let change = |row: &mut UserRow| {
            change(row);
            row.updated_at = event.recorded_at;
        };
        self.rows.change(&id, |_| true, change);
        self.count(event, id);
    }

    fn count(&mut self, event: &Recorded, id: UserId) {
        let count = |row: &mut UserRow| {
            row.version = event.sequence;
            row.last_position = event.position;
        };
        self.rows.change(&id, |_| true, count);
    }
}

impl ReadModel for Users {
    const NAME: &'static str = "users";
    const READS: &'static [Kind] = &[Kind::User];

    const ROW_SETS: &'static [Kind] = &[Kind::User];

    fn mask(&mut self, mask: &Mask) {
        self.rows.mask(mask);
    }
    const TABLES: &'static [Table] =
        &[Table { name: "users", key: &["user_id"], position: "last_position", append_only: false }];

    async fn load(&mut self, db: &mut PgConnection, events: &[Recorded]) -> sqlx::Result<()> {
        let users = events.iter().filter(|event| event.stream.kind == Kind::User);
        self.rows.load(db, users.filter_map(|event| named::<UserId>(event).ok())).await
    }

    fn fold(&mut self, event: &Recorded) -> Result<(), FoldError> {
        let Event::User(what) = &event.event else { return Ok(()) };
        let id: UserId = named(event)?;
        match what {
            UserEvent::Registered(person) => self.rows.insert(UserRow::of(event, id, person)),
            UserEvent::Activated => self.change(event, id, |row| {
                row.known();
                row.phone_verified = true;
            }),
            UserEvent::ProfileUpdated(updated) => self.change(event, id, |row| row.updated(updated)),
            UserEvent::IdentityVerified(verified) => self.change(event, id, |row| {
                row.known();
                row.phone_verified = true;
                (row.waiting_first_name, row.waiting_last_name) = (None, None);
                put(&mut row.first_name, verified.first_name.as_ref());
                put(&mut row.last_name, verified.last_name.as_ref());
            }),
            UserEvent::EmailVerified(verified) => self.change(event, id, |row| {
                row.email = shown(&verified.contact);
                row.email_verified = true;
                if verified.replaces.is_some() {
                    row.waiting_email = None;
                }
            }),
            UserEvent::PhoneVerified(verified) => self.change(event, id, |row| {
                row.phone_number = shown(&verified.contact);
                row.phone_verified = true;
                if verified.replaces.is_some() {
                    row.waiting_phone_number = None;
                }
            }),
            UserEvent::Onboarded(onboarded) => self.change(event, id, |row| {
                row.known();
                row.say(onboarded.address.as_ref(), onboarded.preferences.as_ref());
            }),
            UserEvent::AvatarSet(avatar) => self.change(event, id, |row| row.avatar_id = Some(avatar.id)),
            UserEvent::ErasureRequested { by, .. } => self.change(event, id, |row| {
                row.erasure_requested_by = Some(*by);
                row.erasure_requested_at = Some(event.recorded_at);
            }),
            UserEvent::Erased(_) => self.change(event, id, UserRow::erase),
            // Nothing that is shown; but `If-Match` is held against the version.
            UserEvent::IdentityLookedUp(_)
            | UserEvent::PasswordSet { .. }
            | UserEvent::PermissionsGranted { .. }
            | UserEvent::PermissionsRevoked { .. }
            | UserEvent::SessionsEnded(_) => self.count(event, id),
        }
        Ok(())
    }

    fn pending(&self) -> usize {
        self.rows.pending()
    }

    async fn save(&mut self, db: &mut PgConnection) -> sqlx::Result<()> {
        self.rows.save(db).await
    }
}
