-- How often, and how long. The columns are those of periods.csv and loan_intervals.csv, in their order.
CREATE TABLE periods (
    period_code text    COLLATE "C" NOT NULL PRIMARY KEY,
    period_name text    NOT NULL,
    duration    text    COLLATE "C" NOT NULL,
    description text    NOT NULL,
    is_active   boolean NOT NULL
);

COMMENT ON TABLE periods IS 'How often something can repeat.';
COMMENT ON COLUMN periods.period_code IS 'Code.';
COMMENT ON COLUMN periods.period_name IS 'Name.';
COMMENT ON COLUMN periods.duration IS 'ISO 8601, such as P1M.';
COMMENT ON COLUMN periods.description IS 'What it means.';
COMMENT ON COLUMN periods.is_active IS 'Whether it can be chosen.';

CREATE TABLE loan_intervals (
    loan_interval_code text     COLLATE "C" NOT NULL PRIMARY KEY,
    loan_interval_name text     NOT NULL,
    duration_in_months smallint NOT NULL,
    description        text     NOT NULL,
    is_active          boolean  NOT NULL
);

COMMENT ON TABLE loan_intervals IS 'How long loans usually run.';
COMMENT ON COLUMN loan_intervals.loan_interval_code IS 'Code.';
COMMENT ON COLUMN loan_intervals.loan_interval_name IS 'Name.';
COMMENT ON COLUMN loan_intervals.duration_in_months IS 'Months.';
COMMENT ON COLUMN loan_intervals.description IS 'What it means.';
COMMENT ON COLUMN loan_intervals.is_active IS 'Whether it can be chosen.';
