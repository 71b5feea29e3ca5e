-- What each day earned follows from the days' balances and the contract, also on quiet days, which have no row: it is no
-- column. Made anew, so that the table is as a rebuild would make it.
ALTER TABLE daily_balances RENAME TO daily_balances_before;
ALTER INDEX daily_balances_pkey RENAME TO daily_balances_before_pkey;
CREATE TABLE daily_balances (
    account_number    text   COLLATE "C" NOT NULL,
    day               date   NOT NULL,
    ledger_balance    bigint NOT NULL,
    available_balance bigint NOT NULL,
    turnover_in       bigint NOT NULL,
    turnover_out      bigint NOT NULL,
    last_position     bigint NOT NULL,
    PRIMARY KEY (account_number, day)
) WITH (fillfactor = 50);
INSERT INTO daily_balances
SELECT account_number, day, ledger_balance, available_balance, turnover_in, turnover_out, last_position
  FROM daily_balances_before;
DROP TABLE daily_balances_before;

COMMENT ON TABLE daily_balances IS 'Balances at the end of each UTC day on which the account moved; minor units. A day without a row ends like the one before.';
COMMENT ON COLUMN daily_balances.account_number IS 'Account; bank:role:currency for the bank''s own.';
COMMENT ON COLUMN daily_balances.day IS 'UTC day.';
COMMENT ON COLUMN daily_balances.ledger_balance IS 'Sum of all postings up to the end of the day.';
COMMENT ON COLUMN daily_balances.available_balance IS 'What a debit could have taken at the end of the day.';
COMMENT ON COLUMN daily_balances.turnover_in IS 'Credits of the day.';
COMMENT ON COLUMN daily_balances.turnover_out IS 'Debits of the day, as a positive sum.';
COMMENT ON COLUMN daily_balances.last_position IS 'Position of the last event that changed this row.';

CREATE TABLE interest_postings (
    account_number text        COLLATE "C" NOT NULL,
    from_day       date        NOT NULL,
    through_day    date        NOT NULL,
    amount         bigint      NOT NULL,
    currency       text        COLLATE "C" NOT NULL,
    transaction_id text        COLLATE "C" NOT NULL,
    posted_at      timestamptz NOT NULL,
    position       bigint      NOT NULL,
    PRIMARY KEY (account_number, through_day)
);

COMMENT ON TABLE interest_postings IS 'Interest that savings were paid, one row each; months that earned nothing have none. Sums in minor units of currency.';
COMMENT ON COLUMN interest_postings.account_number IS 'Account that earned it.';
COMMENT ON COLUMN interest_postings.from_day IS 'First UTC day that it is for.';
COMMENT ON COLUMN interest_postings.through_day IS 'Last UTC day that it is for: the last of a month, or the day before the account was closed.';
COMMENT ON COLUMN interest_postings.amount IS 'What these days earned together, rounded once.';
COMMENT ON COLUMN interest_postings.currency IS 'ISO 4217.';
COMMENT ON COLUMN interest_postings.transaction_id IS 'Transaction that paid it.';
COMMENT ON COLUMN interest_postings.posted_at IS 'When it was paid.';
COMMENT ON COLUMN interest_postings.position IS 'Position of the event.';
