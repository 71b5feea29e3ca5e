-- Cards of the bank's own stand beside those of other banks.
ALTER TABLE cards
    ADD COLUMN form           text COLLATE "C",
    ADD COLUMN linked_account text COLLATE "C";

COMMENT ON COLUMN cards.status IS 'PENDING, ACTIVE or BLOCKED; from expires_at on it is EXPIRED whatever this says.';
COMMENT ON COLUMN cards.linked_at IS 'When it was linked, the last time; for a card of the bank''s own, when it was asked for.';
COMMENT ON COLUMN cards.form IS 'Whether a card of the bank''s own is something to hold: PHYSICAL or VIRTUAL; null for a card of another bank.';
COMMENT ON COLUMN cards.linked_account IS 'Number of the account whose money it spends; null for a card of another bank.';
