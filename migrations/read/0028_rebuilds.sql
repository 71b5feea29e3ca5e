-- Rebuilds and checks of read models: how far the running one is, and what came of the last one.
CREATE TABLE rebuilds (
    model             text        COLLATE "C" NOT NULL PRIMARY KEY,
    ordered_at        bigint      NOT NULL,
    verify            boolean     NOT NULL,
    state             text        COLLATE "C" NOT NULL,
    program           text        COLLATE "C" NOT NULL,
    position          bigint      NOT NULL,
    target            bigint      NOT NULL,
    events_per_second bigint      NOT NULL,
    started_at        timestamptz NOT NULL,
    finished_at       timestamptz,
    compared_at       bigint,
    rows_compared     bigint      NOT NULL,
    differing         bigint      NOT NULL,
    differences       jsonb       NOT NULL,
    reason            text
) WITH (fillfactor = 10);

COMMENT ON TABLE rebuilds IS 'The last rebuild or check of each read model.';
COMMENT ON COLUMN rebuilds.model IS 'Name of the read model.';
COMMENT ON COLUMN rebuilds.ordered_at IS 'Position of the order in the log; 0 when it was given on the command line.';
COMMENT ON COLUMN rebuilds.verify IS 'Whether the tables are compared only, and left as they are.';
COMMENT ON COLUMN rebuilds.state IS 'RUNNING (interrupted, when nobody has its lock), SWAPPED, EQUAL, DIFFERENT or FAILED.';
COMMENT ON COLUMN rebuilds.program IS 'Which build of bursar folds the events; another one begins anew.';
COMMENT ON COLUMN rebuilds.position IS 'Position of the last event in the tables that are being made.';
COMMENT ON COLUMN rebuilds.target IS 'Position they are being brought to; it moves while the bank is at work.';
COMMENT ON COLUMN rebuilds.events_per_second IS 'Events of the log passed a second, since it was begun or gone on with.';
COMMENT ON COLUMN rebuilds.started_at IS 'When it was begun.';
COMMENT ON COLUMN rebuilds.finished_at IS 'When it ended; null until then.';
COMMENT ON COLUMN rebuilds.compared_at IS 'Position at which live and rebuilt tables were compared; null until then.';
COMMENT ON COLUMN rebuilds.rows_compared IS 'Rows that were compared.';
COMMENT ON COLUMN rebuilds.differing IS 'How many of them differ.';
COMMENT ON COLUMN rebuilds.differences IS 'The first of them in the order of the log: table, key, firstPosition, kind, columns; no values, which may be personal.';
COMMENT ON COLUMN rebuilds.reason IS 'Why it failed or was interrupted.';
