-- Whom customers keep to pay again, and how often they did.
CREATE TABLE beneficiaries (
    beneficiary_id   text        COLLATE "C" NOT NULL PRIMARY KEY,
    owner            text        COLLATE "C" NOT NULL,
    kind             text        COLLATE "C" NOT NULL,
    institution      text        COLLATE "C",
    institution_name text,
    number           text        COLLATE "C" NOT NULL,
    name             text,
    nickname         text,
    is_favorite      boolean     NOT NULL,
    last_used_at     timestamptz,
    payment_count    bigint      NOT NULL,
    created_at       timestamptz NOT NULL,
    last_position    bigint      NOT NULL
);
CREATE INDEX beneficiaries_of_owner ON beneficiaries (owner, kind, created_at DESC);

COMMENT ON TABLE beneficiaries IS 'Whom customers keep to pay again.';
COMMENT ON COLUMN beneficiaries.beneficiary_id IS 'ben_ and a UUID.';
COMMENT ON COLUMN beneficiaries.owner IS 'User id of the customer whose list it is in.';
COMMENT ON COLUMN beneficiaries.kind IS 'How they are paid: EXTERNAL, INTERNAL, BILLS or MWALLET.';
COMMENT ON COLUMN beneficiaries.institution IS 'Code of the bank or biller, or the wallet provider; null for this bank.';
COMMENT ON COLUMN beneficiaries.institution_name IS 'Name of the bank or biller.';
COMMENT ON COLUMN beneficiaries.number IS 'Account, customer or phone number there.';
COMMENT ON COLUMN beneficiaries.name IS 'The payee''s name as the customer gave it.';
COMMENT ON COLUMN beneficiaries.nickname IS 'What the customer calls it.';
COMMENT ON COLUMN beneficiaries.is_favorite IS 'Whether it comes first.';
COMMENT ON COLUMN beneficiaries.last_used_at IS 'When they were last paid; null for never since they were added.';
COMMENT ON COLUMN beneficiaries.payment_count IS 'Payments to them since they were added.';
COMMENT ON COLUMN beneficiaries.created_at IS 'When they were added.';
COMMENT ON COLUMN beneficiaries.last_position IS 'Position of the last event that changed the row.';
