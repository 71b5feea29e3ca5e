-- What another bank knew of customers and accounts that were taken over from it, so that support finds them by that bank's
-- names for them.
ALTER TABLE users ADD COLUMN source_id text COLLATE "C";
ALTER TABLE accounts ADD COLUMN taken_over_on date, ADD COLUMN source_id text COLLATE "C";
CREATE INDEX users_by_source ON users (source_id) WHERE source_id IS NOT NULL;
CREATE INDEX accounts_by_source ON accounts (source_id) WHERE source_id IS NOT NULL;

COMMENT ON COLUMN users.source_id IS 'What the bank called them from which they were taken over.';
COMMENT ON COLUMN users.created_at IS 'When they registered; here or at the bank from which they were taken over.';
COMMENT ON COLUMN accounts.taken_over_on IS 'UTC day on which it was taken over from another bank; interest before it was that bank''s.';
COMMENT ON COLUMN accounts.source_id IS 'What that bank called it.';
COMMENT ON COLUMN accounts.opened_at IS 'When it was opened; here or at the bank from which it was taken over.';
COMMENT ON COLUMN statement_entries.recorded_at IS 'When it was posted; for the customer''s side of what was taken over from another bank, when it had happened there. The position tells when this bank recorded it.';
COMMENT ON COLUMN transactions.recorded_at IS 'When it was made; here or at the bank from which it was taken over.';
COMMENT ON COLUMN daily_balances.day IS 'UTC day; what was taken over from another bank has its days there.';
