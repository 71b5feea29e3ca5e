-- What was said to addresses outside the bank. Bookkeeping beside the log, not events in it: an attempt changes nothing in the
-- bank, follows from what the log holds, and would outnumber the events that it is about.

CREATE TABLE webhook_cursors (
    webhook_id text   COLLATE "C" NOT NULL PRIMARY KEY,
    sequence   bigint NOT NULL,
    position   bigint NOT NULL
);

COMMENT ON TABLE webhook_cursors IS 'How far each webhook has followed the log.';
COMMENT ON COLUMN webhook_cursors.webhook_id IS 'The webhook.';
COMMENT ON COLUMN webhook_cursors.sequence IS 'Events of the webhook itself that are carried out: tests, replays.';
COMMENT ON COLUMN webhook_cursors.position IS 'Events up to this position have a delivery, if the webhook wants them.';

CREATE TABLE webhook_deliveries (
    webhook_id      text        COLLATE "C" NOT NULL,
    position        bigint      NOT NULL,
    event_type      text        COLLATE "C" NOT NULL,
    status          text        COLLATE "C" NOT NULL,
    attempts        integer     NOT NULL DEFAULT 0,
    due_at          timestamptz NOT NULL,
    begun_at        timestamptz,
    attempted_at    timestamptz,
    delivered_at    timestamptz,
    response_status integer,
    response        text,
    error           text        COLLATE "C",
    PRIMARY KEY (webhook_id, position)
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, due_at, position) WHERE status = 'PENDING';
CREATE INDEX webhook_deliveries_done ON webhook_deliveries (delivered_at) WHERE delivered_at IS NOT NULL;

COMMENT ON TABLE webhook_deliveries IS 'What webhooks are told: a row for each event and webhook that wants it.';
COMMENT ON COLUMN webhook_deliveries.webhook_id IS 'Who is told.';
COMMENT ON COLUMN webhook_deliveries.position IS 'Position of the event in the log.';
COMMENT ON COLUMN webhook_deliveries.event_type IS 'Its name.';
COMMENT ON COLUMN webhook_deliveries.status IS 'PENDING, DELIVERED, or FAILED when it is tried no more.';
COMMENT ON COLUMN webhook_deliveries.attempts IS 'How often it was tried since it was ordered.';
COMMENT ON COLUMN webhook_deliveries.due_at IS 'When it is tried next; while somebody tries it, when somebody else may.';
COMMENT ON COLUMN webhook_deliveries.begun_at IS 'When it was first tried since it was ordered.';
COMMENT ON COLUMN webhook_deliveries.attempted_at IS 'When it was last tried.';
COMMENT ON COLUMN webhook_deliveries.delivered_at IS 'When it was taken; null while it was not.';
COMMENT ON COLUMN webhook_deliveries.response_status IS 'HTTP status of the last answer; null when there was none.';
COMMENT ON COLUMN webhook_deliveries.response IS 'The beginning of the last answer.';
COMMENT ON COLUMN webhook_deliveries.error IS 'Why there was no answer to the last try: BLOCKED_ADDRESS, TIMEOUT, UNREACHABLE.';
