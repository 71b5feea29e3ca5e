//! Which sessions are over: what ends a token before its time.
//!
//! A flag says only that what was read may be so no longer. Whoever holds a token whose flag is set reads again.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use bursar_commands::journal::Observer;
use bursar_domain::kernel::{SessionId, UserId};
use bursar_domain::sessions::SessionEvent;
use bursar_domain::{Event, Recorded};

/// Set when the session ends, or anything happens to its user; shared by everything that was verified for it.
pub type Ended = Arc<AtomicBool>;

/// The sessions somebody is using, each with its flag. Fed by the journal, whichever process ended them.
#[derive(Debug, Default)]
pub struct Sessions {
    flags: Mutex<Flags>,
}

#[derive(Debug, Default)]
struct Flags {
    by_session: HashMap<SessionId, Weak<AtomicBool>>,
    /// The sessions above of each user.
    by_user: HashMap<UserId, HashSet<SessionId>>,
    /// Length at which flags nobody holds any more are thrown out.
    sweep_at: usize,
}

impl Sessions {
    /// The flag of a session of `user`'s, which from now on is set when something happens to either.
    ///
    /// Ask for it *before* reading the two from the log: whatever ends the session is then seen by the reader or by the
    /// flag, and nothing falls in between.
    pub fn watch(&self, session: SessionId, user: UserId) -> Ended {
        let mut flags = self.lock();
        if let Some(flag) = flags.by_session.get(&session).and_then(Weak::upgrade) {
            return flag;
        }
        if flags.by_session.len() >= flags.sweep_at {
            let Flags { by_session, by_user, .. } = &mut *flags;
            by_session.retain(|_, flag| flag.strong_count() > 0);
            by_user.retain(|_, sessions| {
                sessions.retain(|session| by_session.contains_key(session));
                !sessions.is_empty()
            });
            flags.sweep_at = (2 * flags.by_session.len()).max(1024);
        }
        let flag = Ended::default();
        flags.by_session.insert(session, Arc::downgrade(&flag));
        flags.by_user.entry(user).or_default().insert(session);
        flag
    }

    fn session_changed(&self, session: SessionId) {
        self.lock().set(session);
    }

    fn user_changed(&self, user: UserId) {
        let mut flags = self.lock();
        for session in flags.by_user.remove(&user).unwrap_or_default() {
            flags.set(session);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Flags> {
        self.flags.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Flags {
    fn set(&mut self, session: SessionId) {
        if let Some(flag) = self.by_session.remove(&session).and_then(|flag| flag.upgrade()) {
            flag.store(true, Ordering::Release);
        }
    }
}

impl Observer for Sessions {
    fn recorded(&self, events: &[Recorded]) {
        for recorded in events {
            let id = &recorded.stream.id;
            match &recorded.event {
                Event::Session(SessionEvent::Ended { .. }) => {
                    id.parse().into_iter().for_each(|session| self.session_changed(session));
                }
                // Seldom enough: whatever it is, their tokens are looked at again.
                Event::User(_) => id.parse().into_iter().for_each(|user| self.user_changed(user)),
                _ => {}
            }
        }
    }
}
