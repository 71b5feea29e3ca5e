-- Cards that customers have.
CREATE TABLE cards (
    card_id             text        COLLATE "C" NOT NULL PRIMARY KEY,
    owner               text        COLLATE "C" NOT NULL,
    bin                 text        COLLATE "C" NOT NULL,
    last_four           text        COLLATE "C" NOT NULL,
    brand               text        COLLATE "C" NOT NULL,
    card_type           text        COLLATE "C" NOT NULL,
    status              text        COLLATE "C" NOT NULL,
    expiry              text        COLLATE "C" NOT NULL,
    expires_at          timestamptz NOT NULL,
    holder_name         text,
    issuing_bank        text,
    is_default          boolean     NOT NULL,
    currency            text        COLLATE "C" NOT NULL,
    daily_limit         bigint      NOT NULL,
    monthly_limit       bigint      NOT NULL,
    last_transaction_at timestamptz,
    linked_at           timestamptz NOT NULL,
    version             bigint      NOT NULL,
    last_position       bigint      NOT NULL
);
CREATE INDEX cards_of_owner ON cards (owner, linked_at DESC);

COMMENT ON TABLE cards IS 'Cards that customers have; a removed one is not here. Full numbers and security codes are nowhere.';
COMMENT ON COLUMN cards.card_id IS 'card_ and a UUID.';
COMMENT ON COLUMN cards.owner IS 'User id of the customer.';
COMMENT ON COLUMN cards.bin IS 'First six digits of the number.';
COMMENT ON COLUMN cards.last_four IS 'Last four digits of the number.';
COMMENT ON COLUMN cards.brand IS 'Brand, by reference.card_bin_ranges.brand_code.';
COMMENT ON COLUMN cards.card_type IS 'Whose money it spends: DEBIT (the holder''s) or CREDIT (the issuer''s).';
COMMENT ON COLUMN cards.status IS 'ACTIVE or BLOCKED; from expires_at on it is EXPIRED whatever this says.';
COMMENT ON COLUMN cards.expiry IS 'The month it is good until, MM/YY.';
COMMENT ON COLUMN cards.expires_at IS 'When that month is over, UTC.';
COMMENT ON COLUMN cards.holder_name IS 'The name on it.';
COMMENT ON COLUMN cards.issuing_bank IS 'Who issued it, as its holder says.';
COMMENT ON COLUMN cards.is_default IS 'Whether it is its holder''s default; at most one is.';
COMMENT ON COLUMN cards.currency IS 'The currency it is charged in, ISO 4217.';
COMMENT ON COLUMN cards.daily_limit IS 'What may be taken from it a UTC day, minor units.';
COMMENT ON COLUMN cards.monthly_limit IS 'What may be taken from it a UTC month, minor units.';
COMMENT ON COLUMN cards.last_transaction_at IS 'When money was last taken from it.';
COMMENT ON COLUMN cards.linked_at IS 'When it was linked, the last time.';
COMMENT ON COLUMN cards.version IS 'Its events so far.';
COMMENT ON COLUMN cards.last_position IS 'Position of the last event that changed the row.';
