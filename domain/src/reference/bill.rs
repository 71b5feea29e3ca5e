//! Whether a bill can be paid.

use serde::Serialize;

use super::{Biller, BillerItem, Price, Reference};
use crate::kernel::{Amount, Currency};

/// A bill that can be paid.
#[derive(Debug, Clone, Copy)]
pub struct Bill<'a> {
    /// Who is paid.
    pub biller: &'a Biller,
    /// What for; none when the biller lists nothing.
    pub item: Option<&'a BillerItem>,
    /// What the bank takes from the payer on top, in minor units; 0 for nothing.
    pub fee: i64,
}

/// What a biller could be paid instead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Offer {
    /// The item's code.
    pub item_id: String,
    /// What it costs.
    #[serde(flatten)]
    pub price: Price,
}

crate::rejections! {
    /// Why a bill cannot be paid.
    pub enum BillError {
        /// No biller of that code, or no item of it.
        Unknown {
            /// `biller` or `item`.
            thing: &'static str,
        }: NotFound "NOT_FOUND" = "no such {thing}",
        /// It is there, and cannot be paid at present.
        NotOffered {
            /// `biller` or `item`.
            thing: &'static str,
        }: Unprocessable "NOT_OFFERED" = "this {thing} cannot be paid at present",
        /// The biller is paid in another currency.
        CurrencyMismatch {
            /// The biller's.
            expected: Currency => "expectedCurrency",
            /// The payer's.
            actual: Currency,
        }: Unprocessable "CURRENCY_MISMATCH" = "this biller is paid in {expected}, not in {actual}",
        /// The biller can have no customer with this number.
        CustomerReferenceInvalid {
            /// What the biller calls it.
            label: String => "customerReferenceLabel",
            /// What it looks like.
            pattern: String => "customerReferencePattern",
        }: Unprocessable "CUSTOMER_REFERENCE_INVALID" = "not a {label} of this biller",
        /// Nothing costs that much.
        AmountNotOffered {
            /// What there is.
            offers: Vec<Offer> => "offers",
        }: Unprocessable "AMOUNT_NOT_OFFERED" = "no item that was asked for costs this amount",
    }
}

impl Reference {
    /// Checks what somebody wants to pay a biller: `amount` of `currency` for its customer `customer_reference`.
    ///
    /// Without an `item`, it is for the one that costs this much: one with a fixed price before one without, the
    /// one with the lowest fee among those. A biller that lists no items takes any amount.
    ///
    /// # Errors
    /// `NOT_FOUND`, `NOT_OFFERED`, `CURRENCY_MISMATCH`, `CUSTOMER_REFERENCE_INVALID`, `AMOUNT_NOT_OFFERED`.
    pub fn bill(
        &self,
        biller: &str,
        item: Option<&str>,
        customer_reference: &str,
        amount: Amount,
        currency: Currency,
    ) -> Result<Bill<'_>, BillError> {
        let biller = self.payable_biller(biller, customer_reference)?;
        if biller.currency_code != currency {
            return Err(BillError::CurrencyMismatch { expected: biller.currency_code, actual: currency });
        }
        let listed: Vec<&BillerItem> = match item {
            Some(code) => vec![self.item_of(biller, code)?],
            None => self.items_of(biller).collect(),
        };
        if listed.is_empty() {
            return Ok(Bill { biller, item: None, fee: 0 });
        }
        let offered = || listed.iter().filter(|item| item.is_active);
        let fitting = offered().filter(|item| item.price.admits(amount));
        let Some(item) = fitting.min_by_key(|item| (!item.price.is_fixed(), item.fee)) else {
            let offer = |item: &&BillerItem| Offer { item_id: item.item_code.clone(), price: item.price };
            return Err(BillError::AmountNotOffered { offers: offered().map(offer).collect() });
        };
        Ok(Bill { biller, item: Some(item), fee: item.fee })
    }

    /// The biller of that code, if it can be paid and can have a customer of that number.
    ///
    /// # Errors
    /// `NOT_FOUND`, `NOT_OFFERED`, `CUSTOMER_REFERENCE_INVALID`.
    pub fn payable_biller(&self, code: &str, customer_reference: &str) -> Result<&Biller, BillError> {
        let biller = self.billers.get(code).ok_or(BillError::Unknown { thing: "biller" })?;
        if !biller.is_active {
            return Err(BillError::NotOffered { thing: "biller" });
        }
        // The number itself is somebody's own: it is not repeated in the refusal.
        if !biller.customer_reference_pattern.matches(customer_reference) {
            return Err(BillError::CustomerReferenceInvalid {
                label: biller.customer_reference_label.to_lowercase(),
                pattern: biller.customer_reference_pattern.as_str().to_owned(),
            });
        }
        Ok(biller)
    }

    /// The item of that code, if it is this biller's and can be paid.
    fn item_of(&self, biller: &Biller, code: &str) -> Result<&BillerItem, BillError> {
        let item = self.items.get(code).filter(|item| item.biller_code == biller.biller_code);
        let item = item.ok_or(BillError::Unknown { thing: "item" })?;
        if item.is_active { Ok(item) } else { Err(BillError::NotOffered { thing: "item" }) }
    }
}
