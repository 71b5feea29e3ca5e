-- Values that may exist only once (an email address), claimed in the commit that introduces them.
CREATE TABLE claims (
    namespace text  COLLATE "C" NOT NULL,
    hash      bytea NOT NULL,
    holder    text  COLLATE "C" NOT NULL,
    PRIMARY KEY (namespace, hash)
);

COMMENT ON TABLE claims IS 'Unique values and who holds them. Values are keyed hashes: the table tells nothing about people.';
COMMENT ON COLUMN claims.namespace IS 'What kind of value: email.';
COMMENT ON COLUMN claims.hash IS 'Keyed hash of the value.';
COMMENT ON COLUMN claims.holder IS 'Aggregate id of the holder.';

-- Facts that every server process on this database must agree on.
CREATE TABLE settings (
    name  text  COLLATE "C" NOT NULL PRIMARY KEY,
    value bytea NOT NULL
);

COMMENT ON TABLE settings IS 'Facts every server process on this database must agree on.';
COMMENT ON COLUMN settings.name IS 'Which fact.';
COMMENT ON COLUMN settings.value IS 'Its value.';
