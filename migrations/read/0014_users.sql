-- People, as they are known.
CREATE TABLE users (
    user_id              text        COLLATE "C" NOT NULL PRIMARY KEY,
    status               text        COLLATE "C" NOT NULL,
    verification_level   text        COLLATE "C" NOT NULL,
    first_name           text        NOT NULL,
    last_name            text        NOT NULL,
    email                text        NOT NULL,
    email_verified       boolean     NOT NULL,
    phone_number         text        NOT NULL,
    phone_verified       boolean     NOT NULL,
    date_of_birth        date,
    country_code         text        COLLATE "C" NOT NULL,
    language             text,
    timezone             text,
    notify_email         boolean,
    notify_sms           boolean,
    notify_push          boolean,
    street               text,
    city                 text,
    state                text,
    postal_code          text,
    country              text,
    waiting_first_name   text,
    waiting_last_name    text,
    waiting_email        text,
    waiting_phone_number text,
    avatar_id            text        COLLATE "C",
    created_at           timestamptz NOT NULL,
    updated_at           timestamptz NOT NULL,
    version              bigint      NOT NULL,
    last_position        bigint      NOT NULL
);
CREATE INDEX users_by_creation ON users (created_at DESC);

COMMENT ON TABLE users IS 'People: customers and staff, as they are known. What is personal reads [erased] once somebody is erased.';
COMMENT ON COLUMN users.user_id IS 'usr_ and a UUID.';
COMMENT ON COLUMN users.status IS 'PENDING until the identity is verified or a holder of an account is recognised, then ACTIVE; ERASED for good.';
COMMENT ON COLUMN users.verification_level IS 'NONE, or FULL once the bank knows who they are.';
COMMENT ON COLUMN users.first_name IS 'Given name.';
COMMENT ON COLUMN users.last_name IS 'Family name.';
COMMENT ON COLUMN users.email IS 'Where mail goes, lower case.';
COMMENT ON COLUMN users.email_verified IS 'Whether they have proven to have the mailbox.';
COMMENT ON COLUMN users.phone_number IS 'Their phone, E.164.';
COMMENT ON COLUMN users.phone_verified IS 'Whether they have proven to have the phone.';
COMMENT ON COLUMN users.date_of_birth IS 'Date of birth; null once erased.';
COMMENT ON COLUMN users.country_code IS 'Country they registered from, by reference.countries.country_code.';
COMMENT ON COLUMN users.language IS 'Language they prefer, BCP 47.';
COMMENT ON COLUMN users.timezone IS 'Time zone they live in, IANA.';
COMMENT ON COLUMN users.notify_email IS 'Whether they want mail; null means that they have not said.';
COMMENT ON COLUMN users.notify_sms IS 'Whether they want short messages; null means that they have not said.';
COMMENT ON COLUMN users.notify_push IS 'Whether they want notifications in the app; null means that they have not said.';
COMMENT ON COLUMN users.street IS 'Street and number, as they say.';
COMMENT ON COLUMN users.city IS 'City, as they say.';
COMMENT ON COLUMN users.state IS 'State or province, as they say.';
COMMENT ON COLUMN users.postal_code IS 'Postal code, as they say.';
COMMENT ON COLUMN users.country IS 'Country they live in, by reference.countries.country_code.';
COMMENT ON COLUMN users.waiting_first_name IS 'Given name that counts once their identity is verified anew.';
COMMENT ON COLUMN users.waiting_last_name IS 'Family name that counts once their identity is verified anew.';
COMMENT ON COLUMN users.waiting_email IS 'Where mail goes once they have proven to have the mailbox.';
COMMENT ON COLUMN users.waiting_phone_number IS 'Their phone once they have proven to have it.';
COMMENT ON COLUMN users.avatar_id IS 'Their picture, avt_ and a UUID.';
COMMENT ON COLUMN users.created_at IS 'When they registered.';
COMMENT ON COLUMN users.updated_at IS 'When any of this last changed.';
COMMENT ON COLUMN users.version IS 'Their events so far.';
COMMENT ON COLUMN users.last_position IS 'Position of the last event that changed the row.';
