//! Ownership as a type, and what a use case can answer instead of new events.

use std::ops::Deref;

use bursar_domain::kernel::UserId;
use bursar_domain::{Rejection, RejectionKind};

use crate::journal::{Committed, Context, Journal, StoreError, SubmitError, Unit};
use crate::passwords::HashingFailed;

/// A `T` that belongs to a user. Only the loaders of this crate make one, and each of them has the owner in its
/// WHERE clause: a handler that holds an `Owned` cannot have forgotten to ask whose it is.
#[derive(Debug, Clone)]
pub struct Owned<T> {
    owner: UserId,
    value: T,
}

impl<T> Owned<T> {
    pub(crate) const fn new(owner: UserId, value: T) -> Self {
        Self { owner, value }
    }

    /// Whose it is.
    #[must_use]
    pub const fn owner(&self) -> UserId {
        self.owner
    }
}

impl<T> Deref for Owned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// Unknown or somebody else's: the same answer, so that it tells nothing about other people's things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no such {0}")]
pub struct NotFound(pub &'static str);

impl Rejection for NotFound {
    fn code(&self) -> &'static str {
        "NOT_FOUND"
    }

    fn kind(&self) -> RejectionKind {
        RejectionKind::NotFound
    }
}

/// Why a use case has no events to show.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The unit was refused, or could not be written.
    #[error(transparent)]
    Submit(#[from] SubmitError),
    /// What the use case needed to know could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl CommandError {
    /// A refusal that needed no unit.
    pub fn refused(reason: impl Rejection) -> Self {
        Self::Submit(SubmitError::Refused(Box::new(reason)))
    }

    /// Something that the bank does not hold itself did not answer: try again later.
    #[must_use]
    pub const fn unavailable() -> Self {
        Self::Submit(SubmitError::Unavailable)
    }

    /// The code of the refusal, when it is one.
    #[must_use]
    pub fn code(&self) -> Option<&'static str> {
        match self {
            Self::Submit(SubmitError::Refused(reason)) => Some(reason.code()),
            Self::Submit(SubmitError::KeyReused | SubmitError::Busy | SubmitError::Unavailable)
            | Self::Store(_) => None,
        }
    }
}

impl From<HashingFailed> for CommandError {
    fn from(_: HashingFailed) -> Self {
        Self::unavailable()
    }
}

/// Carries out what asks how things are before it submits. A repeat is answered as then, whatever they have come to since: it is
/// looked for before anything else, and once more when the answer is no, for the same request may have got through another way.
///
/// # Errors
/// Those of `does`, and when the store cannot be reached.
pub async fn once<E: From<CommandError>>(
    journal: &Journal,
    context: Context,
    does: impl AsyncFnOnce(Context) -> Result<Committed, E>,
) -> Result<Committed, E> {
    if let Some(done) = repeated(journal, &context).await? {
        return Ok(done);
    }
    match does(context.clone()).await {
        Err(no) => match repeated(journal, &context).await {
            Ok(Some(done)) => Ok(done),
            Ok(None) | Err(_) => Err(no),
        },
        done => done,
    }
}

/// The answer to a repeat of what was carried out under the context's key; none when nothing was.
///
/// # Errors
/// When the store cannot be reached.
async fn repeated(journal: &Journal, context: &Context) -> Result<Option<Committed>, CommandError> {
    if !journal.knows(context).await? {
        return Ok(None);
    }
    Ok(Some(journal.submit(Unit::new(context.clone())).await?))
}
