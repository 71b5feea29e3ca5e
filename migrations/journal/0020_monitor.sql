-- The monitor looks at every event once more, whichever server wrote it; what is wrong stays here until somebody has
-- answered for it, and nothing is written meanwhile.
CREATE TABLE monitor (
    only_row boolean     NOT NULL PRIMARY KEY DEFAULT true CHECK (only_row),
    position bigint      NOT NULL,
    swept_at timestamptz NOT NULL
);

INSERT INTO monitor (position, swept_at) VALUES (0, 'epoch');

CREATE TABLE breaches (
    id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    found_at     timestamptz NOT NULL,
    position     bigint      NOT NULL,
    invariant    text        COLLATE "C" NOT NULL,
    finding      text        NOT NULL,
    accepted_at  timestamptz,
    because      text
);

COMMENT ON TABLE monitor IS 'How far the log was looked at for breaches of the ledger''s rules.';
COMMENT ON COLUMN monitor.only_row IS 'Always true: there is one monitor.';
COMMENT ON COLUMN monitor.position IS 'Position of the last event that was looked at.';
COMMENT ON COLUMN monitor.swept_at IS 'When all balances were last added up.';
COMMENT ON TABLE breaches IS 'What was found wrong. While one is not accepted, no server writes.';
COMMENT ON COLUMN breaches.id IS 'By which it is accepted.';
COMMENT ON COLUMN breaches.found_at IS 'When it was found.';
COMMENT ON COLUMN breaches.position IS 'Position of the event that shows it; of the last event, when all balances do.';
COMMENT ON COLUMN breaches.invariant IS 'BALANCED, FUNDED, CONTINUOUS or GAPLESS.';
COMMENT ON COLUMN breaches.finding IS 'What it is.';
COMMENT ON COLUMN breaches.accepted_at IS 'When somebody answered for it; null while nothing is written.';
COMMENT ON COLUMN breaches.because IS 'What they said.';
