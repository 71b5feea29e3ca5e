-- Logins that may still be refreshed: how many devices somebody is logged in on.
CREATE TABLE sessions (
    session_id    text        COLLATE "C" NOT NULL PRIMARY KEY,
    owner         text        COLLATE "C" NOT NULL,
    device_id     text        NOT NULL,
    started_at    timestamptz NOT NULL,
    refreshed_at  timestamptz,
    expires_at    timestamptz NOT NULL,
    last_position bigint      NOT NULL
);
CREATE INDEX sessions_of_owner ON sessions (owner);

COMMENT ON TABLE sessions IS 'Logins that are not over. A row goes when its session ends; one that has expired goes when its owner logs in again.';
COMMENT ON COLUMN sessions.session_id IS 'ses_ and a UUID.';
COMMENT ON COLUMN sessions.owner IS 'User id of whoever logged in.';
COMMENT ON COLUMN sessions.device_id IS 'The device it is bound to, as the app named it.';
COMMENT ON COLUMN sessions.started_at IS 'When they logged in.';
COMMENT ON COLUMN sessions.refreshed_at IS 'When its tokens were last exchanged; null for never.';
COMMENT ON COLUMN sessions.expires_at IS 'When it is over unless it is refreshed before.';
COMMENT ON COLUMN sessions.last_position IS 'Position of the last event that changed the row.';
