//! Documents of ISO 20022, the language in which banks and their customers' software talk about money.
//!
//! | module | document |
//! |---|---|
//! | [`camt053`] | `camt.053.001.08`: a statement, for accounting software |
//! | [`pacs008`] | `pacs.008.001.08`: credit transfers, for another bank |
//!
//! Typed values in, bytes out; nothing here asks a database or a clock. Amounts are exact decimals of major units with
//! as many places as ISO 4217 gives the currency. `*.shape` beside this file says in which order the published schemas
//! want the elements; the tests hold every document against it.

pub mod camt053;
pub mod pacs008;
#[cfg(test)]
mod shape;
#[cfg(test)]
mod tests;
mod xml;

use bursar_domain::kernel::TransactionId;

/// A transaction's id as these documents carry it: without its prefix `txn_`, because they give an identifier 35
/// characters and ours have 36.
#[must_use]
pub fn transaction_reference(id: &str) -> &str {
    id.strip_prefix(TransactionId::PREFIX).unwrap_or(id)
}
