-- Customer accounts as their events tell them. Room in each page keeps updates of balances within it (HOT).
CREATE TABLE accounts (
    account_number      text        COLLATE "C" NOT NULL PRIMARY KEY,
    owner               text        COLLATE "C" NOT NULL,
    account_name        text        NOT NULL,
    account_type        text        COLLATE "C" NOT NULL,
    product_id          text        COLLATE "C" NOT NULL,
    product_name        text        NOT NULL,
    currency            text        COLLATE "C" NOT NULL,
    status              text        COLLATE "C" NOT NULL,
    ledger_balance      bigint      NOT NULL,
    available_balance   bigint      NOT NULL,
    interest_rate       numeric     NOT NULL,
    minimum_balance     bigint      NOT NULL,
    overdraft_limit     bigint      NOT NULL,
    maximum_balance     bigint,
    daily_limit         bigint,
    monthly_limit       bigint,
    features            text[]      NOT NULL,
    is_default          boolean     NOT NULL,
    savings_goal        bigint,
    savings_frequency   text        COLLATE "C",
    savings_amount      bigint,
    maturity_at         timestamptz,
    opened_at           timestamptz NOT NULL,
    last_transaction_at timestamptz,
    last_position       bigint      NOT NULL
) WITH (fillfactor = 50);

CREATE INDEX accounts_of_owner ON accounts (owner, opened_at);

COMMENT ON TABLE accounts IS 'Customer accounts; sums in minor units of currency. The bank''s own accounts are in statement_entries only.';
COMMENT ON COLUMN accounts.account_number IS 'Ten digits.';
COMMENT ON COLUMN accounts.owner IS 'User id of the holder.';
COMMENT ON COLUMN accounts.account_name IS 'Name on the account.';
COMMENT ON COLUMN accounts.account_type IS 'CURRENT, SAVINGS or TARGET_SAVINGS.';
COMMENT ON COLUMN accounts.product_id IS 'Product it was opened on.';
COMMENT ON COLUMN accounts.product_name IS 'Name of the product then.';
COMMENT ON COLUMN accounts.currency IS 'ISO 4217.';
COMMENT ON COLUMN accounts.status IS 'ACTIVE, FROZEN, DORMANT or CLOSED.';
COMMENT ON COLUMN accounts.ledger_balance IS 'Sum of all postings up to last_position.';
COMMENT ON COLUMN accounts.available_balance IS 'What a debit may take: ledger_balance - holds + overdraft_limit - minimum_balance.';
COMMENT ON COLUMN accounts.interest_rate IS 'Percent a year.';
COMMENT ON COLUMN accounts.minimum_balance IS 'What must stay in the account.';
COMMENT ON COLUMN accounts.overdraft_limit IS 'How far below zero the balance may go.';
COMMENT ON COLUMN accounts.maximum_balance IS 'What the account may hold at most; null for no bound.';
COMMENT ON COLUMN accounts.daily_limit IS 'Outgoing debits a UTC day; null for no limit.';
COMMENT ON COLUMN accounts.monthly_limit IS 'Outgoing debits a UTC month; null for no limit.';
COMMENT ON COLUMN accounts.features IS 'What comes with it: ONLINE_BANKING, DEBIT_CARD ...';
COMMENT ON COLUMN accounts.is_default IS 'Whether it is the first account of its owner.';
COMMENT ON COLUMN accounts.savings_goal IS 'Goal of a target savings account.';
COMMENT ON COLUMN accounts.savings_frequency IS 'How often the owner plans to save: WEEKLY, MONTHLY.';
COMMENT ON COLUMN accounts.savings_amount IS 'Each planned contribution.';
COMMENT ON COLUMN accounts.maturity_at IS 'When the savings plan ends.';
COMMENT ON COLUMN accounts.opened_at IS 'When it was opened.';
COMMENT ON COLUMN accounts.last_transaction_at IS 'When it was last posted to.';
COMMENT ON COLUMN accounts.last_position IS 'Position of the last event that changed this row.';
