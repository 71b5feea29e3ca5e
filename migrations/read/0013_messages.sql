-- What the bank has told its customers, for them to read in the app.
CREATE TABLE messages (
    message_id    text        COLLATE "C" NOT NULL,
    owner         text        COLLATE "C" NOT NULL,
    category      text        COLLATE "C" NOT NULL,
    subject       text        NOT NULL,
    body          text        NOT NULL,
    about         jsonb       NOT NULL,
    sent_by       text[]      NOT NULL,
    created_at    timestamptz NOT NULL,
    last_position bigint      NOT NULL,
    PRIMARY KEY (owner, message_id)
);
CREATE INDEX messages_of_owner ON messages (owner, created_at DESC);

COMMENT ON TABLE messages IS 'What the bank has told its customers; a deleted message is not here.';
COMMENT ON COLUMN messages.message_id IS 'msg_ and a UUID.';
COMMENT ON COLUMN messages.owner IS 'User id of the customer.';
COMMENT ON COLUMN messages.category IS 'SECURITY, PAYMENT, ACCOUNT, COMPLIANCE or GENERAL.';
COMMENT ON COLUMN messages.subject IS 'What it is about, in a few words.';
COMMENT ON COLUMN messages.body IS 'What people read.';
COMMENT ON COLUMN messages.about IS 'Ids of what it is about, by name.';
COMMENT ON COLUMN messages.sent_by IS 'The ways it was handed over besides being kept here: EMAIL, SMS, PUSH.';
COMMENT ON COLUMN messages.created_at IS 'When, UTC.';
COMMENT ON COLUMN messages.last_position IS 'Position of the last event that changed the row.';
