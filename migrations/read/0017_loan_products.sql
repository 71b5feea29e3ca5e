-- The products loans are applied for on, with their latest terms.
CREATE TABLE loan_products (
    product_id           text    COLLATE "C" NOT NULL PRIMARY KEY,
    product_name         text    NOT NULL,
    product_type         text    COLLATE "C" NOT NULL,
    currency             text    COLLATE "C" NOT NULL,
    min_amount           bigint  NOT NULL,
    max_amount           bigint  NOT NULL,
    interest_rate        numeric NOT NULL,
    min_tenure           integer NOT NULL,
    max_tenure           integer NOT NULL,
    processing_fee       numeric NOT NULL,
    insurance_fee        numeric NOT NULL,
    eligibility_criteria text[]  NOT NULL,
    required_documents   text[]  NOT NULL,
    guarantor_required   boolean NOT NULL,
    is_active            boolean NOT NULL,
    last_position        bigint  NOT NULL
);

COMMENT ON TABLE loan_products IS 'Loan products and their latest terms; sums in minor units of currency. Applications and running loans keep the terms they were made on.';
COMMENT ON COLUMN loan_products.product_id IS 'Code, such as LN-PER-001.';
COMMENT ON COLUMN loan_products.product_name IS 'What people read.';
COMMENT ON COLUMN loan_products.product_type IS 'PERSONAL or BUSINESS.';
COMMENT ON COLUMN loan_products.currency IS 'ISO 4217.';
COMMENT ON COLUMN loan_products.min_amount IS 'The least it lends.';
COMMENT ON COLUMN loan_products.max_amount IS 'The most it lends.';
COMMENT ON COLUMN loan_products.interest_rate IS 'Percent a year.';
COMMENT ON COLUMN loan_products.min_tenure IS 'The shortest loan, months.';
COMMENT ON COLUMN loan_products.max_tenure IS 'The longest loan, months.';
COMMENT ON COLUMN loan_products.processing_fee IS 'Percent of the amount, taken when it is paid out.';
COMMENT ON COLUMN loan_products.insurance_fee IS 'Percent of the amount, taken when it is paid out.';
COMMENT ON COLUMN loan_products.eligibility_criteria IS 'Who may have it, in words.';
COMMENT ON COLUMN loan_products.required_documents IS 'What an application is not approved without.';
COMMENT ON COLUMN loan_products.guarantor_required IS 'Whether somebody must vouch for the borrower.';
COMMENT ON COLUMN loan_products.is_active IS 'Whether it can be applied for now.';
COMMENT ON COLUMN loan_products.last_position IS 'Position of the event that last changed this row.';
