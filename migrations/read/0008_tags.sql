-- What people call transactions by. Each has their own: the two sides of a transaction do not see one another's.
CREATE TABLE tags (
    tag_id            text        COLLATE "C" NOT NULL PRIMARY KEY,
    owner             text        COLLATE "C" NOT NULL,
    name              text        NOT NULL,
    color             text,
    icon              text,
    description       text,
    is_default        boolean     NOT NULL,
    is_active         boolean     NOT NULL,
    transaction_count bigint      NOT NULL,
    created_at        timestamptz NOT NULL,
    last_position     bigint      NOT NULL
);
CREATE INDEX tags_of_owner ON tags (owner);

COMMENT ON TABLE tags IS 'What people call transactions by; each has their own.';
COMMENT ON COLUMN tags.tag_id IS 'tag_ and a UUID.';
COMMENT ON COLUMN tags.owner IS 'User id of whoever made it.';
COMMENT ON COLUMN tags.name IS 'What it is called; unique among the owner''s, whatever the case.';
COMMENT ON COLUMN tags.color IS '# and hexadecimal digits, or the name of a colour.';
COMMENT ON COLUMN tags.icon IS 'As apps name it.';
COMMENT ON COLUMN tags.description IS 'What it is for.';
COMMENT ON COLUMN tags.is_default IS 'Whether apps offer it first.';
COMMENT ON COLUMN tags.is_active IS 'Whether it can be put on transactions.';
COMMENT ON COLUMN tags.transaction_count IS 'Transactions that carry it.';
COMMENT ON COLUMN tags.created_at IS 'When it was made.';
COMMENT ON COLUMN tags.last_position IS 'Position of the last event that changed the row.';

CREATE TABLE tagged_transactions (
    owner          text        COLLATE "C" NOT NULL,
    transaction_id text        COLLATE "C" NOT NULL,
    tag_ids        text[]      COLLATE "C" NOT NULL,
    notes          text,
    tagged_at      timestamptz NOT NULL,
    last_position  bigint      NOT NULL,
    PRIMARY KEY (owner, transaction_id)
);

COMMENT ON TABLE tagged_transactions IS 'Transactions that somebody has put tags or notes on.';
COMMENT ON COLUMN tagged_transactions.owner IS 'User id of whoever did, and who alone sees them.';
COMMENT ON COLUMN tagged_transactions.transaction_id IS 'The transaction.';
COMMENT ON COLUMN tagged_transactions.tag_ids IS 'Its tags, in the order they were given.';
COMMENT ON COLUMN tagged_transactions.notes IS 'What they note about it.';
COMMENT ON COLUMN tagged_transactions.tagged_at IS 'When they last did.';
COMMENT ON COLUMN tagged_transactions.last_position IS 'Position of the last event that changed the row.';
