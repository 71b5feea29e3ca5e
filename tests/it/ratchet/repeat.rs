//! The operations of the ratchet for other tests: each can succeed again and again.

use serde_json::json;

use super::{Row, World};
use crate::support::client::Request;

impl World {
    /// Undoes what keeps the operation from succeeding once more.
    pub async fn make_ready(&mut self, row: &Row) {
        if row.path.starts_with("/v1/users/token/") {
            let session = self.bank.client().session("ada@example.com", "spare").await;
            self.refresh = session["refreshToken"].as_str().unwrap().to_owned();
        }
        for (verb, opposite) in [("/freeze", "/unfreeze"), ("/unfreeze", "/freeze")] {
            if let Some(staff) = row.path.strip_suffix(verb) {
                let path = format!("{}{opposite}", staff.replace("{accountNo}", (row.account)(self)));
                // Unless it is so already.
                self.teller.client.post(&path, &json!({"reason": "Once more"})).await;
            }
        }
    }

    /// How many events the operation writes.
    pub async fn events_of(&mut self, row: &Row) -> i64 {
        self.make_ready(row).await;
        let before = self.bank.events().await;
        let done = row.good_request(self).send().await;
        assert!(done.status < 300, "{row}: {}", done.text);
        let written = self.bank.events().await - before;
        assert_eq!(written > 0, row.replays, "{row}");
        written
    }
}

impl Row {
    /// A good request by somebody who may.
    pub fn good_request(&self, world: &World) -> Request {
        self.request(&world.caller(self), world, (self.account)(world))
    }

    /// Whether it is a question that somebody who is logged in asks of the database.
    pub fn reads(&self) -> bool {
        self.body.is_none() && self.is_private()
    }
}
