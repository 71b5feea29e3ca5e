-- The Merkle tree over the log, and what was signed of it. All of it follows from the events: two servers that seal at
-- once write the same, and the longer wins.
CREATE TABLE tiles (
    level  smallint NOT NULL,
    index  bigint   NOT NULL,
    hashes bytea    NOT NULL,
    PRIMARY KEY (level, index)
);
-- Hashes do not compress.
ALTER TABLE tiles ALTER COLUMN hashes SET STORAGE EXTERNAL;

CREATE TABLE seals (
    size      bigint      NOT NULL PRIMARY KEY,
    root      bytea       NOT NULL,
    sealed_at timestamptz NOT NULL,
    note      text        NOT NULL
);

COMMENT ON TABLE tiles IS 'The tree of the log (RFC 6962) in tiles of 256 hashes, as C2SP tlog-tiles lays them out.';
COMMENT ON COLUMN tiles.level IS '0 holds hashes of events; each level above, hashes of whole tiles of the one below.';
COMMENT ON COLUMN tiles.index IS 'Place in its level, from 0.';
COMMENT ON COLUMN tiles.hashes IS 'SHA-256 hashes, 32 bytes each; fewer than 256 at the right edge of the tree.';
COMMENT ON TABLE seals IS 'Each root of the tree that was signed.';
COMMENT ON COLUMN seals.size IS 'Events in the tree: positions 1 to this one.';
COMMENT ON COLUMN seals.root IS 'Its root, SHA-256.';
COMMENT ON COLUMN seals.sealed_at IS 'When it was signed.';
COMMENT ON COLUMN seals.note IS 'The signed note (C2SP tlog-checkpoint).';
