-- Who can be paid bills, and for what. The columns are those of the CSV files, in their order. Rows are replaced a
-- dataset at a time, so what they name is checked at the end of the transaction.
CREATE TABLE biller_categories (
    category_code text    COLLATE "C" NOT NULL PRIMARY KEY,
    category_name text    NOT NULL,
    description   text    NOT NULL,
    is_active     boolean NOT NULL
);

CREATE TABLE billers (
    biller_code                text    COLLATE "C" NOT NULL PRIMARY KEY,
    biller_name                text    NOT NULL,
    category_code              text    COLLATE "C" NOT NULL REFERENCES biller_categories DEFERRABLE INITIALLY DEFERRED,
    country                    text    COLLATE "C" NOT NULL,
    currency_code              text    COLLATE "C" NOT NULL REFERENCES currencies DEFERRABLE INITIALLY DEFERRED,
    customer_reference_label   text    NOT NULL,
    customer_reference_pattern text    NOT NULL,
    is_active                  boolean NOT NULL
);

CREATE TABLE biller_items (
    item_code        text    COLLATE "C" NOT NULL PRIMARY KEY,
    biller_code      text    COLLATE "C" NOT NULL REFERENCES billers DEFERRABLE INITIALLY DEFERRED,
    item_name        text    NOT NULL,
    amount_minor     bigint,
    is_amount_fixed  boolean NOT NULL,
    min_amount_minor bigint,
    max_amount_minor bigint,
    fee_minor        bigint  NOT NULL,
    validity_days    integer,
    currency_code    text    COLLATE "C" NOT NULL REFERENCES currencies DEFERRABLE INITIALLY DEFERRED,
    is_active        boolean NOT NULL
);

COMMENT ON TABLE biller_categories IS 'Kinds of billers. Invented, for the sandbox.';
COMMENT ON COLUMN biller_categories.category_code IS 'Code.';
COMMENT ON COLUMN biller_categories.category_name IS 'Name.';
COMMENT ON COLUMN biller_categories.description IS 'What billers of the kind are paid for.';
COMMENT ON COLUMN biller_categories.is_active IS 'Whether it is in use.';
COMMENT ON TABLE billers IS 'Who can be paid bills. Invented, for the sandbox: no real company is meant.';
COMMENT ON COLUMN billers.biller_code IS 'Code; billerId in the interface.';
COMMENT ON COLUMN billers.biller_name IS 'Name.';
COMMENT ON COLUMN billers.category_code IS 'Its kind.';
COMMENT ON COLUMN billers.country IS 'ISO 3166-1 alpha-2.';
COMMENT ON COLUMN billers.currency_code IS 'What it is paid in, ISO 4217.';
COMMENT ON COLUMN billers.customer_reference_label IS 'What it calls its customers'' numbers, such as Meter number.';
COMMENT ON COLUMN billers.customer_reference_pattern IS 'Regular expression that the whole of such a number matches.';
COMMENT ON COLUMN billers.is_active IS 'Whether it can be paid.';
COMMENT ON TABLE biller_items IS 'What billers sell; sums in minor units.';
COMMENT ON COLUMN biller_items.item_code IS 'Code; itemId in the interface.';
COMMENT ON COLUMN biller_items.biller_code IS 'Who sells it.';
COMMENT ON COLUMN biller_items.item_name IS 'Name.';
COMMENT ON COLUMN biller_items.amount_minor IS 'What it costs; null when the payer chooses.';
COMMENT ON COLUMN biller_items.is_amount_fixed IS 'Whether there is one price; otherwise there are bounds.';
COMMENT ON COLUMN biller_items.min_amount_minor IS 'The least the payer may choose; null when the price is fixed.';
COMMENT ON COLUMN biller_items.max_amount_minor IS 'The most the payer may choose; null when the price is fixed.';
COMMENT ON COLUMN biller_items.fee_minor IS 'What the bank takes from the payer on top; 0 for nothing.';
COMMENT ON COLUMN biller_items.validity_days IS 'Days it is good for; null when it is not for a time.';
COMMENT ON COLUMN biller_items.currency_code IS 'What it is paid in, ISO 4217.';
COMMENT ON COLUMN biller_items.is_active IS 'Whether it can be paid.';
