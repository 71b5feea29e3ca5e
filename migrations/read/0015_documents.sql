-- Evidence that customers handed in.
CREATE TABLE documents (
    document_id      text        COLLATE "C" NOT NULL PRIMARY KEY,
    owner            text        COLLATE "C" NOT NULL,
    purpose          text        COLLATE "C" NOT NULL,
    document_type    text        COLLATE "C" NOT NULL,
    status           text        COLLATE "C" NOT NULL,
    name             text,
    description      text,
    number           text,
    issuing_country  text        COLLATE "C",
    issue_date       date,
    expiry_date      date,
    side             text        COLLATE "C",
    file_type        text        COLLATE "C" NOT NULL,
    file_id          text        COLLATE "C" NOT NULL,
    sha256           text        COLLATE "C" NOT NULL,
    size             bigint      NOT NULL,
    extracted_from   text        COLLATE "C",
    extracted_number text,
    extracted_name   text,
    extracted_birth  date,
    extracted_expiry date,
    note             text,
    decided_by       text        COLLATE "C",
    decided_at       timestamptz,
    uploaded_at      timestamptz NOT NULL,
    version          bigint      NOT NULL,
    last_position    bigint      NOT NULL
);
CREATE INDEX documents_of_owner ON documents (owner, uploaded_at DESC);
CREATE INDEX documents_by_status ON documents (status, uploaded_at DESC);

COMMENT ON TABLE documents IS 'Evidence that customers handed in, and what staff made of it. The files are elsewhere, encrypted.';
COMMENT ON COLUMN documents.document_id IS 'doc_ and a UUID.';
COMMENT ON COLUMN documents.owner IS 'User id of whoever handed it in.';
COMMENT ON COLUMN documents.purpose IS 'COMPLIANCE, or IDENTIFICATION when it shows who somebody is.';
COMMENT ON COLUMN documents.document_type IS 'Kind of document in its owner''s words, such as PASSPORT.';
COMMENT ON COLUMN documents.status IS 'PENDING, VERIFIED or REJECTED.';
COMMENT ON COLUMN documents.name IS 'What its owner calls it.';
COMMENT ON COLUMN documents.description IS 'What its owner says about it.';
COMMENT ON COLUMN documents.number IS 'The number on it, as its owner says.';
COMMENT ON COLUMN documents.issuing_country IS 'Who issued it, as its owner says: ISO 3166-1 alpha-2.';
COMMENT ON COLUMN documents.issue_date IS 'When it was issued, as its owner says.';
COMMENT ON COLUMN documents.expiry_date IS 'Until when it is good, as its owner says.';
COMMENT ON COLUMN documents.side IS 'FRONT or BACK, of an identity document.';
COMMENT ON COLUMN documents.file_type IS 'PDF, JPG or PNG.';
COMMENT ON COLUMN documents.file_id IS 'Name of the file in the file store.';
COMMENT ON COLUMN documents.sha256 IS 'SHA-256 of the encrypted file, hex.';
COMMENT ON COLUMN documents.size IS 'Bytes as they were handed in.';
COMMENT ON COLUMN documents.extracted_from IS 'Where the extracted_ columns come from: MRZ (read from the document) or SUBMITTED (its owner says so).';
COMMENT ON COLUMN documents.extracted_number IS 'Number of the document.';
COMMENT ON COLUMN documents.extracted_name IS 'Name on the document.';
COMMENT ON COLUMN documents.extracted_birth IS 'Date of birth on the document.';
COMMENT ON COLUMN documents.extracted_expiry IS 'Date until which the document is good.';
COMMENT ON COLUMN documents.note IS 'What staff noted when they decided; the reason of a rejection.';
COMMENT ON COLUMN documents.decided_by IS 'User id of the member of staff who decided.';
COMMENT ON COLUMN documents.decided_at IS 'When they did.';
COMMENT ON COLUMN documents.uploaded_at IS 'When it was handed in.';
COMMENT ON COLUMN documents.version IS 'Its events so far.';
COMMENT ON COLUMN documents.last_position IS 'Position of the last event that changed the row.';
