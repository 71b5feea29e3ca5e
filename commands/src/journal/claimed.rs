//! Values that may exist once, while a batch is decided: who holds them after the units before.

use super::plan::{Memory, Plan, Stop};
use super::unit::{Taken, Unit};

/// A namespace and the keyed hash of a value in it.
pub(super) type ClaimedValue = (&'static str, [u8; 32]);

impl Memory {
    /// Who holds a value after what the batch has planned so far.
    fn holder<'a>(&'a self, value: &ClaimedValue, plan: &'a Plan) -> Option<&'a str> {
        let planned = plan.claims.get(value).map(Option::as_deref);
        planned.unwrap_or_else(|| self.claims.get(value).map(String::as_str))
    }

    pub(super) fn check_claims(&self, unit: &Unit, plan: &Plan) -> Result<(), Stop> {
        for claim in &unit.claims {
            let value = (claim.namespace, claim.hash);
            let holder = self.holder(&value, plan).filter(|holder| !unit.releases_from(holder, &value));
            if holder.is_some_and(|holder| holder != claim.holder) {
                let taken = Taken { namespace: claim.namespace, code: claim.taken };
                return Err(Stop::Refused(Box::new(taken)));
            }
        }
        Ok(())
    }

    pub(super) fn release(&self, unit: &Unit, plan: &mut Plan) {
        for release in &unit.releases {
            let value = (release.namespace, release.hash);
            if self.holder(&value, plan).is_some_and(|holder| holder == release.holder) {
                plan.claims.insert(value, None);
            }
        }
    }
}

impl Unit {
    fn releases_from(&self, holder: &str, value: &ClaimedValue) -> bool {
        self.releases
            .iter()
            .any(|release| release.holder == holder && (release.namespace, release.hash) == *value)
    }
}
