-- The bank's books at the end of each UTC day: a few dozen rows a day, all customers in two of them.
CREATE TABLE trial_balance (
    day            date   NOT NULL,
    currency       text   COLLATE "C" NOT NULL,
    ledger_account text   COLLATE "C" NOT NULL,
    class          text   COLLATE "C" NOT NULL,
    debits         bigint NOT NULL,
    credits        bigint NOT NULL,
    balance        bigint NOT NULL,
    last_position  bigint NOT NULL,
    PRIMARY KEY (day, currency, ledger_account)
);

COMMENT ON TABLE trial_balance IS 'Every ledger account at the end of each UTC day, quiet days included, up to the last day on which money moved; minor units of currency. The balances of a day and currency sum to zero.';
COMMENT ON COLUMN trial_balance.day IS 'UTC day.';
COMMENT ON COLUMN trial_balance.currency IS 'ISO 4217.';
COMMENT ON COLUMN trial_balance.ledger_account IS 'Role of one of the bank''s own accounts, such as cash or loan_principal; customer_deposits and customer_overdrafts for all customers'' accounts above and below zero.';
COMMENT ON COLUMN trial_balance.class IS 'ASSET, LIABILITY, INCOME or EXPENSE.';
COMMENT ON COLUMN trial_balance.debits IS 'What was taken from it on the day, as a positive sum.';
COMMENT ON COLUMN trial_balance.credits IS 'What was added to it on the day.';
COMMENT ON COLUMN trial_balance.balance IS 'Sum of all postings up to the end of the day: negative for what the bank has or spent, positive for what it owes or earned.';
COMMENT ON COLUMN trial_balance.last_position IS 'Position of the last event that moved it.';

CREATE TABLE balance_sheet (
    day           date   NOT NULL,
    currency      text   COLLATE "C" NOT NULL,
    side          text   COLLATE "C" NOT NULL,
    line          text   COLLATE "C" NOT NULL,
    amount        bigint NOT NULL,
    last_position bigint NOT NULL,
    PRIMARY KEY (day, currency, side, line)
);

COMMENT ON TABLE balance_sheet IS 'What the bank has, what it owes and what is left, at the end of each UTC day; minor units of currency. Assets are liabilities plus equity.';
COMMENT ON COLUMN balance_sheet.day IS 'UTC day.';
COMMENT ON COLUMN balance_sheet.currency IS 'ISO 4217.';
COMMENT ON COLUMN balance_sheet.side IS 'ASSET, LIABILITY or EQUITY.';
COMMENT ON COLUMN balance_sheet.line IS 'The ledger account, as in trial_balance; earnings for all that the bank has earned less all that it has spent.';
COMMENT ON COLUMN balance_sheet.amount IS 'As people read it: positive for an asset the bank has, and for a liability it owes.';
COMMENT ON COLUMN balance_sheet.last_position IS 'Position of the last event that moved it.';
