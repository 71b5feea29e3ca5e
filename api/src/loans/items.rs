//! What is handed in for an application: who vouches for it, what secures it.

use axum::extract::State;
use bursar_commands::loans;
use bursar_domain::kernel::{CollateralId, GuarantorId, LoanId, UserId, micros};
use bursar_domain::loans::{
    Collateral, CollateralType, EmploymentType, Guarantor, Insurance, ItemStatus, LoanEvent,
};
use bursar_domain::{Amount, Event, Personal, Recorded};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::WriteTransactions;
use crate::openapi::{IfMatch, WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request;
use crate::request::{Code, Email, InPath, Minor, OneOf, Phone, Text, Title, Write};

request! {
    /// Where somebody lives.
    GuarantorAddress {
        /// Street and number.
        street: Option<Text<200>> = "street",
        /// City.
        city: Option<Text<100>> = "city",
        /// State or region.
        state: Option<Text<100>> = "state",
        /// Postal code.
        postal_code: Option<Text<20>> = "postalCode",
        /// Country.
        country: Option<Text<100>> = "country",
    }
}

request! {
    /// Somebody who vouches for a loan.
    GuarantorRequest {
        /// First name.
        first_name: Title<100> = "firstName",
        /// Last name.
        last_name: Title<100> = "lastName",
        /// Where they can be written to.
        email: Option<Email> = "email",
        /// Where they can be called, E.164.
        phone_number: Option<Phone> = "phoneNumber",
        /// What they are to the caller: `SIBLING`, `COLLEAGUE` ...
        relationship: Option<Code<40>> = "relationship",
        /// How they earn their living.
        employment_type: Option<OneOf<EmploymentType>> = "employmentType",
        /// What they earn a month, minor units.
        monthly_income: Option<Minor> = "monthlyIncome",
        /// Who employs them.
        employer_name: Option<Title<140>> = "employerName",
        /// Where they live.
        address: Option<GuarantorAddress> = "address",
    }
}

request! {
    /// How a collateral is insured.
    InsuranceRequest {
        /// The policy.
        policy_number: Option<Text<64>> = "policyNumber",
        /// Who insures it.
        insurance_company: Option<Text<140>> = "insuranceCompany",
        /// Until when.
        expiry_date: Option<Timestamp> = "expiryDate",
    }
}

request! {
    /// Something that secures a loan.
    CollateralRequest {
        /// What it is.
        collateral_type: OneOf<CollateralType> = "collateralType",
        /// What it is, in words.
        description: Text<500> = "description",
        /// What it is worth, minor units.
        estimated_value: Amount = "estimatedValue",
        /// Where it is.
        location: Option<Text<200>> = "location",
        /// What shows whose it is.
        ownership_document: Option<Text<140>> = "ownershipDocument",
        /// The number of that document.
        document_number: Option<Text<64>> = "documentNumber",
        /// How it is insured.
        insurance_details: Option<InsuranceRequest> = "insuranceDetails",
        /// What was found of its worth, in words.
        valuation_report: Option<Text<2000>> = "valuationReport",
        /// When.
        valuation_date: Option<Timestamp> = "valuationDate",
    }
}

/// Somebody who vouches for a loan was added.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GuarantorAdded {
    /// `SUCCESS`.
    status: &'static str,
    guarantor_id: String,
    loan_id: String,
    first_name: String,
    last_name: String,
    email: Option<String>,
    phone_number: Option<String>,
    relationship: Option<String>,
    employment_type: Option<&'static str>,
    /// Minor units.
    monthly_income: Option<i64>,
    employer_name: Option<String>,
    /// `PENDING` until staff have looked.
    verification_status: &'static str,
    submitted_at: Timestamp,
    message: &'static str,
}

/// Something that secures a loan was added.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CollateralAdded {
    /// `SUCCESS`.
    status: &'static str,
    collateral_id: String,
    loan_id: String,
    collateral_type: &'static str,
    description: String,
    /// Minor units.
    estimated_value: i64,
    location: Option<String>,
    ownership_document: Option<String>,
    document_number: Option<String>,
    /// `PENDING` until staff have looked.
    verification_status: &'static str,
    submitted_at: Timestamp,
    message: &'static str,
}

/// Adds somebody who vouches for an application of the caller, until it is decided.
#[utoipa::path(
    post, path = "/v1/loans/{loanId}/guarantors", tag = "Loans",
    params(InPath<LoanId>, WriteHeaders, IfMatch), request_body = GuarantorRequest,
    responses((status = 201, description = "Added.", body = GuarantorAdded), WriteProblems)
)]
pub(super) async fn add_guarantor(
    State(app): State<App>,
    id: InPath<LoanId>,
    write: Write<WriteTransactions, GuarantorRequest>,
) -> Result<Answer<GuarantorAdded>, Problem> {
    let Write { caller, body, context, .. } = write;
    let loan_id = id.get()?;
    let owner = caller.user();
    let name = |id| guarantor(id, owner, body);
    let committed = loans::add_guarantor(&app.journal, context, caller.user(), loan_id, name).await?;
    let (recorded, guarantor) = committed.event(|event| match event {
        Event::Loan(LoanEvent::GuarantorAdded(guarantor)) => Some(&**guarantor),
        _ => None,
    })?;
    let location = format!("/v1/loans/{loan_id}");
    Ok(Answer::ok(GuarantorAdded::of(recorded, guarantor)).at(&committed).created(&location))
}

/// Adds something that secures an application of the caller, until it is decided.
#[utoipa::path(
    post, path = "/v1/loans/{loanId}/collateral", tag = "Loans",
    params(InPath<LoanId>, WriteHeaders, IfMatch), request_body = CollateralRequest,
    responses((status = 201, description = "Added.", body = CollateralAdded), WriteProblems)
)]
pub(super) async fn add_collateral(
    State(app): State<App>,
    id: InPath<LoanId>,
    write: Write<WriteTransactions, CollateralRequest>,
) -> Result<Answer<CollateralAdded>, Problem> {
    let Write { caller, body, context, .. } = write;
    let loan_id = id.get()?;
    let owner = caller.user();
    let name = |id| collateral(id, owner, body);
    let committed = loans::add_collateral(&app.journal, context, caller.user(), loan_id, name).await?;
    let (recorded, collateral) = committed.event(|event| match event {
        Event::Loan(LoanEvent::CollateralAdded(collateral)) => Some(&**collateral),
        _ => None,
    })?;
    let location = format!("/v1/loans/{loan_id}");
    Ok(Answer::ok(CollateralAdded::of(recorded, collateral)).at(&committed).created(&location))
}

fn guarantor(id: GuarantorId, owner: UserId, body: GuarantorRequest) -> Guarantor {
    let lines = |address: GuarantorAddress| -> Vec<String> {
        let GuarantorAddress { street, city, state, postal_code, country } = address;
        let lines = [
            street.map(String::from),
            city.map(String::from),
            state.map(String::from),
            postal_code.map(String::from),
            country.map(String::from),
        ];
        lines.into_iter().flatten().collect()
    };
    Guarantor {
        id,
        owner,
        first_name: Personal::new(body.first_name.into()),
        last_name: Personal::new(body.last_name.into()),
        email: body.email.map(|email| Personal::new(email.into())),
        phone_number: body.phone_number.map(|phone| Personal::new(phone.into())),
        relationship: body.relationship.map(String::from),
        employment_type: body.employment_type.map(|OneOf(kind)| kind),
        monthly_income: body.monthly_income.map(|Minor(income)| income),
        employer_name: body.employer_name.map(|name| Personal::new(name.into())),
        address: body.address.map(|address| Personal::new(lines(address))),
    }
}

fn collateral(id: CollateralId, owner: UserId, body: CollateralRequest) -> Collateral {
    Collateral {
        id,
        owner,
        collateral_type: body.collateral_type.0,
        description: body.description.into(),
        estimated_value: body.estimated_value,
        location: body.location.map(|place| Personal::new(place.into())),
        ownership_document: body.ownership_document.map(String::from),
        document_number: body.document_number.map(String::from),
        insurance: body.insurance_details.map(|insurance| Insurance {
            policy_number: insurance.policy_number.map(String::from),
            company: insurance.insurance_company.map(String::from),
            expires_at: insurance.expiry_date.map(micros),
        }),
        valuation_report: body.valuation_report.map(String::from),
        valuation_date: body.valuation_date.map(micros),
    }
}

fn shown(personal: &Personal<String>) -> String {
    personal.or_erased().to_owned()
}

impl GuarantorAdded {
    fn of(recorded: &Recorded, guarantor: &Guarantor) -> Self {
        Self {
            status: "SUCCESS",
            guarantor_id: guarantor.id.to_string(),
            loan_id: recorded.stream.id.to_string(),
            first_name: shown(&guarantor.first_name),
            last_name: shown(&guarantor.last_name),
            email: guarantor.email.as_ref().map(shown),
            phone_number: guarantor.phone_number.as_ref().map(shown),
            relationship: guarantor.relationship.clone(),
            employment_type: guarantor.employment_type.map(EmploymentType::as_str),
            monthly_income: guarantor.monthly_income,
            employer_name: guarantor.employer_name.as_ref().map(shown),
            verification_status: ItemStatus::Pending.as_str(),
            submitted_at: recorded.recorded_at,
            message: "Guarantor added",
        }
    }
}

impl CollateralAdded {
    fn of(recorded: &Recorded, collateral: &Collateral) -> Self {
        Self {
            status: "SUCCESS",
            collateral_id: collateral.id.to_string(),
            loan_id: recorded.stream.id.to_string(),
            collateral_type: collateral.collateral_type.as_str(),
            description: collateral.description.clone(),
            estimated_value: collateral.estimated_value.minor(),
            location: collateral.location.as_ref().map(shown),
            ownership_document: collateral.ownership_document.clone(),
            document_number: collateral.document_number.clone(),
            verification_status: ItemStatus::Pending.as_str(),
            submitted_at: recorded.recorded_at,
            message: "Collateral added",
        }
    }
}
