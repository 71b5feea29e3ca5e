-- One row for each account and UTC day on which it was opened or posted to; quiet days have none and are
-- carried forward by whoever reads.
CREATE TABLE daily_balances (
    account_number    text   COLLATE "C" NOT NULL,
    day               date   NOT NULL,
    ledger_balance    bigint NOT NULL,
    available_balance bigint NOT NULL,
    interest_earned   bigint NOT NULL,
    turnover_in       bigint NOT NULL,
    turnover_out      bigint NOT NULL,
    last_position     bigint NOT NULL,
    PRIMARY KEY (account_number, day)
) WITH (fillfactor = 50);

COMMENT ON TABLE daily_balances IS 'Balances at the end of each UTC day on which the account moved; minor units. A day without a row ends like the one before.';
COMMENT ON COLUMN daily_balances.account_number IS 'Account; bank:role:currency for the bank''s own.';
COMMENT ON COLUMN daily_balances.day IS 'UTC day.';
COMMENT ON COLUMN daily_balances.ledger_balance IS 'Sum of all postings up to the end of the day.';
COMMENT ON COLUMN daily_balances.available_balance IS 'What a debit could have taken at the end of the day.';
COMMENT ON COLUMN daily_balances.interest_earned IS 'Interest earned that day.';
COMMENT ON COLUMN daily_balances.turnover_in IS 'Credits of the day.';
COMMENT ON COLUMN daily_balances.turnover_out IS 'Debits of the day, as a positive sum.';
COMMENT ON COLUMN daily_balances.last_position IS 'Position of the last event that changed this row.';
