//! Ids in the path.

use std::str::FromStr;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use bursar_domain::AccountNumber;
use bursar_domain::compliance::RecordId;
use bursar_domain::kernel::{
    AvatarId, BeneficiaryId, CardId, ClosureId, CollateralId, CommunityId, DisputeId, DocumentId,
    GuarantorId, InvitationId, LoanId, MandateId, MessageId, ParticipantId, RecurrenceId, TagId,
    TransactionId, UserId, VerificationId, WebhookId, WithdrawalId,
};
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};

use super::fields::Field;
use super::names::{
    BillerId, BillingRef, ConsoleFile, CountryCode, DeviceName, ModelName, ProductId, StateCode,
};
use super::schema;
use super::values::LogPosition;
use crate::app::App;
use crate::problem::Problem;

/// What a path can name.
pub trait PathId: Field + FromStr + Send {
    /// The name of the segment in the route.
    const SEGMENT: &'static str;
    /// The thing, in the words of a 404.
    const THING: &'static str;
}

/// The id in the path, not looked at yet: who asks is more urgent.
#[derive(Debug, Clone)]
pub struct InPath<T>(Option<T>);

impl<T: PathId> InPath<T> {
    /// The id.
    ///
    /// # Errors
    /// 404: one that cannot exist is answered like one that does not.
    pub fn get(self) -> Result<T, Problem> {
        self.0.ok_or_else(|| Problem::not_found(T::THING))
    }
}

impl<T: PathId> FromRequestParts<App> for InPath<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        // A path that is not UTF-8 names nothing.
        let Ok(params) = RawPathParams::from_request_parts(parts, app).await else { return Ok(Self(None)) };
        let text = params.iter().find(|(name, _)| *name == T::SEGMENT);
        Ok(Self(text.and_then(|(_, text)| text.parse().ok())))
    }
}

impl<T: PathId> IntoParams for InPath<T> {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let parameter = ParameterBuilder::new()
            .name(T::SEGMENT)
            .parameter_in(ParameterIn::Path)
            .required(schema::required(true))
            .description(Some(format!("The {}.", T::THING)))
            .schema(Some(T::schema()));
        vec![parameter.build()]
    }
}

macro_rules! segments {
    ($($id:ty: $segment:literal = $thing:literal,)*) => {$(
        impl PathId for $id {
            const SEGMENT: &'static str = $segment;
            const THING: &'static str = $thing;
        }
    )*};
}

segments! {
    AccountNumber: "accountNo" = "account",
    AvatarId: "avatarId" = "avatar",
    DocumentId: "documentId" = "document",
    VerificationId: "verificationId" = "verification",
    BeneficiaryId: "beneficiaryId" = "beneficiary",
    BillerId: "billerId" = "biller",
    BillingRef: "billingRef" = "bill",
    CardId: "cardId" = "card",
    ClosureId: "applicationId" = "application",
    CollateralId: "collateralId" = "collateral",
    ConsoleFile: "file" = "file",
    CountryCode: "countryCode" = "country",
    DeviceName: "deviceId" = "device",
    DisputeId: "disputeId" = "dispute",
    GuarantorId: "guarantorId" = "guarantor",
    LoanId: "loanId" = "loan",
    CommunityId: "communityId" = "community",
    InvitationId: "invitationId" = "invitation",
    MandateId: "mandateId" = "mandate",
    LogPosition: "position" = "event",
    ParticipantId: "participantId" = "participant",
    WithdrawalId: "withdrawalId" = "withdrawal",
    MessageId: "messageId" = "message",
    ModelName: "name" = "read model",
    ProductId: "productId" = "product",
    RecordId: "recordId" = "record",
    RecurrenceId: "recurringId" = "recurrence",
    StateCode: "stateCode" = "state",
    TagId: "tagId" = "tag",
    TransactionId: "transactionId" = "transaction",
    UserId: "userId" = "user",
    WebhookId: "webhookId" = "webhook",
}
