-- Communities: people who put money by together, who they are, and what they take out.
CREATE TABLE communities (
    community_id           text        COLLATE "C" NOT NULL PRIMARY KEY,
    community_name         text        NOT NULL,
    description            text,
    category               text        COLLATE "C" NOT NULL,
    admin_user_id          text        COLLATE "C" NOT NULL,
    account_number         text        COLLATE "C" NOT NULL,
    holder                 text        COLLATE "C" NOT NULL,
    currency               text        COLLATE "C" NOT NULL,
    logo                   text,
    tags                   jsonb       NOT NULL,
    rules                  jsonb       NOT NULL,
    max_participants       bigint      NOT NULL,
    participants           bigint      NOT NULL,
    is_private             boolean     NOT NULL,
    auto_approve           boolean     NOT NULL,
    contribution_amount    bigint,
    contribution_frequency text        COLLATE "C",
    withdrawal_policy      text        COLLATE "C" NOT NULL,
    created_at             timestamptz NOT NULL,
    updated_at             timestamptz NOT NULL,
    version                bigint      NOT NULL,
    last_position          bigint      NOT NULL
);

CREATE TABLE community_participants (
    participant_id text        COLLATE "C" NOT NULL PRIMARY KEY,
    community_id   text        COLLATE "C" NOT NULL,
    user_id        text        COLLATE "C" NOT NULL,
    mandate_id     text        COLLATE "C",
    joined_at      timestamptz NOT NULL,
    last_position  bigint      NOT NULL
);
CREATE INDEX community_participants_of_community ON community_participants (community_id);
CREATE INDEX community_participants_of_user ON community_participants (user_id);

CREATE TABLE community_withdrawals (
    withdrawal_id       text        COLLATE "C" NOT NULL PRIMARY KEY,
    community_id        text        COLLATE "C" NOT NULL,
    participant_id      text        COLLATE "C" NOT NULL,
    amount              bigint      NOT NULL,
    destination_account text        COLLATE "C" NOT NULL,
    narration           text,
    status              text        COLLATE "C" NOT NULL,
    approvals           bigint      NOT NULL,
    rejections          bigint      NOT NULL,
    transaction_id      text        COLLATE "C",
    requested_at        timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL,
    last_position       bigint      NOT NULL
);
CREATE INDEX community_withdrawals_of_community ON community_withdrawals (community_id, requested_at DESC);

COMMENT ON TABLE communities IS 'People who put money by together, and what they have agreed on.';
COMMENT ON COLUMN communities.community_id IS 'com_ and a UUID.';
COMMENT ON COLUMN communities.community_name IS 'What it is called.';
COMMENT ON COLUMN communities.description IS 'What it is about.';
COMMENT ON COLUMN communities.category IS 'SAVINGS, INVESTMENT, FAMILY, BUSINESS, CHARITY, SOCIAL or OTHER.';
COMMENT ON COLUMN communities.admin_user_id IS 'User id of whoever administers it.';
COMMENT ON COLUMN communities.account_number IS 'The account that holds its money.';
COMMENT ON COLUMN communities.holder IS 'Who holds that account: an id of the community''s own that nobody can log in with.';
COMMENT ON COLUMN communities.currency IS 'ISO 4217.';
COMMENT ON COLUMN communities.logo IS 'URL of its picture.';
COMMENT ON COLUMN communities.tags IS 'Words to find it by: a JSON list.';
COMMENT ON COLUMN communities.rules IS 'Its rules in words: a JSON list.';
COMMENT ON COLUMN communities.max_participants IS 'How many may be in it, the admin included.';
COMMENT ON COLUMN communities.participants IS 'How many are.';
COMMENT ON COLUMN communities.is_private IS 'Whether nobody joins without the invite code or an invitation of the admin''s.';
COMMENT ON COLUMN communities.auto_approve IS 'Whether whoever may join does so without being let in.';
COMMENT ON COLUMN communities.contribution_amount IS 'A contribution, minor units; null where the rules ask for none.';
COMMENT ON COLUMN communities.contribution_frequency IS 'DAILY, WEEKLY, MONTHLY, QUARTERLY or YEARLY; null where the rules ask for none.';
COMMENT ON COLUMN communities.withdrawal_policy IS 'Who may take money out: ADMIN_ONLY, MAJORITY or ROTATING.';
COMMENT ON COLUMN communities.created_at IS 'When it began.';
COMMENT ON COLUMN communities.updated_at IS 'When it last changed.';
COMMENT ON COLUMN communities.version IS 'Events so far.';
COMMENT ON COLUMN communities.last_position IS 'Position of the last event that changed the row.';

COMMENT ON TABLE community_participants IS 'Who is in which community. A row goes when they leave.';
COMMENT ON COLUMN community_participants.participant_id IS 'par_ and a UUID.';
COMMENT ON COLUMN community_participants.community_id IS 'The community.';
COMMENT ON COLUMN community_participants.user_id IS 'User id of the participant.';
COMMENT ON COLUMN community_participants.mandate_id IS 'The mandate that they contribute by, live or over; null when they never did.';
COMMENT ON COLUMN community_participants.joined_at IS 'When they joined.';
COMMENT ON COLUMN community_participants.last_position IS 'Position of the last event that changed the row.';

COMMENT ON TABLE community_withdrawals IS 'Money that participants have taken out of their community, or want to.';
COMMENT ON COLUMN community_withdrawals.withdrawal_id IS 'wdr_ and a UUID.';
COMMENT ON COLUMN community_withdrawals.community_id IS 'The community.';
COMMENT ON COLUMN community_withdrawals.participant_id IS 'Who wants it.';
COMMENT ON COLUMN community_withdrawals.amount IS 'Minor units.';
COMMENT ON COLUMN community_withdrawals.destination_account IS 'The account of theirs that it goes to.';
COMMENT ON COLUMN community_withdrawals.narration IS 'What it is for.';
COMMENT ON COLUMN community_withdrawals.status IS 'PENDING, PAID or REJECTED.';
COMMENT ON COLUMN community_withdrawals.approvals IS 'Participants who have agreed.';
COMMENT ON COLUMN community_withdrawals.rejections IS 'Participants who have not.';
COMMENT ON COLUMN community_withdrawals.transaction_id IS 'The payment; null unless PAID.';
COMMENT ON COLUMN community_withdrawals.requested_at IS 'When it was asked for.';
COMMENT ON COLUMN community_withdrawals.updated_at IS 'When somebody last said something about it.';
COMMENT ON COLUMN community_withdrawals.last_position IS 'Position of the last event that changed the row.';
