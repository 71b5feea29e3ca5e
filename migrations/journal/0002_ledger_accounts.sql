-- What the ledger knows of each account, written by the commit that changes it. A cache of the log:
-- `bursar audit replay` recomputes every row.
CREATE TABLE ledger_accounts (
    account          text        COLLATE "C" NOT NULL PRIMARY KEY,
    owner            text        COLLATE "C",
    currency         text        COLLATE "C" NOT NULL,
    status           text        COLLATE "C" NOT NULL,
    balance          bigint      NOT NULL,
    holds            bigint      NOT NULL,
    overdraft_limit  bigint      NOT NULL,
    minimum_balance  bigint      NOT NULL,
    maximum_balance  bigint,
    daily_limit      bigint,
    monthly_limit    bigint,
    spent_on         date,
    spent_today      bigint      NOT NULL,
    spent_this_month bigint      NOT NULL,
    last_posted_at   timestamptz
) WITH (fillfactor = 40);

COMMENT ON TABLE ledger_accounts IS 'Balances, terms and limits of every account, customer and internal; sums in minor units.';
COMMENT ON COLUMN ledger_accounts.account IS 'Account number, or bank:role:currency for the bank''s own.';
COMMENT ON COLUMN ledger_accounts.owner IS 'User id of the holder; null for the bank''s own.';
COMMENT ON COLUMN ledger_accounts.currency IS 'ISO 4217.';
COMMENT ON COLUMN ledger_accounts.status IS 'ACTIVE, FROZEN, DORMANT or CLOSED.';
COMMENT ON COLUMN ledger_accounts.balance IS 'Sum of all postings.';
COMMENT ON COLUMN ledger_accounts.holds IS 'Reserved, not available.';
COMMENT ON COLUMN ledger_accounts.overdraft_limit IS 'How far below zero the balance may go.';
COMMENT ON COLUMN ledger_accounts.minimum_balance IS 'What must stay in the account.';
COMMENT ON COLUMN ledger_accounts.maximum_balance IS 'What the account may hold at most; null for no bound.';
COMMENT ON COLUMN ledger_accounts.daily_limit IS 'Outgoing debits a UTC day; null for no limit.';
COMMENT ON COLUMN ledger_accounts.monthly_limit IS 'Outgoing debits a UTC month; null for no limit.';
COMMENT ON COLUMN ledger_accounts.spent_on IS 'UTC day of the latest limited debit.';
COMMENT ON COLUMN ledger_accounts.spent_today IS 'Limited debits on spent_on.';
COMMENT ON COLUMN ledger_accounts.spent_this_month IS 'Limited debits in the month of spent_on.';
COMMENT ON COLUMN ledger_accounts.last_posted_at IS 'When it was last posted to.';
