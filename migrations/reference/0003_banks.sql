-- Banks that can be paid to. The columns are those of banks.csv, in its order.
CREATE TABLE banks (
    bank_code text    COLLATE "C" NOT NULL PRIMARY KEY,
    bank_name text    NOT NULL,
    bank_type text    COLLATE "C" NOT NULL,
    country   text    COLLATE "C" NOT NULL,
    cbn_code  text    COLLATE "C",
    is_active boolean NOT NULL
);

COMMENT ON TABLE banks IS 'Banks of Nigeria, Ghana and Kenya, from public lists. Not an official list: for real money, load the scheme''s own.';
COMMENT ON COLUMN banks.bank_code IS 'Routes payments: the NIBSS institution code in Nigeria, the GhIPSS code in Ghana, the bank code in Kenya.';
COMMENT ON COLUMN banks.bank_name IS 'Name.';
COMMENT ON COLUMN banks.bank_type IS 'COMMERCIAL, NON_INTEREST, MERCHANT, MICROFINANCE, MORTGAGE, MOBILE_MONEY, PAYMENT_SERVICE_BANK, FINANCE_COMPANY, RURAL or SAVINGS_AND_LOANS.';
COMMENT ON COLUMN banks.country IS 'ISO 3166-1 alpha-2.';
COMMENT ON COLUMN banks.cbn_code IS 'Nigeria: the Central Bank''s or the switch''s shorter code, such as 044.';
COMMENT ON COLUMN banks.is_active IS 'Whether it can be paid to.';
