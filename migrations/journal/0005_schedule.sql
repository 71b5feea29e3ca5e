-- Work that is due, written by the commit that orders it and done by whichever server process claims it.
CREATE TABLE schedule (
    task         text        COLLATE "C" NOT NULL,
    subject      text        COLLATE "C" NOT NULL,
    due_at       timestamptz NOT NULL,
    attempts     integer     NOT NULL DEFAULT 0,
    leased_until timestamptz,
    last_error   text,
    PRIMARY KEY (task, subject)
);
CREATE INDEX schedule_by_time ON schedule (due_at);

COMMENT ON TABLE schedule IS 'Work that is due: one row for each task of an aggregate. A row goes when the work is done.';
COMMENT ON COLUMN schedule.task IS 'What is to be done, such as payment.clear.';
COMMENT ON COLUMN schedule.subject IS 'Id of the aggregate it is about.';
COMMENT ON COLUMN schedule.due_at IS 'When, UTC, by the bank''s clock.';
COMMENT ON COLUMN schedule.attempts IS 'How often it was tried since it was ordered.';
COMMENT ON COLUMN schedule.leased_until IS 'A server process has claimed it until then; null when none has.';
COMMENT ON COLUMN schedule.last_error IS 'Why the last try did not end it.';
