-- Currencies: what a minor unit is. The columns are those of currencies.csv, in its order.
CREATE TABLE currencies (
    currency_code text     COLLATE "C" NOT NULL PRIMARY KEY,
    numeric_code  text     COLLATE "C" NOT NULL,
    currency_name text     NOT NULL,
    minor_unit    smallint,
    is_active     boolean  NOT NULL
);

COMMENT ON TABLE currencies IS 'Currencies of ISO 4217: what the minor units of every amount mean.';
COMMENT ON COLUMN currencies.currency_code IS 'ISO 4217, three letters.';
COMMENT ON COLUMN currencies.numeric_code IS 'ISO 4217, three digits.';
COMMENT ON COLUMN currencies.currency_name IS 'English name.';
COMMENT ON COLUMN currencies.minor_unit IS 'Decimals: an amount divided by ten to this power is in whole units. Null for metals and special codes.';
COMMENT ON COLUMN currencies.is_active IS 'Whether it is everyday money.';
