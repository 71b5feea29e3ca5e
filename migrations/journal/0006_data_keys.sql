-- The key of each person: it seals what is personal in the log, and their files. Whoever destroys it has erased them.
CREATE TABLE data_keys (
    subject    text        COLLATE "C" NOT NULL PRIMARY KEY,
    wrapped    bytea,
    wrapped_by bytea       NOT NULL,
    created_at timestamptz NOT NULL,
    erased_at  timestamptz,
    CHECK ((wrapped IS NULL) = (erased_at IS NOT NULL))
);

COMMENT ON TABLE data_keys IS 'The key that seals a person''s data in the log, wrapped by the master key. Once destroyed it never comes back.';
COMMENT ON COLUMN data_keys.subject IS 'User id of the person.';
COMMENT ON COLUMN data_keys.wrapped IS 'The key, encrypted by the master key (AES-256-GCM); null when it was destroyed.';
COMMENT ON COLUMN data_keys.wrapped_by IS 'Which master key: a fingerprint that tells nothing else about it.';
COMMENT ON COLUMN data_keys.created_at IS 'When it was made: with the first event that needed it.';
COMMENT ON COLUMN data_keys.erased_at IS 'When it was destroyed; null while the person is known.';
