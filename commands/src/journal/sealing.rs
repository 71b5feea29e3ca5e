//! Sealing what is personal while a batch is decided: whose key, and whether there is one.

use std::collections::HashMap;
use std::sync::Arc;

use bursar_domain::StreamId;
use bursar_domain::codec::{self, KeyRing as _};
use bursar_domain::kernel::UserId;

use super::cache::Steady;
use super::plan::{Memory, Misses, Plan, Stop, unwritable};
use crate::vault::{DataKey, Minted, SubjectErased};

/// What becomes of a person's data key.
#[derive(Debug)]
pub(super) enum KeyChange {
    /// It is made.
    Minted(Minted),
    /// It is destroyed.
    Erased,
}

impl Memory {
    /// The commit has made and destroyed these data keys.
    pub(super) fn keep_keys(&mut self, changes: HashMap<UserId, KeyChange, Steady>) {
        for (subject, change) in changes {
            match change {
                KeyChange::Minted(minted) => self.vault.keep(subject, minted.key),
                KeyChange::Erased => {
                    self.vault.erased(subject);
                    // What is remembered of streams may hold what was just erased.
                    self.streams.clear();
                }
            }
        }
    }

    /// No event gets past here whose personal parts are not sealed.
    pub(super) fn seal(
        &mut self,
        stream: &StreamId,
        sequence: i64,
        subject: Option<UserId>,
        payload: &str,
        plan: &mut Plan,
        misses: &mut Misses,
    ) -> Result<String, Stop> {
        let subject = subject.ok_or_else(|| unwritable(&format!("{stream}: personal data of nobody")))?;
        let known = match plan.data_keys.get(&subject) {
            Some(KeyChange::Minted(minted)) => Some(DataKey::Good(Arc::clone(&minted.key))),
            Some(KeyChange::Erased) => Some(DataKey::Erased),
            None => self.vault.get(subject),
        };
        let key = match known {
            Some(DataKey::Good(key)) => key,
            Some(DataKey::Erased) => return Err(Stop::Refused(Box::new(SubjectErased))),
            None if self.keyless.contains(&subject) => {
                let minted = self.vault.mint(subject);
                let key = Arc::clone(&minted.key);
                plan.data_keys.insert(subject, KeyChange::Minted(minted));
                self.unit_keys.push(subject);
                key
            }
            None => {
                misses.data_keys.insert(subject);
                return Err(Stop::Missing);
            }
        };
        codec::seal(stream, sequence, payload, |out, place, value| {
            self.vault.seal((subject, &key), place, value, out);
        })
        .map_err(|e| unwritable(&e))
    }
}
