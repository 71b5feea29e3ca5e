-- What an account is needed for: while anything is, it cannot be closed and its holder cannot be erased. Counted by the
-- commits that begin and end it; what had begun before this migration is not counted, and its end neither.
ALTER TABLE ledger_accounts
    ADD COLUMN payments_on_their_way integer NOT NULL DEFAULT 0,
    ADD COLUMN live_loans            integer NOT NULL DEFAULT 0,
    ADD COLUMN open_disputes         integer NOT NULL DEFAULT 0,
    ADD COLUMN last_active_at        timestamptz;

COMMENT ON COLUMN ledger_accounts.payments_on_their_way IS 'Payments from it or into it that their rail has neither settled nor returned.';
COMMENT ON COLUMN ledger_accounts.live_loans IS 'Loans that are owed and collected from it.';
COMMENT ON COLUMN ledger_accounts.open_disputes IS 'Disputes about payments from it that nobody has decided.';
COMMENT ON COLUMN ledger_accounts.last_active_at IS 'When anybody but the bank itself last did something with it.';

-- As a replay of the log would have it.
UPDATE ledger_accounts l
   SET last_active_at = greatest(l.last_posted_at, (
           SELECT max(e.recorded_at) FROM events e
            WHERE e.aggregate_type = 'account' AND e.aggregate_id = l.account
              AND e.event_type IN ('account.opened', 'account.unfrozen')));

-- Accounts that were opened before are watched like those that will be.
INSERT INTO schedule (task, subject, due_at)
SELECT 'account.silence', account, last_active_at FROM ledger_accounts
 WHERE owner IS NOT NULL AND status <> 'CLOSED' AND last_active_at IS NOT NULL
    ON CONFLICT DO NOTHING;
