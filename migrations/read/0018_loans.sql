-- Loans from their application on; what happened on each; and what analysts ask of all that are owed.
CREATE TABLE loans (
    loan_id               text        COLLATE "C" NOT NULL PRIMARY KEY,
    owner                 text        COLLATE "C" NOT NULL,
    application_number    text        COLLATE "C" NOT NULL,
    loan_number           text        COLLATE "C" NOT NULL,
    product_id            text        COLLATE "C" NOT NULL,
    product_name          text        NOT NULL,
    currency              text        COLLATE "C" NOT NULL,
    amount                bigint      NOT NULL,
    tenure                integer     NOT NULL,
    account_number        text        COLLATE "C" NOT NULL,
    purpose               text,
    employment_type       text        COLLATE "C",
    monthly_income        bigint      NOT NULL,
    employer_name         text,
    employment_duration   bigint,
    existing_loans        jsonb       NOT NULL,
    collateral_type       text        COLLATE "C" NOT NULL,
    guarantor_required    boolean     NOT NULL,
    status                text        COLLATE "C" NOT NULL,
    interest_rate         numeric     NOT NULL,
    monthly_payment       bigint      NOT NULL,
    total_interest        bigint      NOT NULL,
    total_amount          bigint      NOT NULL,
    processing_fee        bigint      NOT NULL,
    insurance_fee         bigint      NOT NULL,
    required_documents    text[]      NOT NULL,
    missing_documents     text[]      NOT NULL,
    guarantors            jsonb       NOT NULL,
    collaterals           jsonb       NOT NULL,
    documents             jsonb       NOT NULL,
    reviewer_comments     text,
    submitted_at          timestamptz NOT NULL,
    approved_at           timestamptz,
    approval_expires_at   timestamptz,
    disbursed_at          timestamptz,
    closed_at             timestamptz,
    book                  jsonb       NOT NULL,
    principal_outstanding bigint      NOT NULL,
    interest_outstanding  bigint      NOT NULL,
    total_paid            bigint      NOT NULL,
    updated_at            timestamptz NOT NULL,
    version               bigint      NOT NULL,
    last_position         bigint      NOT NULL
);
CREATE INDEX loans_of_owner ON loans (owner, submitted_at DESC);
CREATE INDEX loans_by_status ON loans (status, submitted_at DESC);

COMMENT ON TABLE loans IS 'Loans from their application on; sums in minor units of currency.';
COMMENT ON COLUMN loans.loan_id IS 'loan_ and a UUID.';
COMMENT ON COLUMN loans.owner IS 'User id of the borrower.';
COMMENT ON COLUMN loans.application_number IS 'What people call the application.';
COMMENT ON COLUMN loans.loan_number IS 'What people call the loan.';
COMMENT ON COLUMN loans.product_id IS 'Product it was applied for on.';
COMMENT ON COLUMN loans.product_name IS 'Name of the product then.';
COMMENT ON COLUMN loans.currency IS 'ISO 4217.';
COMMENT ON COLUMN loans.amount IS 'What was asked for, and is or was lent.';
COMMENT ON COLUMN loans.tenure IS 'Months.';
COMMENT ON COLUMN loans.account_number IS 'The borrower''s account that it is paid into and collected from.';
COMMENT ON COLUMN loans.purpose IS 'What it is for, in the borrower''s words.';
COMMENT ON COLUMN loans.employment_type IS 'EMPLOYED, SELF_EMPLOYED ..., as the borrower says.';
COMMENT ON COLUMN loans.monthly_income IS 'As the borrower says.';
COMMENT ON COLUMN loans.employer_name IS 'As the borrower says.';
COMMENT ON COLUMN loans.employment_duration IS 'Months, as the borrower says.';
COMMENT ON COLUMN loans.existing_loans IS 'What the borrower says they owe: lender, amount, monthly_payment.';
COMMENT ON COLUMN loans.collateral_type IS 'What the borrower meant to secure it with; NONE for nothing.';
COMMENT ON COLUMN loans.guarantor_required IS 'Whether it is approved only with a verified guarantor.';
COMMENT ON COLUMN loans.status IS 'PENDING, UNDER_REVIEW, APPROVED, REJECTED, WITHDRAWN, EXPIRED, DISBURSED, CLOSED or WRITTEN_OFF.';
COMMENT ON COLUMN loans.interest_rate IS 'Percent a year.';
COMMENT ON COLUMN loans.monthly_payment IS 'Principal and interest each month; the last payment may differ.';
COMMENT ON COLUMN loans.total_interest IS 'Interest of all months.';
COMMENT ON COLUMN loans.total_amount IS 'Principal and interest of all months.';
COMMENT ON COLUMN loans.processing_fee IS 'Taken when it is paid out.';
COMMENT ON COLUMN loans.insurance_fee IS 'Taken when it is paid out.';
COMMENT ON COLUMN loans.required_documents IS 'What it is not approved without.';
COMMENT ON COLUMN loans.missing_documents IS 'What of these was not handed in, or was rejected.';
COMMENT ON COLUMN loans.guarantors IS 'Who vouches for it, and whether staff have verified them.';
COMMENT ON COLUMN loans.collaterals IS 'What secures it, and whether staff have verified it.';
COMMENT ON COLUMN loans.documents IS 'What was handed in, and whether staff have verified it.';
COMMENT ON COLUMN loans.reviewer_comments IS 'What staff said last.';
COMMENT ON COLUMN loans.submitted_at IS 'When it was applied for.';
COMMENT ON COLUMN loans.approved_at IS 'When it was approved.';
COMMENT ON COLUMN loans.approval_expires_at IS 'Until when it could be paid out.';
COMMENT ON COLUMN loans.disbursed_at IS 'When it was paid out.';
COMMENT ON COLUMN loans.closed_at IS 'When it was paid back or given up.';
COMMENT ON COLUMN loans.book IS 'Its instalments (number, due, principal, interest, and what was paid of them) and the interest accrued so far.';
COMMENT ON COLUMN loans.principal_outstanding IS 'Principal that is owed.';
COMMENT ON COLUMN loans.interest_outstanding IS 'Interest that has accrued and is not paid.';
COMMENT ON COLUMN loans.total_paid IS 'What was paid so far.';
COMMENT ON COLUMN loans.updated_at IS 'When it last changed.';
COMMENT ON COLUMN loans.version IS 'Events so far, which If-Match refers to.';
COMMENT ON COLUMN loans.last_position IS 'Position of the last event that changed the row.';

CREATE TABLE loan_entries (
    loan_id        text        COLLATE "C" NOT NULL,
    transaction_id text        COLLATE "C" NOT NULL,
    recorded_at    timestamptz NOT NULL,
    type           text        COLLATE "C" NOT NULL,
    description    text        NOT NULL,
    amount         bigint      NOT NULL,
    balance        bigint      NOT NULL,
    last_position  bigint      NOT NULL,
    PRIMARY KEY (loan_id, transaction_id)
);

COMMENT ON TABLE loan_entries IS 'What happened on each loan; sums in minor units of its currency.';
COMMENT ON COLUMN loan_entries.loan_id IS 'The loan.';
COMMENT ON COLUMN loan_entries.transaction_id IS 'The transaction that moved the money.';
COMMENT ON COLUMN loan_entries.recorded_at IS 'When.';
COMMENT ON COLUMN loan_entries.type IS 'DISBURSEMENT, INTEREST, PAYMENT or WRITE_OFF.';
COMMENT ON COLUMN loan_entries.description IS 'The same in words.';
COMMENT ON COLUMN loan_entries.amount IS 'Positive for what the borrower owes more, negative for what they owe less.';
COMMENT ON COLUMN loan_entries.balance IS 'Principal and accrued interest owed after it: the balance before plus the amount.';
COMMENT ON COLUMN loan_entries.last_position IS 'Position of the event.';

CREATE TABLE loan_portfolio (
    loan_id               text        COLLATE "C" NOT NULL PRIMARY KEY,
    owner                 text        COLLATE "C" NOT NULL,
    product_id            text        COLLATE "C" NOT NULL,
    currency              text        COLLATE "C" NOT NULL,
    disbursed_at          timestamptz NOT NULL,
    principal_outstanding bigint      NOT NULL,
    interest_outstanding  bigint      NOT NULL,
    arrears               bigint      NOT NULL,
    arrears_since         date,
    days_past_due         bigint      NOT NULL,
    bucket                text        COLLATE "C" NOT NULL,
    last_position         bigint      NOT NULL
);

COMMENT ON TABLE loan_portfolio IS 'Loans that are owed, one row each; sums in minor units of currency. A loan that is paid back or given up leaves it.';
COMMENT ON COLUMN loan_portfolio.loan_id IS 'The loan.';
COMMENT ON COLUMN loan_portfolio.owner IS 'User id of the borrower.';
COMMENT ON COLUMN loan_portfolio.product_id IS 'Product it was applied for on.';
COMMENT ON COLUMN loan_portfolio.currency IS 'ISO 4217.';
COMMENT ON COLUMN loan_portfolio.disbursed_at IS 'When it was paid out.';
COMMENT ON COLUMN loan_portfolio.principal_outstanding IS 'Principal that is owed.';
COMMENT ON COLUMN loan_portfolio.interest_outstanding IS 'Interest that has accrued and is not paid.';
COMMENT ON COLUMN loan_portfolio.arrears IS 'What was due and not paid when the row last changed.';
COMMENT ON COLUMN loan_portfolio.arrears_since IS 'When the oldest unpaid instalment was due; null when nothing is late.';
COMMENT ON COLUMN loan_portfolio.days_past_due IS 'Days from then to the day the row last changed; the row changes whenever the loan reaches another bucket.';
COMMENT ON COLUMN loan_portfolio.bucket IS '0, 1-30, 31-60, 61-90 or 90+ days past due.';
COMMENT ON COLUMN loan_portfolio.last_position IS 'Position of the last event that changed the row.';
