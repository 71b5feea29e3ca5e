-- The products accounts can be opened on, with their latest terms.
CREATE TABLE products (
    product_id           text    COLLATE "C" NOT NULL PRIMARY KEY,
    product_name         text    NOT NULL,
    product_type         text    COLLATE "C" NOT NULL,
    description          text    NOT NULL,
    currency             text    COLLATE "C" NOT NULL,
    interest_rate        numeric NOT NULL,
    minimum_balance      bigint  NOT NULL,
    minimum_deposit      bigint  NOT NULL,
    maximum_balance      bigint,
    overdraft_limit      bigint  NOT NULL,
    daily_limit          bigint,
    monthly_limit        bigint,
    features             text[]  NOT NULL,
    eligibility_criteria text[]  NOT NULL,
    is_active            boolean NOT NULL,
    last_position        bigint  NOT NULL
);

COMMENT ON TABLE products IS 'Products and their latest terms; sums in minor units of currency. Running contracts keep the terms they were opened on.';
COMMENT ON COLUMN products.product_id IS 'Code, such as SAV-001.';
COMMENT ON COLUMN products.product_name IS 'What people read.';
COMMENT ON COLUMN products.product_type IS 'Kind of account it opens: CURRENT, SAVINGS or TARGET_SAVINGS.';
COMMENT ON COLUMN products.description IS 'A sentence or two.';
COMMENT ON COLUMN products.currency IS 'ISO 4217.';
COMMENT ON COLUMN products.interest_rate IS 'Percent a year.';
COMMENT ON COLUMN products.minimum_balance IS 'What must stay in an account.';
COMMENT ON COLUMN products.minimum_deposit IS 'The least an account is opened with.';
COMMENT ON COLUMN products.maximum_balance IS 'What an account may hold at most; null for no bound.';
COMMENT ON COLUMN products.overdraft_limit IS 'How far below zero an account may go.';
COMMENT ON COLUMN products.daily_limit IS 'Outgoing debits a UTC day; null for no limit.';
COMMENT ON COLUMN products.monthly_limit IS 'Outgoing debits a UTC month; null for no limit.';
COMMENT ON COLUMN products.features IS 'What comes with an account: DEBIT_CARD, INTEREST_EARNING ...';
COMMENT ON COLUMN products.eligibility_criteria IS 'Who may have it, in words.';
COMMENT ON COLUMN products.is_active IS 'Whether accounts can be opened on it now.';
COMMENT ON COLUMN products.last_position IS 'Position of the last event that changed this row.';
