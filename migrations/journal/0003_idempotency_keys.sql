-- A key and the events it stands for, written by the commit that appends them. One partition a UTC day,
-- so that the index stays short and old keys are dropped, not deleted.
CREATE TABLE idempotency_keys (
    day            date   NOT NULL,
    key            bytea  NOT NULL,
    fingerprint    bytea  NOT NULL,
    first_position bigint NOT NULL,
    last_position  bigint NOT NULL,
    PRIMARY KEY (key, day)
) PARTITION BY RANGE (day);

COMMENT ON TABLE idempotency_keys IS 'Requests that were carried out, for answering a repeat with the same events.';
COMMENT ON COLUMN idempotency_keys.day IS 'UTC day of the request.';
COMMENT ON COLUMN idempotency_keys.key IS 'Keyed hash of caller, method, path and Idempotency-Key.';
COMMENT ON COLUMN idempotency_keys.fingerprint IS 'Keyed hash of the request body.';
COMMENT ON COLUMN idempotency_keys.first_position IS 'First event the request appended.';
COMMENT ON COLUMN idempotency_keys.last_position IS 'Last event the request appended.';
