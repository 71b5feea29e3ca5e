//! Permissions as types: a handler that takes `Allowed<ReadAccount>` cannot be reached without it.

use std::marker::PhantomData;
use std::ops::Deref;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use bursar_domain::kernel::Permission;

use super::Caller;
use crate::app::App;
use crate::edge::Scope;
use crate::problem::Problem;

/// A permission at the level of types.
pub trait Grant: Send + Sync + 'static {
    /// Which one.
    const PERMISSION: Permission;
    /// Others that are as good.
    const OR: &'static [Permission] = &[];
    /// Whether what it allows to write moves money.
    const MONEY: bool = false;
}

/// Reading one's own accounts.
#[derive(Debug, Clone, Copy)]
pub struct ReadAccount;

impl Grant for ReadAccount {
    const PERMISSION: Permission = Permission::ReadAccount;
}

/// Moving one's own money.
#[derive(Debug, Clone, Copy)]
pub struct WriteTransactions;

impl Grant for WriteTransactions {
    const PERMISSION: Permission = Permission::WriteTransactions;
    const MONEY: bool = true;
}

/// One's own profile, compliance records, devices, communities, messages.
#[derive(Debug, Clone, Copy)]
pub struct ManageProfile;

impl Grant for ManageProfile {
    const PERMISSION: Permission = Permission::ManageProfile;
}

/// Staff who verify documents and compliance records.
#[derive(Debug, Clone, Copy)]
pub struct KycVerify;

impl Grant for KycVerify {
    const PERMISSION: Permission = Permission::KycVerify;
}

/// Finishing a login with a second factor, and nothing else.
#[derive(Debug, Clone, Copy)]
pub struct MfaVerify;

impl Grant for MfaVerify {
    const PERMISSION: Permission = Permission::MfaVerify;
}

/// Staff who say what staff may do.
#[derive(Debug, Clone, Copy)]
pub struct StaffAdmin;

impl Grant for StaffAdmin {
    const PERMISSION: Permission = Permission::StaffAdmin;
}

/// Staff who look after cards.
#[derive(Debug, Clone, Copy)]
pub struct CardOps;

impl Grant for CardOps {
    const PERMISSION: Permission = Permission::CardOps;
}

/// Staff who look after devices.
#[derive(Debug, Clone, Copy)]
pub struct DeviceOps;

impl Grant for DeviceOps {
    const PERMISSION: Permission = Permission::DeviceOps;
}

/// Staff at a till.
#[derive(Debug, Clone, Copy)]
pub struct AccountOps;

impl Grant for AccountOps {
    const PERMISSION: Permission = Permission::AccountOps;
    const MONEY: bool = true;
}

/// Staff who decide disputes.
#[derive(Debug, Clone, Copy)]
pub struct DisputeResolve;

impl Grant for DisputeResolve {
    const PERMISSION: Permission = Permission::DisputeResolve;
    const MONEY: bool = true;
}

/// Staff who erase people.
#[derive(Debug, Clone, Copy)]
pub struct PiiErase;

impl Grant for PiiErase {
    const PERMISSION: Permission = Permission::PiiErase;
}

/// Staff who say what the bank offers.
#[derive(Debug, Clone, Copy)]
pub struct ProductAdmin;

impl Grant for ProductAdmin {
    const PERMISSION: Permission = Permission::ProductAdmin;
}

/// Staff who say whom outside the bank it tells what happens in it.
#[derive(Debug, Clone, Copy)]
pub struct WebhookAdmin;

impl Grant for WebhookAdmin {
    const PERMISSION: Permission = Permission::WebhookAdmin;
}

/// Staff who check the log.
#[derive(Debug, Clone, Copy)]
pub struct AuditRead;

impl Grant for AuditRead {
    const PERMISSION: Permission = Permission::AuditRead;
}

/// Staff who look after read models and what is due.
#[derive(Debug, Clone, Copy)]
pub struct OpsRebuild;

impl Grant for OpsRebuild {
    const PERMISSION: Permission = Permission::OpsRebuild;
}

/// Staff who look into loan applications.
#[derive(Debug, Clone, Copy)]
pub struct LoanReview;

impl Grant for LoanReview {
    const PERMISSION: Permission = Permission::LoanReview;
}

/// Staff who decide about loans.
#[derive(Debug, Clone, Copy)]
pub struct LoanApprove;

impl Grant for LoanApprove {
    const PERMISSION: Permission = Permission::LoanApprove;
    const MONEY: bool = true;
}

/// Staff who pay loans out.
#[derive(Debug, Clone, Copy)]
pub struct LoanDisburse;

impl Grant for LoanDisburse {
    const PERMISSION: Permission = Permission::LoanDisburse;
    const MONEY: bool = true;
}

/// Staff who look into a loan, or decide about it: whoever decides sees what it is.
#[derive(Debug, Clone, Copy)]
pub struct LoanDesk;

impl Grant for LoanDesk {
    const PERMISSION: Permission = Permission::LoanReview;
    const OR: &'static [Permission] = &[Permission::LoanApprove, Permission::LoanDisburse];
}

/// A caller with the permission `P`, within the limit for reads.
#[derive(Debug, Clone)]
pub struct Allowed<P>(Caller, PhantomData<P>);

impl<P> Deref for Allowed<P> {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.0
    }
}

impl<P: Grant> FromRequestParts<App> for Allowed<P> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let caller = app.auth.authenticate(&parts.headers).await?;
        let scope = Scope::of(&parts.extensions);
        scope.asked_by(&caller);
        scope.limit(app.limits.read(caller.user(), scope.started()))?;
        permit::<P>(&caller)?;
        Ok(Self(caller, PhantomData))
    }
}

/// Whether the caller has the permission `P`, or another that is as good.
///
/// # Errors
/// 403.
pub fn permit<P: Grant>(caller: &Caller) -> Result<(), Problem> {
    let mut enough = std::iter::once(&P::PERMISSION).chain(P::OR);
    if enough.any(|permission| caller.may(*permission)) {
        Ok(())
    } else {
        Err(Problem::permission_denied(P::PERMISSION))
    }
}

/// Any caller whose token is good, within the limit for reads.
impl FromRequestParts<App> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let caller = app.auth.authenticate(&parts.headers).await?;
        let scope = Scope::of(&parts.extensions);
        scope.asked_by(&caller);
        scope.limit(app.limits.read(caller.user(), scope.started()))?;
        Ok(caller)
    }
}
