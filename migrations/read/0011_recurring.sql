-- Payments that are repeated on certain days, and how far they are.
CREATE TABLE recurrences (
    recurring_id        text        COLLATE "C" NOT NULL PRIMARY KEY,
    owner               text        COLLATE "C" NOT NULL,
    transaction_id      text        COLLATE "C" NOT NULL,
    frequency           text        COLLATE "C" NOT NULL,
    execution_day       smallint,
    starts_at           timestamptz NOT NULL,
    ends_at             timestamptz,
    description         text,
    status              text        COLLATE "C" NOT NULL,
    next_due            date,
    execution_count     bigint      NOT NULL,
    failure_count       bigint      NOT NULL,
    last_transaction_id text        COLLATE "C",
    last_executed_at    timestamptz,
    last_failure        text        COLLATE "C",
    created_at          timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL,
    version             bigint      NOT NULL,
    last_position       bigint      NOT NULL
);
CREATE INDEX recurrences_of_owner ON recurrences (owner, created_at DESC);

COMMENT ON TABLE recurrences IS 'Payments that are repeated on certain days (UTC).';
COMMENT ON COLUMN recurrences.recurring_id IS 'rec_ and a UUID.';
COMMENT ON COLUMN recurrences.owner IS 'User id of the customer who pays.';
COMMENT ON COLUMN recurrences.transaction_id IS 'The payment that is repeated.';
COMMENT ON COLUMN recurrences.frequency IS 'DAILY, WEEKLY, MONTHLY, QUARTERLY or YEARLY.';
COMMENT ON COLUMN recurrences.execution_day IS 'Day of the month (a shorter month has its last day instead) or of the week, 1 is Monday; null for DAILY.';
COMMENT ON COLUMN recurrences.starts_at IS 'From when on, as the customer said it.';
COMMENT ON COLUMN recurrences.ends_at IS 'Until when, as the customer said it, that UTC day included; null for no end.';
COMMENT ON COLUMN recurrences.description IS 'What it is for; the narration of its payments.';
COMMENT ON COLUMN recurrences.status IS 'ACTIVE, PAUSED, COMPLETED or CANCELLED.';
COMMENT ON COLUMN recurrences.next_due IS 'The day of the next payment; null unless ACTIVE.';
COMMENT ON COLUMN recurrences.execution_count IS 'Payments made.';
COMMENT ON COLUMN recurrences.failure_count IS 'Payments refused.';
COMMENT ON COLUMN recurrences.last_transaction_id IS 'The last payment made.';
COMMENT ON COLUMN recurrences.last_executed_at IS 'When it was made.';
COMMENT ON COLUMN recurrences.last_failure IS 'Code of the last refusal; null when the last payment was made.';
COMMENT ON COLUMN recurrences.created_at IS 'When it was set up.';
COMMENT ON COLUMN recurrences.updated_at IS 'When it last changed.';
COMMENT ON COLUMN recurrences.version IS 'Events so far, which If-Match refers to.';
COMMENT ON COLUMN recurrences.last_position IS 'Position of the last event that changed the row.';
