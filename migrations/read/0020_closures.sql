-- Applications to close accounts, and how holders have set their accounts up.
CREATE TABLE closures (
    closure_id       text        COLLATE "C" NOT NULL PRIMARY KEY,
    owner            text        COLLATE "C" NOT NULL,
    account_number   text        COLLATE "C" NOT NULL,
    reason           text        NOT NULL,
    preferred_date   timestamptz,
    transfer_account text        COLLATE "C",
    comments         text,
    status           text        COLLATE "C" NOT NULL,
    note             text,
    decided_by       text        COLLATE "C",
    closed_by        text        COLLATE "C",
    swept_amount     bigint,
    swept_by         text        COLLATE "C",
    submitted_at     timestamptz NOT NULL,
    updated_at       timestamptz NOT NULL,
    version          bigint      NOT NULL,
    last_position    bigint      NOT NULL
);
CREATE INDEX closures_of_account ON closures (account_number, submitted_at DESC);
CREATE INDEX closures_by_status ON closures (status, submitted_at DESC);

COMMENT ON TABLE closures IS 'Applications of customers to close an account; amounts in minor units of the account''s currency.';
COMMENT ON COLUMN closures.closure_id IS 'cls_ and a UUID: the application.';
COMMENT ON COLUMN closures.owner IS 'User id of the customer.';
COMMENT ON COLUMN closures.account_number IS 'The account to be closed.';
COMMENT ON COLUMN closures.reason IS 'Why, in the customer''s words.';
COMMENT ON COLUMN closures.preferred_date IS 'When it should be closed; null when it does not matter.';
COMMENT ON COLUMN closures.transfer_account IS 'The account that gets what is left; null when none was named.';
COMMENT ON COLUMN closures.comments IS 'What else the customer said.';
COMMENT ON COLUMN closures.status IS 'PENDING, APPROVED, REJECTED, CANCELLED or COMPLETED.';
COMMENT ON COLUMN closures.note IS 'What staff said about it last.';
COMMENT ON COLUMN closures.decided_by IS 'User id of who approved or rejected it.';
COMMENT ON COLUMN closures.closed_by IS 'User id of who closed the account.';
COMMENT ON COLUMN closures.swept_amount IS 'What was left in the account and paid out; null when nothing was.';
COMMENT ON COLUMN closures.swept_by IS 'The transaction that paid it out.';
COMMENT ON COLUMN closures.submitted_at IS 'When it was submitted.';
COMMENT ON COLUMN closures.updated_at IS 'When it last moved.';
COMMENT ON COLUMN closures.version IS 'Events so far, which If-Match refers to.';
COMMENT ON COLUMN closures.last_position IS 'Position of the last event that changed the row.';

-- The defaults are what accounts have whose holders have not set them up.
ALTER TABLE accounts
    ADD COLUMN notify_email          boolean NOT NULL DEFAULT true,
    ADD COLUMN notify_sms            boolean NOT NULL DEFAULT false,
    ADD COLUMN notify_push           boolean NOT NULL DEFAULT false,
    ADD COLUMN statement_delivery    text    COLLATE "C" NOT NULL DEFAULT 'NONE',
    ADD COLUMN statement_frequency   text    COLLATE "C" NOT NULL DEFAULT 'MONTHLY',
    ADD COLUMN early_closure_allowed boolean NOT NULL DEFAULT true;

COMMENT ON COLUMN accounts.notify_email IS 'Whether the holder hears of the account by mail.';
COMMENT ON COLUMN accounts.notify_sms IS 'Whether by short message.';
COMMENT ON COLUMN accounts.notify_push IS 'Whether by notification in the app.';
COMMENT ON COLUMN accounts.statement_delivery IS 'By which way statements are sent: EMAIL, PUSH, NONE.';
COMMENT ON COLUMN accounts.statement_frequency IS 'How often: WEEKLY, MONTHLY.';
COMMENT ON COLUMN accounts.early_closure_allowed IS 'Whether a target savings account may be closed before its plan ends.';
