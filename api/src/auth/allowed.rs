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
    const MONEY: bool;
}

/// A type for each permission: `Name = Permission`, others that are as good, and whether what it allows to write moves money.
macro_rules! grants {
    ($($(#[$doc:meta])* $name:ident = $permission:ident $(or [$($other:ident),+])? $(, moves $money:ident)?;)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub struct $name;

        impl Grant for $name {
            const PERMISSION: Permission = Permission::$permission;
            $(const OR: &'static [Permission] = &[$(Permission::$other),+];)?
            const MONEY: bool = grants!(@moves $($money)?);
        }
    )+};
    (@moves money) => { true };
    (@moves) => { false };
}

grants! {
    /// Reading one's own accounts.
    ReadAccount = ReadAccount;
    /// Moving one's own money.
    WriteTransactions = WriteTransactions, moves money;
    /// One's own profile, compliance records, devices, communities, messages.
    ManageProfile = ManageProfile;
    /// Staff who verify documents and compliance records.
    KycVerify = KycVerify;
    /// Finishing a login with a second factor, and nothing else.
    MfaVerify = MfaVerify;
    /// Staff who say what staff may do.
    StaffAdmin = StaffAdmin;
    /// Staff who look after cards.
    CardOps = CardOps;
    /// Staff who look after devices.
    DeviceOps = DeviceOps;
    /// Staff at a till.
    AccountOps = AccountOps, moves money;
    /// Staff who decide disputes.
    DisputeResolve = DisputeResolve, moves money;
    /// Staff who erase people.
    PiiErase = PiiErase;
    /// Staff who say what the bank offers.
    ProductAdmin = ProductAdmin;
    /// Staff who say whom outside the bank it tells what happens in it.
    WebhookAdmin = WebhookAdmin;
    /// Staff who check the log.
    AuditRead = AuditRead;
    /// Staff who look after read models and what is due.
    OpsRebuild = OpsRebuild;
    /// Staff who look into loan applications.
    LoanReview = LoanReview;
    /// Staff who decide about loans.
    LoanApprove = LoanApprove, moves money;
    /// Staff who pay loans out.
    LoanDisburse = LoanDisburse, moves money;
    /// Staff who look into a loan, or decide about it: whoever decides sees what it is.
    LoanDesk = LoanReview or [LoanApprove, LoanDisburse];
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
        let caller = Caller::from_request_parts(parts, app).await?;
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
