//! Defining the products accounts are opened on.

use bursar_domain::products::{Product, ProductCommand, ProductTerms};
use bursar_domain::{Aggregate, Command, Metadata, State};

use crate::keys::due_key;
use crate::owned::CommandError;
use crate::{Committed, Context, Journal, Unit};

/// What a new bank offers: code and terms, one file each.
const DEFAULTS: [(&str, &str); 4] = [
    ("CUR-001", include_str!("products/CUR-001.json")),
    ("CUR-002", include_str!("products/CUR-002.json")),
    ("SAV-001", include_str!("products/SAV-001.json")),
    ("TSV-001", include_str!("products/TSV-001.json")),
];

/// Puts a product on offer, or changes its terms for accounts opened from now on.
///
/// # Errors
/// `RATE_OUT_OF_RANGE`, `LIMIT_OUT_OF_RANGE`.
pub async fn define(
    journal: &Journal,
    context: Context,
    product_id: &str,
    terms: ProductTerms,
) -> Result<Committed, CommandError> {
    let unit = Unit::new(context).step(product_id, ProductCommand::Define(Box::new(terms)));
    Ok(journal.submit(unit).await?)
}

/// Defines the default products that nobody has defined yet. Safe to run on every start and on several servers:
/// a product that exists, changed or not, is left alone.
///
/// # Errors
/// When the store cannot be reached.
pub async fn ensure_defaults(journal: &Journal) -> Result<(), CommandError> {
    let defaults = defaults().map(|(id, terms)| (id, ProductCommand::Define(Box::new(terms))));
    ensure::<Product>(journal, defaults).await
}

/// Gives each of these first commands to an aggregate that nothing has happened to yet; the others are left alone.
///
/// # Errors
/// When the store cannot be reached.
pub(crate) async fn ensure<A>(
    journal: &Journal,
    defaults: impl Iterator<Item = (&'static str, <A as Aggregate>::Command)>,
) -> Result<(), CommandError>
where
    A: Aggregate + TryFrom<State>,
    <A as Aggregate>::Command: Into<Command>,
{
    for (id, command) in defaults {
        if journal.load::<A>(id).await?.1 > 0 {
            continue;
        }
        let due = format!("{}:{id}", A::TYPE);
        let actor = format!("system:{}s", A::TYPE);
        let context = Context {
            idempotency: Some(due_key(&due)),
            metadata: Metadata { actor: actor.into(), correlation_id: due.into() },
            ..Context::default()
        };
        journal.submit(Unit::new(context).step(id, command)).await?;
    }
    Ok(())
}

fn defaults() -> impl Iterator<Item = (&'static str, ProductTerms)> {
    // A test reads every file, so none is ever skipped.
    DEFAULTS.into_iter().filter_map(|(id, json)| Some((id, serde_json::from_str(json).ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_can_be_defined() {
        assert_eq!(defaults().count(), DEFAULTS.len());
        for (id, terms) in defaults() {
            assert!(Product::Absent.decide(ProductCommand::Define(Box::new(terms))).is_ok(), "{id}");
        }
    }
}
