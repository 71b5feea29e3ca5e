-- Whose events are whose.
CREATE TABLE stream_owners (
    stream        text   COLLATE "C" NOT NULL PRIMARY KEY,
    owner         text   COLLATE "C" NOT NULL,
    last_position bigint NOT NULL
);

COMMENT ON TABLE stream_owners IS 'Whose an account, a payment, a card ... is: everything with an owner that is not named by a person''s id.';
COMMENT ON COLUMN stream_owners.stream IS 'The noun, a colon and the id: account:1000000008.';
COMMENT ON COLUMN stream_owners.owner IS 'User id of whose it is.';
COMMENT ON COLUMN stream_owners.last_position IS 'Position of the event that said so: its first.';

CREATE TABLE own_events (
    owner    text   COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    PRIMARY KEY (owner, position)
);

COMMENT ON TABLE own_events IS 'Which events a person may hear of: those of everything that is theirs, and money that they get.';
COMMENT ON COLUMN own_events.owner IS 'User id of the person.';
COMMENT ON COLUMN own_events.position IS 'Position of the event in the log.';
