-- Rows that an event could not be folded into. The others of the same read model go on.
CREATE TABLE parked (
    model    text   COLLATE "C" NOT NULL,
    row_set  text   COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    reason   text   NOT NULL,
    owners   text[] COLLATE "C" NOT NULL,
    PRIMARY KEY (model, row_set)
);

COMMENT ON TABLE parked IS 'Rows that a read model has left behind at an event that it cannot take, until they are tried again or the model is rebuilt.';
COMMENT ON COLUMN parked.model IS 'Name of the read model.';
COMMENT ON COLUMN parked.row_set IS 'Which rows: those of an account, a person or a transaction.';
COMMENT ON COLUMN parked.position IS 'Position of the event; the rows contain what came before it, and nothing since.';
COMMENT ON COLUMN parked.reason IS 'Why the event cannot be taken.';
COMMENT ON COLUMN parked.owners IS 'Who is known to be concerned; what they read of the model is refused.';
