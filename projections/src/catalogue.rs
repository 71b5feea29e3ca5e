//! Every read model, listed once. A new one is one line at the end of this file.

use bursar_domain::Kind;

use crate::read_model::{Model, ReadModel, Table};

/// What is known of a read model without its rows.
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// The nouns whose events it folds.
    pub reads: &'static [Kind],
    /// Its tables.
    pub tables: &'static [Table],
    /// The nouns whose stream is one row set.
    pub(crate) row_sets: &'static [Kind],
    pub(crate) fresh: fn() -> Box<dyn Model>,
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Entry {
    const fn of<M: ReadModel>() -> Self {
        Self {
            name: M::NAME,
            reads: M::READS,
            tables: M::TABLES,
            row_sets: M::ROW_SETS,
            fresh: || Box::new(M::default()),
        }
    }
}

/// All read models.
#[must_use]
pub const fn catalogue() -> &'static [Entry] {
    const {
        &[
            Entry::of::<crate::accounts::Accounts>(),
            Entry::of::<crate::beneficiaries::Beneficiaries>(),
            Entry::of::<crate::books::Books>(),
            Entry::of::<crate::cards::Cards>(),
            Entry::of::<crate::closures::Closures>(),
            Entry::of::<crate::communities::Communities>(),
            Entry::of::<crate::compliance::Compliance>(),
            Entry::of::<crate::daily_balances::DailyBalances>(),
            Entry::of::<crate::device_certificates::DeviceCertificates>(),
            Entry::of::<crate::disputes::Disputes>(),
            Entry::of::<crate::events::Events>(),
            Entry::of::<crate::interest::InterestPostings>(),
            Entry::of::<crate::loan_products::LoanProducts>(),
            Entry::of::<crate::loans::Loans>(),
            Entry::of::<crate::mandates::Mandates>(),
            Entry::of::<crate::messages::MessageList>(),
            Entry::of::<crate::documents::Documents>(),
            Entry::of::<crate::products::Products>(),
            Entry::of::<crate::recurrences::Recurrences>(),
            Entry::of::<crate::sessions::Sessions>(),
            Entry::of::<crate::statement_entries::StatementEntries>(),
            Entry::of::<crate::tags::Tags>(),
            Entry::of::<crate::transactions::Transactions>(),
            Entry::of::<crate::users::Users>(),
            Entry::of::<crate::webhooks::Webhooks>(),
        ]
    }
}
