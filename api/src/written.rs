//! Who wrote last, and where: so that a caller always reads their own writes.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bursar_commands::journal::Observer;
use bursar_domain::kernel::UserId;
use bursar_domain::{Position, Recorded};

const SHARDS: usize = 16;
/// Users remembered in each shard; at the limit the older half is forgotten.
const USERS: usize = 8_192;

/// The position of each user's last write, through whichever server process, bounded. Fed by the journal before
/// the writer is answered.
#[derive(Debug, Default)]
pub struct Written {
    hasher: RandomState,
    shards: [Mutex<HashMap<UserId, Position>>; SHARDS],
}

impl Written {
    /// `user` wrote at `position`.
    fn note(&self, user: UserId, position: Position) {
        let mut shard = self.shard(user);
        if shard.len() >= USERS && !shard.contains_key(&user) {
            // The oldest half is the one the read models have long reached.
            let mut positions: Vec<_> = shard.values().copied().collect();
            positions.sort_unstable();
            let middle = positions.get(positions.len() / 2).copied().unwrap_or(0);
            shard.retain(|_, position| *position > middle);
        }
        let last = shard.entry(user).or_insert(position);
        *last = (*last).max(position);
    }

    /// Where `user` wrote last; 0 when they did not, or long ago.
    #[must_use]
    pub fn last(&self, user: UserId) -> Position {
        self.shard(user).get(&user).copied().unwrap_or(0)
    }

    fn shard(&self, user: UserId) -> MutexGuard<'_, HashMap<UserId, Position>> {
        // The remainder is below SHARDS.
        let index = usize::try_from(self.hasher.hash_one(user) % SHARDS as u64).unwrap_or(0);
        self.shards[index].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Written {
    fn recorded(&self, events: &[Recorded]) {
        // Processes act too; their names are no user ids.
        let users =
            events.iter().filter_map(|event| Some((event.metadata.actor.parse().ok()?, event.position)));
        users.for_each(|(user, position)| self.note(user, position));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_position_counts_and_the_map_stays_bounded() {
        let (sources, _) = crate::sources::system();
        let written = Written::default();
        let ada = UserId::mint(&sources);
        written.note(ada, 7);
        written.note(ada, 3);
        assert_eq!((written.last(ada), written.last(UserId::mint(&sources))), (7, 0));
        for position in 10..300_000 {
            written.note(UserId::mint(&sources), position);
        }
        let kept: usize = written.shards.iter().map(|shard| shard.lock().unwrap().len()).sum();
        assert!(kept <= SHARDS * USERS, "{kept}");
    }
}
