-- Where people live. The columns are those of countries.csv, states.csv and cities.csv, in their order.
CREATE TABLE countries (
    country_code  text    COLLATE "C" NOT NULL PRIMARY KEY,
    country_name  text    NOT NULL,
    phone_code    text    COLLATE "C",
    currency      text,
    currency_code text    COLLATE "C",
    is_active     boolean NOT NULL,
    flag          text
);

COMMENT ON TABLE countries IS 'Countries and territories of ISO 3166-1.';
COMMENT ON COLUMN countries.country_code IS 'ISO 3166-1 alpha-2.';
COMMENT ON COLUMN countries.country_name IS 'Name in English.';
COMMENT ON COLUMN countries.phone_code IS 'What international calls begin with, such as +234.';
COMMENT ON COLUMN countries.currency IS 'Name of its money.';
COMMENT ON COLUMN countries.currency_code IS 'ISO 4217 code of its money.';
COMMENT ON COLUMN countries.is_active IS 'Whether it can be chosen.';
COMMENT ON COLUMN countries.flag IS 'Its flag as an emoji.';

CREATE TABLE states (
    country_code      text    COLLATE "C" NOT NULL,
    state_code        text    COLLATE "C" NOT NULL PRIMARY KEY,
    state_name        text    NOT NULL,
    capital           text,
    is_active         boolean NOT NULL,
    parent_state_code text    COLLATE "C"
);

COMMENT ON TABLE states IS 'Subdivisions of countries (ISO 3166-2): states, provinces, regions.';
COMMENT ON COLUMN states.country_code IS 'Country it is part of.';
COMMENT ON COLUMN states.state_code IS 'ISO 3166-2, such as NG-LA.';
COMMENT ON COLUMN states.state_name IS 'Name in English.';
COMMENT ON COLUMN states.capital IS 'Its capital, where known.';
COMMENT ON COLUMN states.is_active IS 'Whether it can be chosen.';
COMMENT ON COLUMN states.parent_state_code IS 'Subdivision that it is itself part of.';

CREATE TABLE cities (
    city_code     text    COLLATE "C" NOT NULL PRIMARY KEY,
    state_code    text    COLLATE "C",
    country_code  text    COLLATE "C" NOT NULL,
    city_name     text    NOT NULL,
    is_capital    boolean NOT NULL,
    population    bigint,
    is_active     boolean NOT NULL,
    capital_level text    COLLATE "C"
);

COMMENT ON TABLE cities IS 'Cities and larger towns, from GeoNames.';
COMMENT ON COLUMN cities.city_code IS 'GeoNames id.';
COMMENT ON COLUMN cities.state_code IS 'Subdivision it lies in, where known.';
COMMENT ON COLUMN cities.country_code IS 'Country it lies in.';
COMMENT ON COLUMN cities.city_name IS 'Name.';
COMMENT ON COLUMN cities.is_capital IS 'Whether it is a capital, of whatever.';
COMMENT ON COLUMN cities.population IS 'People, where known.';
COMMENT ON COLUMN cities.is_active IS 'Whether it can be chosen.';
COMMENT ON COLUMN cities.capital_level IS 'What it is the capital of: country, state.';
