//! Which sessions are over: what ends a token before its time.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use bursar_commands::journal::Observer;
use bursar_domain::kernel::{SessionId, UserId};
use bursar_domain::sessions::SessionEvent;
use bursar_domain::{Event, Recorded};

/// Set when the session ends; shared by everything that was verified for it.
pub type Ended = Arc<AtomicBool>;

/// The sessions somebody is using, each with its flag. Fed by the journal, whichever process ended them.
#[derive(Debug, Default)]
pub struct Sessions {
    flags: Mutex<Flags>,
}

#[derive(Debug, Default)]
struct Flags {
    by_session: HashMap<SessionId, (UserId, Weak<AtomicBool>)>,
    /// Length at which flags nobody holds any more are thrown out.
    sweep_at: usize,
}

impl Sessions {
    /// The flag of a session of `user`'s, which from now on is set when the session ends, or all of theirs do.
    ///
    /// Ask for it *before* reading the session from the log: whatever ends it is then seen by the reader or by the
    /// flag, and nothing falls in between.
    pub fn watch(&self, session: SessionId, user: UserId) -> Ended {
        let mut flags = self.lock();
        if let Some(flag) = flags.by_session.get(&session).and_then(|(_, flag)| flag.upgrade()) {
            return flag;
        }
        if flags.by_session.len() >= flags.sweep_at {
            flags.by_session.retain(|_, (_, flag)| flag.strong_count() > 0);
            flags.sweep_at = (2 * flags.by_session.len()).max(1024);
        }
        let flag = Ended::default();
        flags.by_session.insert(session, (user, Arc::downgrade(&flag)));
        flag
    }

    fn end(&self, session: SessionId) {
        if let Some(flag) = self.lock().by_session.remove(&session).and_then(|(_, flag)| flag.upgrade()) {
            flag.store(true, Ordering::Release);
        }
    }

    /// Ends everything that somebody uses.
    fn end_all(&self, user: UserId) {
        self.lock().by_session.retain(|_, (whose, flag)| {
            if *whose != user {
                return true;
            }
            if let Some(flag) = flag.upgrade() {
                flag.store(true, Ordering::Release);
            }
            false
        });
    }

    fn lock(&self) -> MutexGuard<'_, Flags> {
        self.flags.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Sessions {
    fn recorded(&self, events: &[Recorded]) {
        for recorded in events {
            if let Event::Session(SessionEvent::Ended { .. }) = recorded.event
                && let Ok(session) = recorded.stream.id.parse()
            {
                self.end(session);
            }
            if let Some(user) = recorded.event.erases(&recorded.stream.id) {
                self.end_all(user);
            }
        }
    }
}
