-- What each day earned follows from the days' balances and the contract, also on quiet days, which have no row.
ALTER TABLE daily_balances DROP COLUMN interest_earned;

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
