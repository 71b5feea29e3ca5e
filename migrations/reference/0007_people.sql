-- What people say about themselves. The columns are those of the files of the same names, in their order.
CREATE TABLE genders (
    gender_code text    COLLATE "C" NOT NULL PRIMARY KEY,
    gender_name text    NOT NULL,
    description text    NOT NULL,
    is_active   boolean NOT NULL
);

COMMENT ON TABLE genders IS 'Genders that can be recorded.';
COMMENT ON COLUMN genders.gender_code IS 'Code.';
COMMENT ON COLUMN genders.gender_name IS 'Name.';
COMMENT ON COLUMN genders.description IS 'What it means.';
COMMENT ON COLUMN genders.is_active IS 'Whether it can be chosen.';

CREATE TABLE marital_statuses (
    marital_status_code text    COLLATE "C" NOT NULL PRIMARY KEY,
    marital_status_name text    NOT NULL,
    description         text    NOT NULL,
    is_active           boolean NOT NULL
);

COMMENT ON TABLE marital_statuses IS 'Marital statuses that can be recorded.';
COMMENT ON COLUMN marital_statuses.marital_status_code IS 'Code.';
COMMENT ON COLUMN marital_statuses.marital_status_name IS 'Name.';
COMMENT ON COLUMN marital_statuses.description IS 'What it means.';
COMMENT ON COLUMN marital_statuses.is_active IS 'Whether it can be chosen.';

CREATE TABLE professions (
    profession_code text COLLATE "C" NOT NULL PRIMARY KEY,
    profession_name text NOT NULL,
    category        text NOT NULL
);

COMMENT ON TABLE professions IS 'Unit groups of ISCO-08, as the ESCO classification of the European Commission names them.';
COMMENT ON COLUMN professions.profession_code IS 'ISCO-08, four digits.';
COMMENT ON COLUMN professions.profession_name IS 'Name.';
COMMENT ON COLUMN professions.category IS 'Title of its major group.';

CREATE TABLE relationships (
    relationship_code text    COLLATE "C" NOT NULL PRIMARY KEY,
    relationship_name text    NOT NULL,
    description       text    NOT NULL,
    is_active         boolean NOT NULL
);

COMMENT ON TABLE relationships IS 'How somebody else can stand to a customer.';
COMMENT ON COLUMN relationships.relationship_code IS 'Code.';
COMMENT ON COLUMN relationships.relationship_name IS 'Name.';
COMMENT ON COLUMN relationships.description IS 'What it means.';
COMMENT ON COLUMN relationships.is_active IS 'Whether it can be chosen.';
