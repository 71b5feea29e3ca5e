-- Every event says whose it is: only the owners of accounts are looked up, for whoever gets money.
CREATE TABLE account_owners (
    account       text   COLLATE "C" NOT NULL PRIMARY KEY,
    owner         text   COLLATE "C" NOT NULL,
    last_position bigint NOT NULL
);

INSERT INTO account_owners
SELECT substr(stream, length('account:') + 1), owner, last_position FROM stream_owners WHERE stream LIKE 'account:%';

DROP TABLE stream_owners;

COMMENT ON TABLE account_owners IS 'Whose an account is, to tell whoever gets money.';
COMMENT ON COLUMN account_owners.account IS 'Account number.';
COMMENT ON COLUMN account_owners.owner IS 'User id of who holds it.';
COMMENT ON COLUMN account_owners.last_position IS 'Position of the event that opened it.';
