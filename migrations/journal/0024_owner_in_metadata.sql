-- Every event says whose it is.
COMMENT ON COLUMN events.metadata IS 'Who acted (actor) on which request (correlation_id), and whose the aggregate is (owner).';
