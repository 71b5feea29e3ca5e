-- Standing instructions, how far they are, and what became of each of their days.
CREATE TABLE mandates (
    mandate_id          text        COLLATE "C" NOT NULL PRIMARY KEY,
    owner               text        COLLATE "C" NOT NULL,
    mandate_name        text        NOT NULL,
    mandate_type        text        COLLATE "C" NOT NULL,
    source_account      text        COLLATE "C" NOT NULL,
    institution         text        COLLATE "C",
    institution_name    text,
    item_id             text        COLLATE "C",
    beneficiary_account text        NOT NULL,
    beneficiary_name    text,
    amount              bigint      NOT NULL,
    currency            text        COLLATE "C" NOT NULL,
    frequency           text        COLLATE "C" NOT NULL,
    execution_day       smallint,
    starts_at           timestamptz NOT NULL,
    ends_at             timestamptz,
    description         text,
    status              text        COLLATE "C" NOT NULL,
    pause_reason        text        COLLATE "C",
    next_due            date,
    execution_count     bigint      NOT NULL,
    total_executed      bigint      NOT NULL,
    failure_count       bigint      NOT NULL,
    last_executed_at    timestamptz,
    last_failure        text        COLLATE "C",
    created_at          timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL,
    version             bigint      NOT NULL,
    last_position       bigint      NOT NULL
);
CREATE INDEX mandates_of_owner ON mandates (owner, created_at DESC);

CREATE TABLE mandate_executions (
    execution_id   text        COLLATE "C" NOT NULL PRIMARY KEY,
    mandate_id     text        COLLATE "C" NOT NULL,
    due            date        NOT NULL,
    amount         bigint      NOT NULL,
    status         text        COLLATE "C" NOT NULL,
    transaction_id text        COLLATE "C",
    failure        text        COLLATE "C",
    recorded_at    timestamptz NOT NULL,
    last_position  bigint      NOT NULL
);
CREATE INDEX mandate_executions_of_mandate ON mandate_executions (mandate_id, due DESC);

COMMENT ON TABLE mandates IS 'Standing instructions: whom a customer pays on certain days (UTC).';
COMMENT ON COLUMN mandates.mandate_id IS 'mnd_ and a UUID.';
COMMENT ON COLUMN mandates.owner IS 'User id of the customer who pays.';
COMMENT ON COLUMN mandates.mandate_name IS 'What the customer calls it.';
COMMENT ON COLUMN mandates.mandate_type IS 'PAYMENT or SAVINGS, as the customer says.';
COMMENT ON COLUMN mandates.source_account IS 'The account debited.';
COMMENT ON COLUMN mandates.institution IS 'Code of the bank or biller; null for this bank.';
COMMENT ON COLUMN mandates.institution_name IS 'Name of the bank or biller.';
COMMENT ON COLUMN mandates.item_id IS 'What is bought of a biller; null for whatever costs the amount.';
COMMENT ON COLUMN mandates.beneficiary_account IS 'The account credited, or the customer number at the biller. [erased] outside this bank once the payer is.';
COMMENT ON COLUMN mandates.beneficiary_name IS 'The payee''s name as the payer gave it. [erased] once the payer is.';
COMMENT ON COLUMN mandates.amount IS 'Each payment, minor units.';
COMMENT ON COLUMN mandates.currency IS 'ISO 4217.';
COMMENT ON COLUMN mandates.frequency IS 'DAILY, WEEKLY, MONTHLY, QUARTERLY or YEARLY.';
COMMENT ON COLUMN mandates.execution_day IS 'Day of the month (a shorter month has its last day instead) or of the week, 1 is Monday; null for DAILY.';
COMMENT ON COLUMN mandates.starts_at IS 'From when on, as the customer said it.';
COMMENT ON COLUMN mandates.ends_at IS 'Until when, as the customer said it, that UTC day included; null for no end.';
COMMENT ON COLUMN mandates.description IS 'What it is for; the narration of its payments.';
COMMENT ON COLUMN mandates.status IS 'ACTIVE, PAUSED, COMPLETED or CANCELLED.';
COMMENT ON COLUMN mandates.pause_reason IS 'REQUESTED or FAILURES; null unless PAUSED.';
COMMENT ON COLUMN mandates.next_due IS 'The day of the next payment; null unless ACTIVE.';
COMMENT ON COLUMN mandates.execution_count IS 'Payments made.';
COMMENT ON COLUMN mandates.total_executed IS 'The sum of them, minor units.';
COMMENT ON COLUMN mandates.failure_count IS 'Days that failed.';
COMMENT ON COLUMN mandates.last_executed_at IS 'When the last payment was made.';
COMMENT ON COLUMN mandates.last_failure IS 'Code of the last refusal; null when the last payment was made.';
COMMENT ON COLUMN mandates.created_at IS 'When it was given.';
COMMENT ON COLUMN mandates.updated_at IS 'When it last changed.';
COMMENT ON COLUMN mandates.version IS 'Events so far, which If-Match refers to.';
COMMENT ON COLUMN mandates.last_position IS 'Position of the last event that changed the row.';

COMMENT ON TABLE mandate_executions IS 'What became of each day of a mandate: one row a day.';
COMMENT ON COLUMN mandate_executions.execution_id IS 'The mandate and the day.';
COMMENT ON COLUMN mandate_executions.mandate_id IS 'The mandate.';
COMMENT ON COLUMN mandate_executions.due IS 'The day (UTC) that was due.';
COMMENT ON COLUMN mandate_executions.amount IS 'How much it was about, minor units.';
COMMENT ON COLUMN mandate_executions.status IS 'SUCCESS, FAILED (after its last try) or SKIPPED (the mandate was paused).';
COMMENT ON COLUMN mandate_executions.transaction_id IS 'The payment; null unless SUCCESS.';
COMMENT ON COLUMN mandate_executions.failure IS 'Code of the last refusal; null unless FAILED.';
COMMENT ON COLUMN mandate_executions.recorded_at IS 'When that was known.';
COMMENT ON COLUMN mandate_executions.last_position IS 'Position of the event that says so.';
