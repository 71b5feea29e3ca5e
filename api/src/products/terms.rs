//! Products as requests and files say them: one reading for both.

use bursar_commands::products::{Catalogue, faults};
use bursar_domain::Currency;
use bursar_domain::loan_products::{LoanDocumentType, LoanTerms, LoanType};
use bursar_domain::products::{AccountType, ProductTerms};

use crate::problem::FieldError;
use crate::rate::Rate;
use crate::request;
use crate::request::{Faults, Field as _, Minor, OneOf, ProductId, Strict, Text, Title, Whole};

request! {
    /// What a product for accounts promises, all of it. Sums in minor units of `currency`, rates in percent a year.
    AccountProductTerms {
        /// What people read.
        product_name: Title<140> = "productName",
        /// The kind of account it opens.
        product_type: OneOf<AccountType> = "productType",
        /// A sentence or two.
        description: Option<Text<2000>> = "description",
        /// The currency of its accounts, ISO 4217.
        currency: Currency = "currency",
        /// Percent a year.
        interest_rate: Rate = "interestRate",
        /// What must stay in an account; 0 when absent.
        minimum_balance: Option<Minor> = "minimumBalance",
        /// The least an account is opened with; 0 when absent.
        minimum_deposit: Option<Minor> = "minimumDeposit",
        /// What an account may hold at most; no bound when absent.
        maximum_balance: Option<Minor> = "maximumBalance",
        /// How far below zero an account may go; 0 when absent.
        overdraft_limit: Option<Minor> = "overdraftLimit",
        /// Outgoing debits a UTC day; no limit when absent.
        daily_limit: Option<Minor> = "dailyLimit",
        /// Outgoing debits a UTC month; no limit when absent.
        monthly_limit: Option<Minor> = "monthlyLimit",
        /// `ONLINE_BANKING`, `DEBIT_CARD`, `INTEREST_EARNING` ...
        features: Option<Vec<Text<64>>> = "features",
        /// Who may have it, in words.
        eligibility_criteria: Option<Vec<Text<500>>> = "eligibilityCriteria",
        /// Whether accounts can be opened on it; true when absent.
        is_active: Option<bool> = "isActive",
    }
}

request! {
    /// What a product for loans promises and asks, all of it. Sums in minor units of `currency`, rates in percent.
    LoanProductTerms {
        /// What people read.
        product_name: Title<140> = "productName",
        /// Whom it lends to.
        product_type: OneOf<LoanType> = "productType",
        /// The currency of its loans, ISO 4217.
        currency: Currency = "currency",
        /// The least it lends.
        min_amount: Minor = "minAmount",
        /// The most it lends.
        max_amount: Minor = "maxAmount",
        /// Percent a year.
        interest_rate: Rate = "interestRate",
        /// The shortest, months.
        min_tenure: Whole<1, 480> = "minTenure",
        /// The longest, months.
        max_tenure: Whole<1, 480> = "maxTenure",
        /// Percent of the amount, taken when it is paid out; 1 when absent.
        processing_fee: Option<Rate> = "processingFee",
        /// Percent of the amount, taken when it is paid out; 0.5 when absent.
        insurance_fee: Option<Rate> = "insuranceFee",
        /// Who may have it, in words.
        eligibility_criteria: Option<Vec<Text<500>>> = "eligibilityCriteria",
        /// What an application is not approved without.
        required_documents: Option<Vec<OneOf<LoanDocumentType>>> = "requiredDocuments",
        /// Whether somebody must vouch for the borrower; false when absent.
        guarantor_required: Option<bool> = "guarantorRequired",
        /// Whether it can be applied for; true when absent.
        is_active: Option<bool> = "isActive",
    }
}

/// Terms, and the code that they are for.
macro_rules! coded {
    ($($(#[doc = $about:literal])* $name:ident($terms:ident);)*) => {$(
        $(#[doc = $about])*
        pub struct $name {
            /// The code.
            pub product_id: ProductId,
            /// The terms.
            pub terms: $terms,
        }

        impl crate::request::Field for $name {
            // The code and the terms, side by side.
            const NAMES: &'static [&'static str] = &{
                const TERMS: &[&str] = <$terms as crate::request::Field>::NAMES;
                let mut names = ["productId"; TERMS.len() + 1];
                let mut n = 0;
                while n < TERMS.len() {
                    names[n + 1] = TERMS[n];
                    n += 1;
                }
                names
            };

            fn read(value: serde_json::Value) -> Result<Self, Faults> {
                let mut fields = crate::request::Fields::of(value.clone())?;
                let product_id = fields.take::<ProductId>("productId");
                match (fields.finish(product_id), $terms::read(value)) {
                    (Ok(product_id), Ok(terms)) => Ok(Self { product_id, terms }),
                    (one, other) => {
                        Err(one.err().into_iter().chain(other.err()).flatten().collect())
                    }
                }
            }

            fn schema() -> utoipa::openapi::schema::Schema {
                use utoipa::openapi::schema::Schema;
                let schema = <$terms as crate::request::Field>::schema();
                let Schema::Object(mut object) = schema else { return schema };
                let code = <ProductId as crate::request::Field>::schema();
                let code = crate::request::schema::described(code, &[" The code of the product."]);
                object.properties.insert("productId".to_owned(), code.into());
                object.required.push("productId".to_owned());
                Schema::Object(object)
            }
        }

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                utoipa::openapi::RefOr::T(<Self as crate::request::Field>::schema())
            }
        }

        impl utoipa::ToSchema for $name {}
    )*};
}

coded! {
    /// A product for accounts, by its code.
    NewAccountProduct(AccountProductTerms);
    /// A product for loans, by its code.
    NewLoanProduct(LoanProductTerms);
}

request! {
    /// Products in a file.
    ProductFile {
        /// Those that accounts are opened on.
        account_products: Option<Vec<Strict<NewAccountProduct>>> = "accountProducts",
        /// Those that loans are applied for on.
        loan_products: Option<Vec<Strict<NewLoanProduct>>> = "loanProducts",
    }
}

fn minor(sum: Option<Minor>) -> i64 {
    sum.map_or(0, |Minor(sum)| sum)
}

fn words<const MOST: usize>(texts: Option<Vec<Text<MOST>>>) -> Vec<String> {
    texts.unwrap_or_default().into_iter().map(String::from).collect()
}

impl From<AccountProductTerms> for ProductTerms {
    fn from(terms: AccountProductTerms) -> Self {
        Self {
            name: terms.product_name.into(),
            account_type: terms.product_type.0,
            description: terms.description.map(String::from).unwrap_or_default(),
            currency: terms.currency,
            interest_rate: terms.interest_rate.0,
            minimum_balance: minor(terms.minimum_balance),
            minimum_deposit: minor(terms.minimum_deposit),
            maximum_balance: terms.maximum_balance.map(|Minor(sum)| sum),
            overdraft_limit: minor(terms.overdraft_limit),
            daily_limit: terms.daily_limit.map(|Minor(sum)| sum),
            monthly_limit: terms.monthly_limit.map(|Minor(sum)| sum),
            features: words(terms.features),
            eligibility_criteria: words(terms.eligibility_criteria),
            is_active: terms.is_active.unwrap_or(true),
        }
    }
}

impl From<LoanProductTerms> for LoanTerms {
    fn from(terms: LoanProductTerms) -> Self {
        use rust_decimal::Decimal;
        let documents = terms.required_documents.unwrap_or_default();
        Self {
            name: terms.product_name.into(),
            loan_type: terms.product_type.0,
            currency: terms.currency,
            min_amount: terms.min_amount.0,
            max_amount: terms.max_amount.0,
            interest_rate: terms.interest_rate.0,
            min_tenure: terms.min_tenure.0,
            max_tenure: terms.max_tenure.0,
            processing_fee: terms.processing_fee.map_or(Decimal::ONE, |Rate(rate)| rate),
            insurance_fee: terms.insurance_fee.map_or(Decimal::new(5, 1), |Rate(rate)| rate),
            eligibility_criteria: words(terms.eligibility_criteria),
            required_documents: documents.into_iter().map(|OneOf(document)| document).collect(),
            guarantor_required: terms.guarantor_required.unwrap_or(false),
            is_active: terms.is_active.unwrap_or(true),
        }
    }
}

/// The products in the text of a file.
///
/// # Errors
/// Everything that is wrong with it.
pub fn read_file(text: &str) -> Result<Catalogue, Faults> {
    let value =
        serde_json::from_str(text).map_err(|error| crate::request::fault("MALFORMED", &error.to_string()))?;
    let Strict(file) = Strict::<ProductFile>::read(value)?;
    let accounts = file.account_products.unwrap_or_default().into_iter();
    let loans = file.loan_products.unwrap_or_default().into_iter();
    let catalogue = Catalogue {
        accounts: accounts.map(|Strict(new)| (new.product_id.0, new.terms.into())).collect(),
        loans: loans.map(|Strict(new)| (new.product_id.0, new.terms.into())).collect(),
    };
    let mut wrong: Faults = faults(&catalogue)
        .into_iter()
        .map(|(list, n, error)| FieldError {
            pointer: format!("/{list}/{n}"),
            code: error.code(),
            message: error.to_string(),
        })
        .collect();
    wrong.extend(twice("accountProducts", catalogue.accounts.iter().map(|(id, _)| id)));
    wrong.extend(twice("loanProducts", catalogue.loans.iter().map(|(id, _)| id)));
    if wrong.is_empty() { Ok(catalogue) } else { Err(wrong) }
}

/// Codes that are there more than once.
fn twice<'a>(list: &str, ids: impl Iterator<Item = &'a String>) -> Faults {
    let mut seen = std::collections::HashSet::new();
    let again = ids.enumerate().filter(|(_, id)| !seen.insert(id.as_str()));
    again
        .map(|(n, id)| FieldError {
            pointer: format!("/{list}/{n}/productId"),
            code: "DUPLICATE",
            message: format!("{id} is there twice"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"accountProducts": [{"productId": "SAV-9", "productName": "Nine", "productType": "SAVINGS",
        "currency": "NGN", "interestRate": 4.25}], "loanProducts": [{"productId": "LN-9", "productName": "Nine",
        "productType": "PERSONAL", "currency": "NGN", "minAmount": 1, "maxAmount": 2, "interestRate": 12.5,
        "minTenure": 1, "maxTenure": 2}]}"#;

    #[test]
    fn a_file_says_what_a_request_says() {
        let read = read_file(GOOD).unwrap();
        assert_eq!(read.accounts[0].1.interest_rate.to_string(), "4.25");
        assert!(read.accounts[0].1.is_active && read.accounts[0].1.maximum_balance.is_none());
        assert_eq!(read.loans[0].1.insurance_fee.to_string(), "0.5");
    }

    #[test]
    fn everything_that_is_wrong_is_said_at_once() {
        let wrong =
            GOOD.replace("4.25", "\"4\"").replace("\"maxAmount\": 2", "\"maxAmount\": -2, \"speed\": 1");
        let pointers: Vec<String> =
            read_file(&wrong).unwrap_err().into_iter().map(|fault| fault.pointer).collect();
        assert_eq!(
            pointers,
            ["/accountProducts/0/interestRate", "/loanProducts/0/speed", "/loanProducts/0/maxAmount"]
        );
        // What is well-formed and cannot be.
        let odd = GOOD.replace("4.25", "101").replace("\"minTenure\": 1", "\"minTenure\": 3");
        let odd: Vec<_> =
            read_file(&odd).unwrap_err().into_iter().map(|fault| (fault.pointer, fault.code)).collect();
        assert_eq!(
            odd,
            [
                ("/accountProducts/0".to_owned(), "RATE_OUT_OF_RANGE"),
                ("/loanProducts/0".to_owned(), "TENURE_OUT_OF_RANGE")
            ]
        );
        for text in ["", "[]", "{", r#"{"products": []}"#] {
            assert!(read_file(text).is_err(), "{text}");
        }
    }
}
