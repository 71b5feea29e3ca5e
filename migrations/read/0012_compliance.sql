-- What customers say about themselves and those close to them, and what staff think of it.
CREATE TABLE compliance_records (
    record_id        text        COLLATE "C" NOT NULL PRIMARY KEY,
    owner            text        COLLATE "C" NOT NULL,
    kind             text        COLLATE "C" NOT NULL,
    details          jsonb       NOT NULL,
    status           text        COLLATE "C" NOT NULL,
    rejection_reason text,
    created_at       timestamptz NOT NULL,
    updated_at       timestamptz NOT NULL,
    last_position    bigint      NOT NULL
);
CREATE INDEX compliance_records_of_owner ON compliance_records (owner, kind, created_at DESC);

COMMENT ON TABLE compliance_records IS 'Addresses, next of kin, employments and emergency contacts of customers.';
COMMENT ON COLUMN compliance_records.record_id IS 'addr_, kin_, emp_ or ect_ and a UUID.';
COMMENT ON COLUMN compliance_records.owner IS 'User id of the customer whose record it is.';
COMMENT ON COLUMN compliance_records.kind IS 'ADDRESS, KIN, EMPLOYMENT or EMERGENCY_CONTACT.';
COMMENT ON COLUMN compliance_records.details IS 'What it says: every field by its name in the interface, such as details ->> ''countryCode'' of an address or details ->> ''relationship'' of next of kin; what is not said is null, what is erased says [erased] or is null.';
COMMENT ON COLUMN compliance_records.status IS 'What staff think of it: PENDING, VERIFIED or REJECTED.';
COMMENT ON COLUMN compliance_records.rejection_reason IS 'Why it is rejected; null unless it is.';
COMMENT ON COLUMN compliance_records.created_at IS 'When it was made, whole milliseconds.';
COMMENT ON COLUMN compliance_records.updated_at IS 'When it was last changed or judged.';
COMMENT ON COLUMN compliance_records.last_position IS 'Position of the last event that changed the row.';
