//! Types of fields that name something: accounts, currencies, things with an id, billers and bills.

use std::str::FromStr;

use bursar_domain::compliance::RecordId;
use bursar_domain::kernel::{
    AddressId, AvatarId, BeneficiaryId, CardId, ClosureId, CollateralId, CommunityId, ContactId, DisputeId,
    DocumentId, EmploymentId, GuarantorId, IdError, InvitationId, KinId, LoanId, MandateId, MessageId,
    ParticipantId, RecurrenceId, SigningRequestId, TagId, TransactionId, TransferId, UserId, VerificationId,
    WebhookId, WithdrawalId,
};
use bursar_domain::{AccountNumber, Currency};
use serde_json::Value;
use utoipa::openapi::schema::Schema;

use super::fields::{Faults, Field};
use super::schema;
use super::values::parsed;

impl Field for Currency {
    fn read(value: Value) -> Result<Self, Faults> {
        parsed(value, "a currency is three upper-case letters (ISO 4217)")
    }

    fn schema() -> Schema {
        schema::text(|text| text.pattern(Some("^[A-Z]{3}$")))
    }
}

impl Field for AccountNumber {
    fn read(value: Value) -> Result<Self, Faults> {
        parsed(value, "an account number is ten digits, the last one a check digit")
    }

    fn schema() -> Schema {
        schema::text(|text| text.pattern(Some("^[0-9]{10}$")))
    }
}

/// Ids of the bank's own making.
macro_rules! ids {
    ($($id:ty: $thing:literal,)*) => {$(
        impl Field for $id {
            fn read(value: Value) -> Result<Self, Faults> {
                parsed(value, concat!("not the id of a ", $thing))
            }

            fn schema() -> Schema {
                schema::text(|text| text.pattern(Some(format!("^{}[0-9a-f]{{32}}$", <$id>::PREFIX))))
            }
        }
    )*};
}

ids! {
    AvatarId: "avatar",
    DocumentId: "document",
    AddressId: "address",
    BeneficiaryId: "beneficiary",
    CardId: "card",
    ClosureId: "application to close an account",
    ContactId: "contact",
    CollateralId: "collateral",
    DisputeId: "dispute",
    GuarantorId: "guarantor",
    LoanId: "loan",
    CommunityId: "community",
    InvitationId: "invitation",
    MandateId: "mandate",
    ParticipantId: "participant",
    WithdrawalId: "withdrawal",
    MessageId: "message",
    SigningRequestId: "signing request",
    TransferId: "transfer",
    VerificationId: "verification",
    WebhookId: "webhook",
    EmploymentId: "employment",
    KinId: "next of kin",
    RecurrenceId: "recurrence",
    TagId: "tag",
    TransactionId: "transaction",
    UserId: "user",
}

impl Field for RecordId {
    fn read(value: Value) -> Result<Self, Faults> {
        parsed(value, "not the id of a compliance record")
    }

    fn schema() -> Schema {
        schema::text(|text| text.pattern(Some("^(addr|kin|emp|ect)_[0-9a-f]{32}$")))
    }
}

/// What a payer calls a bill: its transaction id, or a reference of 1 to 140 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BillingRef(pub String);

impl FromStr for BillingRef {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let fits = (1..=140).contains(&text.chars().count()) && !text.chars().any(char::is_control);
        if fits { Ok(Self(text.to_owned())) } else { Err(IdError) }
    }
}

impl Field for BillingRef {
    fn read(value: Value) -> Result<Self, Faults> {
        parsed(value, "not what a bill is called")
    }

    fn schema() -> Schema {
        schema::text(|text| text.min_length(Some(1)).max_length(Some(140)))
    }
}

/// What an app calls a device: 1 to 128 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceName(pub String);

impl FromStr for DeviceName {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let fits = (1..=128).contains(&text.chars().count()) && !text.chars().any(char::is_control);
        if fits { Ok(Self(text.to_owned())) } else { Err(IdError) }
    }
}

impl Field for DeviceName {
    fn read(value: Value) -> Result<Self, Faults> {
        parsed(value, "not what a device is called")
    }

    fn schema() -> Schema {
        schema::text(|text| text.min_length(Some(1)).max_length(Some(128)))
    }
}

/// The name of a read model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelName(pub &'static str);

impl FromStr for ModelName {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let found = bursar_projections::catalogue().iter().find(|entry| entry.name == text);
        found.map(|entry| Self(entry.name)).ok_or(IdError)
    }
}

impl Field for ModelName {
    fn read(value: Value) -> Result<Self, Faults> {
        parsed(value, "not the name of a read model")
    }

    fn schema() -> Schema {
        schema::text(|text| text.pattern(Some("^[a-z_]+$")))
    }
}

/// Codes that others have made up.
macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident: $thing:literal,)*) => {$(
        $(#[$doc])*
        ///
        /// 1 to 64 letters, digits, `_`, `-` or `.`.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $code(pub String);

        impl FromStr for $code {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
                if (1..=64).contains(&text.len()) && text.chars().all(fits) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(IdError)
                }
            }
        }

        impl Field for $code {
            fn read(value: Value) -> Result<Self, Faults> {
                parsed(value, concat!("not the code of a ", $thing))
            }

            fn schema() -> Schema {
                schema::text(|text| text.pattern(Some("^[A-Za-z0-9_.-]{1,64}$")))
            }
        }
    )*};
}

codes! {
    /// The id of a biller, which is its code.
    BillerId: "biller",
    /// The code of a product.
    ProductId: "product",
    /// ISO 3166-1 alpha-2.
    CountryCode: "country",
    /// ISO 3166-2.
    StateCode: "state",
    /// The name of a file of the console.
    ConsoleFile: "file",
}
