-- What card numbers begin with. The columns are those of card_bin_ranges.csv, in its order.
CREATE TABLE card_bin_ranges (
    brand_code           text     COLLATE "C" NOT NULL,
    brand_name           text     NOT NULL,
    range_start          text     COLLATE "C" NOT NULL,
    range_end            text     COLLATE "C" NOT NULL,
    prefix_length        smallint NOT NULL,
    pan_lengths          text     COLLATE "C" NOT NULL,
    security_code_length smallint NOT NULL,
    PRIMARY KEY (range_start, range_end)
);

COMMENT ON TABLE card_bin_ranges IS 'What card numbers of each brand begin with. Of overlapping ranges the one with the longer prefix is meant.';
COMMENT ON COLUMN card_bin_ranges.brand_code IS 'The brand: VISA, MASTERCARD, VERVE ...';
COMMENT ON COLUMN card_bin_ranges.brand_name IS 'What people call it.';
COMMENT ON COLUMN card_bin_ranges.range_start IS 'First prefix, inclusive.';
COMMENT ON COLUMN card_bin_ranges.range_end IS 'Last prefix, inclusive, of the same length.';
COMMENT ON COLUMN card_bin_ranges.prefix_length IS 'Digits of the prefixes.';
COMMENT ON COLUMN card_bin_ranges.pan_lengths IS 'Digits a whole number can have, separated by |.';
COMMENT ON COLUMN card_bin_ranges.security_code_length IS 'Digits of the security code.';
