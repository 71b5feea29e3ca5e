-- One batch. Every parameter is a column of rows; the whole is one statement, so one round trip.
-- Keys that the log knows come back instead, and then nothing is written.
WITH known AS MATERIALIZED (
    SELECT key, fingerprint, first_position, last_position FROM idempotency_keys WHERE key = ANY($42::bytea[])
), moved_head AS (
    UPDATE head
       SET position = $41, recorded_at = $3
     WHERE NOT EXISTS (SELECT FROM known)
    RETURNING pg_notify(current_schema() || '.head', position::text)
), appended AS (
    INSERT INTO events (position, sequence, recorded_at, aggregate_type, aggregate_id,
                        event_type, event_version, payload, metadata)
    SELECT position, sequence, $3::timestamptz, kind, id, name, version, payload::json, metadata::json
      FROM UNNEST($1::bigint[], $2::bigint[], $4::text[], $5::text[], $6::text[], $7::text[],
                  $8::text[], $9::text[])
           AS e (position, sequence, kind, id, name, version, payload, metadata)
     WHERE EXISTS (SELECT FROM moved_head)
), moved AS (
    UPDATE ledger_accounts a
       SET status = m.status, balance = m.balance, holds = m.holds, spent_on = m.spent_on,
           spent_today = m.spent_today, spent_this_month = m.spent_this_month,
           last_posted_at = m.last_posted_at, payments_on_their_way = m.payments, live_loans = m.loans,
           open_disputes = m.disputes, last_active_at = m.last_active_at
      FROM UNNEST($10::text[], $11::text[], $12::bigint[], $13::bigint[], $14::date[], $15::bigint[],
                  $16::bigint[], $17::timestamptz[], $54::integer[], $55::integer[], $56::integer[],
                  $57::timestamptz[])
           AS m (account, status, balance, holds, spent_on, spent_today, spent_this_month, last_posted_at,
                 payments, loans, disputes, last_active_at)
     WHERE a.account = m.account AND EXISTS (SELECT FROM moved_head)
), opened AS (
    INSERT INTO ledger_accounts (account, owner, currency, status, balance, holds, overdraft_limit,
                                 minimum_balance, maximum_balance, daily_limit, monthly_limit, spent_on,
                                 spent_today, spent_this_month, last_posted_at, payments_on_their_way,
                                 live_loans, open_disputes, last_active_at)
    SELECT * FROM UNNEST($18::text[], $19::text[], $20::text[], $21::text[], $22::bigint[], $23::bigint[],
                         $24::bigint[], $25::bigint[], $26::bigint[], $27::bigint[], $28::bigint[],
                         $29::date[], $30::bigint[], $31::bigint[], $32::timestamptz[],
                         $58::integer[], $59::integer[], $60::integer[], $61::timestamptz[])
     WHERE EXISTS (SELECT FROM moved_head)
), remembered AS (
    INSERT INTO idempotency_keys (key, fingerprint, first_position, last_position, day)
    SELECT key, fingerprint, first_position, last_position, $37::date
      FROM UNNEST($33::bytea[], $34::bytea[], $35::bigint[], $36::bigint[])
           AS k (key, fingerprint, first_position, last_position)
     WHERE EXISTS (SELECT FROM moved_head)
), claimed AS (
    INSERT INTO claims (namespace, hash, holder)
    SELECT * FROM UNNEST($38::text[], $39::bytea[], $40::text[])
     WHERE EXISTS (SELECT FROM moved_head)
        ON CONFLICT (namespace, hash) DO UPDATE SET holder = excluded.holder
                                          WHERE claims.holder <> excluded.holder
), released AS (
    DELETE FROM claims c USING UNNEST($48::text[], $49::bytea[]) AS r (namespace, hash)
     WHERE c.namespace = r.namespace COLLATE "C" AND c.hash = r.hash AND EXISTS (SELECT FROM moved_head)
), minted AS (
    -- No ON CONFLICT: what was sealed with a key that is not kept would be lost.
    INSERT INTO data_keys (subject, wrapped, wrapped_by, created_at)
    SELECT subject, wrapped, $52, $3 FROM UNNEST($50::text[], $51::bytea[]) AS k (subject, wrapped)
     WHERE EXISTS (SELECT FROM moved_head)
), destroyed AS (
    INSERT INTO data_keys (subject, wrapped, wrapped_by, created_at, erased_at)
    SELECT subject, NULL, $52, $3, $3 FROM UNNEST($53::text[]) AS k (subject)
     WHERE EXISTS (SELECT FROM moved_head)
        ON CONFLICT (subject) DO UPDATE SET wrapped = NULL, erased_at = excluded.erased_at
), ordered AS (
    INSERT INTO schedule (task, subject, due_at)
    SELECT * FROM UNNEST($43::text[], $44::text[], $45::timestamptz[])
     WHERE EXISTS (SELECT FROM moved_head)
        ON CONFLICT (task, subject) DO UPDATE
           SET due_at = excluded.due_at, attempts = 0, leased_until = NULL, last_error = NULL
), dropped AS (
    DELETE FROM schedule s USING UNNEST($46::text[], $47::text[]) AS d (task, subject)
     WHERE s.task = d.task COLLATE "C" AND s.subject = d.subject COLLATE "C" AND EXISTS (SELECT FROM moved_head)
)
SELECT key AS "key!", fingerprint AS "fingerprint!", first_position AS "first_position!",
       last_position AS "last_position!"
  FROM known
