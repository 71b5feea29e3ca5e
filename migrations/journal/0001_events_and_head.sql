-- The log, and the row that orders it. The schema is the one the connection's search_path names first.

-- postgres-es reads the seven columns from aggregate_type to metadata; ours are position and recorded_at.
-- json, not jsonb: the stored bytes are what is hashed. Two indexes, no foreign keys: this is the hot path.
CREATE TABLE events (
    position       bigint      NOT NULL PRIMARY KEY,
    sequence       bigint      NOT NULL,
    recorded_at    timestamptz NOT NULL,
    aggregate_type text        COLLATE "C" NOT NULL,
    aggregate_id   text        COLLATE "C" NOT NULL,
    event_type     text        COLLATE "C" NOT NULL,
    event_version  text        COLLATE "C" NOT NULL,
    payload        json        NOT NULL,
    metadata       json        NOT NULL,
    CONSTRAINT events_in_stream UNIQUE (aggregate_type, aggregate_id, sequence)
);

COMMENT ON TABLE events IS 'Every change of the bank, in commit order. Rows are never updated or deleted.';
COMMENT ON COLUMN events.position IS 'Place in the journal: 1, 2, 3 ... without gaps, in commit order.';
COMMENT ON COLUMN events.sequence IS 'Place in the stream of the aggregate, from 1, without gaps.';
COMMENT ON COLUMN events.recorded_at IS 'When it was recorded, UTC; never earlier than the event before it.';
COMMENT ON COLUMN events.aggregate_type IS 'The noun: account, payment, session ...';
COMMENT ON COLUMN events.aggregate_id IS 'Which one of them.';
COMMENT ON COLUMN events.event_type IS 'What happened, such as payment.completed.';
COMMENT ON COLUMN events.event_version IS 'Version of the shape of payload.';
COMMENT ON COLUMN events.payload IS 'The event.';
COMMENT ON COLUMN events.metadata IS 'Who acted (actor) on which request (correlation_id).';

-- One row. Whoever holds its lock is the one writer.
CREATE TABLE head (
    only_row    boolean     NOT NULL PRIMARY KEY DEFAULT true CHECK (only_row),
    position    bigint      NOT NULL,
    recorded_at timestamptz NOT NULL
) WITH (fillfactor = 10);

INSERT INTO head (position, recorded_at) VALUES (0, 'epoch');

COMMENT ON TABLE head IS 'The position and time of the last event; locked by the writer of the next.';
COMMENT ON COLUMN head.only_row IS 'Always true: there is one head.';
COMMENT ON COLUMN head.position IS 'Position of the last event; 0 when there is none.';
COMMENT ON COLUMN head.recorded_at IS 'When the last event was recorded.';
