-- Countries by their longer code too: people write either.
ALTER TABLE countries ADD COLUMN alpha3_code text COLLATE "C";

COMMENT ON COLUMN countries.alpha3_code IS 'ISO 3166-1 alpha-3.';
