-- What all servers count together: how often somebody may ask, and how often a password was guessed. Not part of the
-- log, and not worth its disk: unlogged, so that a crash of Postgres forgets it.
CREATE UNLOGGED TABLE buckets (
    key     bytea  NOT NULL PRIMARY KEY,
    full_at bigint NOT NULL
);
CREATE UNLOGGED TABLE guesses (
    key      bytea   NOT NULL PRIMARY KEY,
    failed   integer NOT NULL,
    last_at  bigint  NOT NULL,
    opens_at bigint  NOT NULL
);
CREATE UNLOGGED TABLE servers (
    server  text   COLLATE "C" NOT NULL PRIMARY KEY,
    seen_at bigint NOT NULL
);

COMMENT ON TABLE buckets IS 'Token buckets of rate limits that hold for all servers together.';
COMMENT ON COLUMN buckets.key IS 'Keyed hash of the limit and of whom it is for.';
COMMENT ON COLUMN buckets.full_at IS 'When the bucket is full again: microseconds since 1970.';
COMMENT ON TABLE guesses IS 'Tries of a password that were not known to be right.';
COMMENT ON COLUMN guesses.key IS 'Keyed hash of a user name, or of one and a device.';
COMMENT ON COLUMN guesses.failed IS 'Tries in a row; each is counted before it is looked at.';
COMMENT ON COLUMN guesses.last_at IS 'When the last one was: microseconds since 1970.';
COMMENT ON COLUMN guesses.opens_at IS 'When the next one is taken: microseconds since 1970.';
COMMENT ON TABLE servers IS 'Servers that are running.';
COMMENT ON COLUMN servers.server IS 'A number that the server drew when it started.';
COMMENT ON COLUMN servers.seen_at IS 'When it was last heard of: microseconds since 1970.';
