-- One row a posting, only ever appended. One index serves every statement: recorded_at never goes back along
-- the log, so that (recorded_at, position, line) is the order of the log within an account.
CREATE TABLE statement_entries (
    position       bigint      NOT NULL,
    recorded_at    timestamptz NOT NULL,
    amount         bigint      NOT NULL,
    balance        bigint      NOT NULL,
    line           smallint    NOT NULL,
    account_number text        COLLATE "C" NOT NULL,
    transaction_id text        COLLATE "C" NOT NULL,
    type           text        COLLATE "C" NOT NULL,
    currency       text        COLLATE "C" NOT NULL,
    description    text        NOT NULL,
    reference      text        NOT NULL,
    narration      text,
    counterparty   text        COLLATE "C",
    PRIMARY KEY (account_number, recorded_at, position, line)
);

COMMENT ON TABLE statement_entries IS 'Every posting to every account, customer and internal; sums in minor units of currency. The amounts of a currency sum to zero.';
COMMENT ON COLUMN statement_entries.position IS 'Position of the event in the log.';
COMMENT ON COLUMN statement_entries.recorded_at IS 'When it was posted.';
COMMENT ON COLUMN statement_entries.amount IS 'Positive for a credit, negative for a debit.';
COMMENT ON COLUMN statement_entries.balance IS 'Balance of the account after this entry.';
COMMENT ON COLUMN statement_entries.line IS 'Which posting of the event, from 0.';
COMMENT ON COLUMN statement_entries.account_number IS 'Account posted to; bank:role:currency for the bank''s own.';
COMMENT ON COLUMN statement_entries.transaction_id IS 'Transaction the posting belongs to.';
COMMENT ON COLUMN statement_entries.type IS 'CREDIT or DEBIT.';
COMMENT ON COLUMN statement_entries.currency IS 'ISO 4217.';
COMMENT ON COLUMN statement_entries.description IS 'What kind of movement it was, in words.';
COMMENT ON COLUMN statement_entries.reference IS 'The payer''s reference; not unique.';
COMMENT ON COLUMN statement_entries.narration IS 'What it was for, in the payer''s words.';
COMMENT ON COLUMN statement_entries.counterparty IS 'Account on the other side.';
