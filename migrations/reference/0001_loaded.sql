-- Which dataset is in its table, and in which version. Datasets come with the bank, as CSV files beside this one; a
-- start whose file differs from what is loaded replaces the table's rows.
CREATE TABLE loaded (
    dataset text   COLLATE "C" NOT NULL PRIMARY KEY,
    sha256  text   COLLATE "C" NOT NULL,
    rows    bigint NOT NULL
);

COMMENT ON TABLE loaded IS 'Which version of each dataset is in its table.';
COMMENT ON COLUMN loaded.dataset IS 'Name of the dataset and of its table.';
COMMENT ON COLUMN loaded.sha256 IS 'SHA-256 of the file it was loaded from, in hex.';
COMMENT ON COLUMN loaded.rows IS 'Rows that were loaded.';
