-- What staff look for: people by what is known of them, payments by their reference, and what waits for a decision.
ALTER TABLE users
    ADD COLUMN erasure_requested_by text COLLATE "C",
    ADD COLUMN erasure_requested_at timestamptz;

COMMENT ON COLUMN users.erasure_requested_by IS 'The member of staff who asked for the person to be erased; null when nobody has, and once it is done.';
COMMENT ON COLUMN users.erasure_requested_at IS 'When they asked.';

-- Beginnings of words, whatever their case: an index cannot help to find what is in the middle.
CREATE INDEX users_by_first_name ON users (lower(first_name) text_pattern_ops);
CREATE INDEX users_by_last_name ON users (lower(last_name) text_pattern_ops);
CREATE INDEX users_by_email ON users (email text_pattern_ops);
CREATE INDEX users_by_phone_number ON users (phone_number text_pattern_ops);
CREATE INDEX users_to_erase ON users (erasure_requested_at) WHERE erasure_requested_at IS NOT NULL;

-- References are long and only ever compared.
CREATE INDEX transactions_by_reference ON transactions USING hash (reference);

CREATE INDEX compliance_records_pending ON compliance_records (created_at) WHERE status = 'PENDING';
CREATE INDEX cards_pending ON cards (linked_at) WHERE status = 'PENDING';
