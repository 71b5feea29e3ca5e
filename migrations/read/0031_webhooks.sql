-- Addresses outside the bank that are told what happens in it.
CREATE TABLE webhooks (
    webhook_id        text        COLLATE "C" NOT NULL PRIMARY KEY,
    url               text        NOT NULL,
    event_types       text[]      NOT NULL,
    description       text,
    status            text        COLLATE "C" NOT NULL,
    disabled_reason   text        COLLATE "C",
    secret_generation bigint      NOT NULL,
    old_secret_until  timestamptz,
    created_at        timestamptz NOT NULL,
    updated_at        timestamptz NOT NULL,
    version           bigint      NOT NULL,
    last_position     bigint      NOT NULL
);

COMMENT ON TABLE webhooks IS 'Addresses outside the bank that are told what happens in it. Their secrets are nowhere; deliveries are in journal.webhook_deliveries.';
COMMENT ON COLUMN webhooks.webhook_id IS 'whk_ and a UUID.';
COMMENT ON COLUMN webhooks.url IS 'The address.';
COMMENT ON COLUMN webhooks.event_types IS 'What it wants to hear: payment.completed, payment.* or *.';
COMMENT ON COLUMN webhooks.description IS 'What it is, in words.';
COMMENT ON COLUMN webhooks.status IS 'ENABLED or DISABLED.';
COMMENT ON COLUMN webhooks.disabled_reason IS 'Why it is told nothing: REQUESTED, FAILING or GONE; null while it is told.';
COMMENT ON COLUMN webhooks.secret_generation IS 'How often its secret was replaced.';
COMMENT ON COLUMN webhooks.old_secret_until IS 'Until when the secret before signs too; null when there never was one.';
COMMENT ON COLUMN webhooks.created_at IS 'When it was created.';
COMMENT ON COLUMN webhooks.updated_at IS 'When it was last changed.';
COMMENT ON COLUMN webhooks.version IS 'Events in its stream, which If-Match refers to.';
COMMENT ON COLUMN webhooks.last_position IS 'Position of the last event that changed the row.';
