-- Complaints about payments, and what became of them.
CREATE TABLE disputes (
    dispute_id           text        COLLATE "C" NOT NULL PRIMARY KEY,
    owner                text        COLLATE "C" NOT NULL,
    transaction_id       text        COLLATE "C" NOT NULL,
    reason               text        COLLATE "C" NOT NULL,
    amount               bigint      NOT NULL,
    currency             text        COLLATE "C" NOT NULL,
    status               text        COLLATE "C" NOT NULL,
    reference            text        COLLATE "C" NOT NULL,
    description          text,
    supporting_documents text[]      NOT NULL,
    contact_phone        text,
    contact_email        text,
    note                 text,
    refunded_by          text        COLLATE "C",
    submitted_at         timestamptz NOT NULL,
    updated_at           timestamptz NOT NULL,
    version              bigint      NOT NULL,
    last_position        bigint      NOT NULL
);
CREATE INDEX disputes_of_owner ON disputes (owner, submitted_at DESC);
CREATE INDEX disputes_by_status ON disputes (status, submitted_at DESC);

COMMENT ON TABLE disputes IS 'Complaints about payments; amounts in minor units of currency.';
COMMENT ON COLUMN disputes.dispute_id IS 'dsp_ and a UUID.';
COMMENT ON COLUMN disputes.owner IS 'User id of the customer who paid and complains.';
COMMENT ON COLUMN disputes.transaction_id IS 'The payment it is about.';
COMMENT ON COLUMN disputes.reason IS 'What was wrong: UNAUTHORIZED, FRAUD, DUPLICATE ...';
COMMENT ON COLUMN disputes.amount IS 'How much of the payment is disputed.';
COMMENT ON COLUMN disputes.currency IS 'ISO 4217.';
COMMENT ON COLUMN disputes.status IS 'PENDING, UNDER_REVIEW, WON, LOST or WITHDRAWN.';
COMMENT ON COLUMN disputes.reference IS 'A number to quote to the bank; not unique.';
COMMENT ON COLUMN disputes.description IS 'What happened, in the payer''s words.';
COMMENT ON COLUMN disputes.supporting_documents IS 'Names of files that support it.';
COMMENT ON COLUMN disputes.contact_phone IS 'Where the payer can be called, E.164.';
COMMENT ON COLUMN disputes.contact_email IS 'Where the payer can be written to.';
COMMENT ON COLUMN disputes.note IS 'What was said about it last: by staff, or by the payer who took it back.';
COMMENT ON COLUMN disputes.refunded_by IS 'The transaction that gave the money back; null unless WON.';
COMMENT ON COLUMN disputes.submitted_at IS 'When it was begun.';
COMMENT ON COLUMN disputes.updated_at IS 'When it last moved.';
COMMENT ON COLUMN disputes.version IS 'Events so far, which If-Match refers to.';
COMMENT ON COLUMN disputes.last_position IS 'Position of the last event that changed the row.';
