-- Payments, one row each, for those whose accounts they debit and credit. recorded_at never goes back along the log, so
-- that each of the two indexes is the order in which one side's payments are listed. Room in each page keeps later
-- changes within it (HOT).
CREATE TABLE transactions (
    transaction_id      text        COLLATE "C" NOT NULL PRIMARY KEY,
    position            bigint      NOT NULL,
    recorded_at         timestamptz NOT NULL,
    type                text        COLLATE "C" NOT NULL,
    payer               text        COLLATE "C",
    payee               text        COLLATE "C",
    source_account      text        COLLATE "C" NOT NULL,
    destination_account text        COLLATE "C" NOT NULL,
    amount              bigint      NOT NULL,
    fee                 bigint      NOT NULL,
    currency            text        COLLATE "C" NOT NULL,
    reference           text        NOT NULL,
    narration           text,
    destination_name    text,
    institution         text        COLLATE "C",
    institution_name    text,
    outside_number      text        COLLATE "C",
    undoes              text        COLLATE "C",
    status              text        COLLATE "C" NOT NULL DEFAULT 'SUCCESS',
    settled_at          timestamptz,
    returned_at         timestamptz,
    return_reason       text,
    reversed_by         text        COLLATE "C",
    dispute_id          text        COLLATE "C",
    refunded            bigint      NOT NULL DEFAULT 0,
    last_position       bigint      NOT NULL
) WITH (fillfactor = 90);

CREATE INDEX transactions_of_payer ON transactions (payer, recorded_at, position);
CREATE INDEX transactions_of_payee ON transactions (payee, recorded_at, position);

COMMENT ON TABLE transactions IS 'Payments, one row each; sums in minor units of currency.';
COMMENT ON COLUMN transactions.transaction_id IS 'txn_ and a UUID.';
COMMENT ON COLUMN transactions.position IS 'Position of the event that made it.';
COMMENT ON COLUMN transactions.recorded_at IS 'When it was made.';
COMMENT ON COLUMN transactions.type IS 'INTERNAL, SELF, EXTERNAL, MWALLET, BILLS, CARD_FUNDING, MWALLET_FUNDING, DEPOSIT, WITHDRAWAL, REVERSAL or REFUND.';
COMMENT ON COLUMN transactions.payer IS 'User id of the holder of source_account; null when it is the bank''s own.';
COMMENT ON COLUMN transactions.payee IS 'User id of the holder of destination_account; null when it is the bank''s own.';
COMMENT ON COLUMN transactions.source_account IS 'Account debited; bank:role:currency for the bank''s own.';
COMMENT ON COLUMN transactions.destination_account IS 'Account credited; bank:role:currency for the bank''s own.';
COMMENT ON COLUMN transactions.amount IS 'How much.';
COMMENT ON COLUMN transactions.fee IS 'What the bank took for it beside the amount, or gave back in a reversal.';
COMMENT ON COLUMN transactions.currency IS 'ISO 4217.';
COMMENT ON COLUMN transactions.reference IS 'The payer''s reference; not unique.';
COMMENT ON COLUMN transactions.narration IS 'What it was for, in the payer''s words.';
COMMENT ON COLUMN transactions.destination_name IS 'The payee''s name as the payer gave it.';
COMMENT ON COLUMN transactions.institution IS 'Code of the bank or biller, or the wallet provider, at the other end; null inside this bank.';
COMMENT ON COLUMN transactions.institution_name IS 'Name of that bank or biller.';
COMMENT ON COLUMN transactions.outside_number IS 'Account, customer, phone or masked card number there.';
COMMENT ON COLUMN transactions.undoes IS 'Transaction that this one undoes or refunds.';
COMMENT ON COLUMN transactions.status IS 'SUCCESS (made, or accepted and on its way), SETTLED, RETURNED, REVERSED, or DISPUTED while a dispute is open.';
COMMENT ON COLUMN transactions.settled_at IS 'When it arrived outside.';
COMMENT ON COLUMN transactions.returned_at IS 'When it came back.';
COMMENT ON COLUMN transactions.return_reason IS 'Why it came back, in the rail''s words.';
COMMENT ON COLUMN transactions.reversed_by IS 'Transaction that undid it.';
COMMENT ON COLUMN transactions.dispute_id IS 'The open dispute.';
COMMENT ON COLUMN transactions.refunded IS 'What was given back after disputes.';
COMMENT ON COLUMN transactions.last_position IS 'Position of the last event that changed the row.';

-- Who is on each side of a payment is told by its accounts, and whose those are by the event that opened them.
CREATE TABLE account_holders (
    account_number text   COLLATE "C" NOT NULL PRIMARY KEY,
    owner          text   COLLATE "C" NOT NULL,
    last_position  bigint NOT NULL
);

COMMENT ON TABLE account_holders IS 'Whose each customer account is: what transactions.payer and transactions.payee are made from.';
COMMENT ON COLUMN account_holders.account_number IS 'Ten digits.';
COMMENT ON COLUMN account_holders.owner IS 'User id of the holder.';
COMMENT ON COLUMN account_holders.last_position IS 'Position of the event that opened the account.';
