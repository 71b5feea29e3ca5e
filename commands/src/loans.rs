//! Loans: asked for by customers, decided by staff, paid out, paid back, collected.
//!
//! Money moves by a payment in the unit of the loan's command. Whoever makes the unit asks the loan what the payment must be;
//! the loan checks it once more, so that two payments at once cannot both count on the same instalment.

mod collect;
mod pay;

use bursar_domain::kernel::{CollateralId, DocumentId, FileType, GuarantorId, LoanId, UserId};
use bursar_domain::loan_products::LoanDocumentType;
use bursar_domain::loans::{
    Application, Case, CheckOutcome, Collateral, CollateralType, EmploymentType, ExistingLoan, Guarantor,
    Item, Loan, LoanCommand, LoanDocument, LoanError, LoanStatus, loan_number,
};
use bursar_domain::messages::{Category, MessagesCommand};
use bursar_domain::{Aggregate as _, Amount, Personal};

pub use collect::{CollectLoans, ExpireApprovals};
pub use pay::{Instruction, disburse, repay, write_off};

use crate::files::Files;
use crate::journal::Holding;
use crate::messages::notice;
use crate::owned::{CommandError, NotFound, Owned, once};
use crate::{Committed, Context, Journal, Unit, loan_products};

/// What somebody asks for and says of themselves.
#[derive(Debug, Clone)]
pub struct NewLoan {
    /// The product's code.
    pub product_id: String,
    /// How much, minor units.
    pub amount: Amount,
    /// Months.
    pub tenure: u32,
    /// The account it is to be paid into and collected from.
    pub account: Owned<Holding>,
    /// What it is for.
    pub purpose: Option<String>,
    /// How they earn their living.
    pub employment_type: Option<EmploymentType>,
    /// What they earn a month, minor units.
    pub monthly_income: Amount,
    /// Who employs them.
    pub employer_name: Option<String>,
    /// For how many months.
    pub employment_duration: Option<i64>,
    /// What they owe already.
    pub existing_loans: Vec<ExistingLoan>,
    /// What they mean to secure it with.
    pub collateral_type: CollateralType,
    /// Whether they want somebody to vouch.
    pub guarantor_required: bool,
}

/// Applies for a loan on the product's terms of now.
///
/// # Errors
/// `NOT_FOUND` for the product, `CURRENCY_MISMATCH`, `AMOUNT_OUT_OF_RANGE`, `TENURE_OUT_OF_RANGE`.
pub async fn apply(journal: &Journal, context: Context, new: NewLoan) -> Result<Committed, CommandError> {
    // Answered as then, whatever became of the product.
    once(journal, context, async |context| {
        let terms = loan_products::on_offer(journal, &new.product_id).await?;
        if new.account.currency != terms.currency {
            return Err(CommandError::refused(LoanError::CurrencyMismatch { expected: terms.currency }));
        }
        let application = Application {
            owner: new.account.owner(),
            product_id: new.product_id,
            terms,
            amount: new.amount,
            tenure: new.tenure,
            account: new.account.number.clone(),
            purpose: new.purpose,
            employment_type: new.employment_type,
            monthly_income: new.monthly_income,
            employer_name: new.employer_name,
            employment_duration: new.employment_duration,
            existing_loans: new.existing_loans,
            collateral_type: new.collateral_type,
            guarantor_required: new.guarantor_required,
        };
        let id = LoanId::mint(journal.sources());
        let unit = Unit::new(context).create(id, LoanCommand::Apply(Box::new(application)));
        Ok(journal.submit(unit).await?)
    })
    .await
}

/// Ends an application of `owner`'s because they want it no more.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` once it is decided.
pub async fn withdraw(
    journal: &Journal,
    context: Context,
    owner: UserId,
    id: LoanId,
    reason: Option<String>,
) -> Result<Committed, CommandError> {
    let unit = Unit::new(context).step_of(owner, id, LoanCommand::Withdraw { reason });
    Ok(journal.submit(unit).await?)
}

/// Adds somebody who vouches for an application of `owner`'s; `name` is given the id.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` once it is decided; `LIMIT_EXCEEDED`.
pub async fn add_guarantor(
    journal: &Journal,
    context: Context,
    owner: UserId,
    id: LoanId,
    name: impl FnOnce(GuarantorId) -> Guarantor,
) -> Result<Committed, CommandError> {
    let guarantor = name(GuarantorId::mint(journal.sources()));
    let unit = Unit::new(context).step_of(owner, id, LoanCommand::AddGuarantor(Box::new(guarantor)));
    Ok(journal.submit(unit).await?)
}

/// Adds something that secures an application of `owner`'s; `name` is given the id.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` once it is decided; `LIMIT_EXCEEDED`.
pub async fn add_collateral(
    journal: &Journal,
    context: Context,
    owner: UserId,
    id: LoanId,
    name: impl FnOnce(CollateralId) -> Collateral,
) -> Result<Committed, CommandError> {
    let collateral = name(CollateralId::mint(journal.sources()));
    let unit = Unit::new(context).step_of(owner, id, LoanCommand::AddCollateral(Box::new(collateral)));
    Ok(journal.submit(unit).await?)
}

/// A document as it is handed in.
#[derive(Debug, Clone)]
pub struct NewDocument {
    /// What it is.
    pub document_type: LoanDocumentType,
    /// What its owner calls it.
    pub name: Option<String>,
    /// What they say about it.
    pub description: Option<String>,
    /// What the file should be.
    pub file_type: FileType,
    /// Its bytes.
    pub content: Vec<u8>,
}

/// Adds a document to an application of `owner`'s. Its bytes are kept outside the log, encrypted for them.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` once it is decided; `LIMIT_EXCEEDED`; `FILE_TYPE_MISMATCH`, `FILE_DAMAGED`, `FILE_NOT_PLAIN`,
/// `IMAGE_TOO_LARGE`.
pub async fn add_document(
    journal: &Journal,
    files: &Files,
    context: Context,
    owner: UserId,
    id: LoanId,
    new: NewDocument,
) -> Result<Committed, CommandError> {
    // A repeat brings nothing that is not there.
    once(journal, context, async |context| {
        // Nothing is stored for a loan that takes nothing; the unit asks once more.
        let (loan, _) = owned(journal, owner, id).await?;
        if !matches!(loan, Loan::Pending(_) | Loan::UnderReview(_)) {
            let state = loan.status().map_or("ABSENT", LoanStatus::as_str);
            return Err(CommandError::refused(LoanError::InvalidState { state }));
        }
        let size = u64::try_from(new.content.len()).unwrap_or(u64::MAX);
        let content = files.check(new.file_type, new.content).await?;
        let file = files.put(journal, owner, new.file_type, content).await?;
        let document = LoanDocument {
            id: DocumentId::mint(journal.sources()),
            owner,
            document_type: new.document_type,
            name: new.name.map(Personal::new),
            description: new.description.map(Personal::new),
            file: file.clone(),
            size,
        };
        let unit = Unit::new(context).step_of(owner, id, LoanCommand::AddDocument(Box::new(document)));
        files.submit(journal, unit, id, &[&file]).await
    })
    .await
}

/// Staff: decides about something that was handed in.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` once it or the application is decided; `SAME_PERSON`.
pub async fn check(
    journal: &Journal,
    context: Context,
    by: UserId,
    id: LoanId,
    item: Item,
    (outcome, note): (CheckOutcome, Option<String>),
) -> Result<Committed, CommandError> {
    let command = LoanCommand::Check { item, outcome, note, by };
    Ok(journal.submit(Unit::new(context).step(id, command)).await?)
}

/// Staff: looks into an application.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` unless it is pending; `SAME_PERSON`.
pub async fn start_review(
    journal: &Journal,
    context: Context,
    by: UserId,
    id: LoanId,
    note: Option<String>,
) -> Result<Committed, CommandError> {
    Ok(journal.submit(Unit::new(context).step(id, LoanCommand::StartReview { by, note })).await?)
}

/// Staff: asks the borrower for more, and tells them so.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` unless it is under review; `SAME_PERSON`.
pub async fn request_info(
    journal: &Journal,
    context: Context,
    by: UserId,
    id: LoanId,
    note: String,
) -> Result<Committed, CommandError> {
    let (_, case) = any(journal, id).await?;
    let words = format!("About your application {}: {note}", loan_number(id));
    let unit = Unit::new(context).step(id, LoanCommand::RequestInfo { by, note });
    let unit = telling(journal, unit, &case, id, "We need to know more", words);
    Ok(journal.submit(unit).await?)
}

/// Staff: approves an application, and tells the borrower. It can be paid out for 30 days.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` unless it is under review; `SAME_PERSON` for who reviewed it; `DOCUMENTS_MISSING`;
/// `GUARANTOR_NOT_VERIFIED`.
pub async fn approve(
    journal: &Journal,
    context: Context,
    by: UserId,
    id: LoanId,
    note: Option<String>,
) -> Result<Committed, CommandError> {
    let (_, case) = any(journal, id).await?;
    let now = journal.sources().clock.now();
    let words = format!("Your loan {} of {} is approved.", loan_number(id), money(&case));
    let unit = Unit::new(context).step(id, LoanCommand::Approve { by, note, now });
    let unit = telling(journal, unit, &case, id, "Your loan is approved", words);
    Ok(journal.submit(unit).await?)
}

/// Staff: refuses an application, and tells the borrower.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` once it is decided; `SAME_PERSON`.
pub async fn reject(
    journal: &Journal,
    context: Context,
    by: UserId,
    id: LoanId,
    reason: String,
) -> Result<Committed, CommandError> {
    let (_, case) = any(journal, id).await?;
    let words = format!("Your application for {} was not approved: {reason}", money(&case));
    let unit = Unit::new(context).step(id, LoanCommand::Reject { by, reason });
    let unit = telling(journal, unit, &case, id, "Your application was not approved", words);
    Ok(journal.submit(unit).await?)
}

/// The loan, whoever's it is.
///
/// # Errors
/// `NOT_FOUND`.
async fn any(journal: &Journal, id: LoanId) -> Result<(Loan, Case), CommandError> {
    let (loan, _) = journal.load::<Loan>(&id.to_string()).await?;
    let case = loan.case().cloned().ok_or_else(|| CommandError::refused(NotFound("loan")))?;
    Ok((loan, case))
}

/// The loan, if it is `owner`'s.
///
/// # Errors
/// `NOT_FOUND` when it does not exist or is somebody else's; the two cannot be told apart.
async fn owned(journal: &Journal, owner: UserId, id: LoanId) -> Result<(Loan, Case), CommandError> {
    let (loan, case) = any(journal, id).await?;
    if loan.owner() == Some(owner) { Ok((loan, case)) } else { Err(CommandError::refused(NotFound("loan"))) }
}

/// Tells the borrower, in the unit of what it is about.
fn telling(journal: &Journal, unit: Unit, case: &Case, id: LoanId, subject: &str, body: String) -> Unit {
    let mut notice = notice(journal.sources(), Category::Account, subject, body);
    notice.about.insert("loanId".to_owned(), id.to_string());
    unit.step(case.applied.owner, MessagesCommand::Post(Box::new(notice)))
}

/// The amount of a loan, for people.
fn money(case: &Case) -> String {
    let currency = case.applied.terms.currency;
    format!("{} {currency}", currency.decimal(case.applied.amount.minor().into()))
}
