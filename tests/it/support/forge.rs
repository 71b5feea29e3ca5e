//! Writing to a bank's tables as no bank must: for controls, which show that it is found out.

use sqlx::PgConnection;

/// A payment that nobody asked the ledger about. Everything else about it is right: lines stamped with the balances
/// after them, ledger and head moved along. For an own transfer, since those count toward no limit.
///
/// Two statements in a transaction; the lock on the head is held from the first of them.
pub async fn payment(
    connection: &mut PgConnection,
    id: &str,
    from: &str,
    to: &str,
    amount: i64,
) -> sqlx::Result<()> {
    move_money(&mut *connection, from, to, amount).await?;
    record(connection, id, from, to, amount).await
}

/// The first half: the ledger knows, the log does not.
pub async fn move_money(
    connection: &mut PgConnection,
    from: &str,
    to: &str,
    amount: i64,
) -> sqlx::Result<()> {
    let sql = "WITH locked AS MATERIALIZED (SELECT recorded_at FROM head FOR UPDATE)
               UPDATE ledger_accounts SET balance = balance + CASE account WHEN $1 THEN -$3 ELSE $3 END,
                                          last_posted_at = locked.recorded_at, last_active_at = locked.recorded_at
                 FROM locked WHERE account IN ($1, $2)";
    let moved = sqlx::query(sql).bind(from).bind(to).bind(amount).execute(connection).await?;
    assert_eq!(moved.rows_affected(), 2);
    Ok(())
}

/// The second half.
pub async fn record(
    connection: &mut PgConnection,
    id: &str,
    from: &str,
    to: &str,
    amount: i64,
) -> sqlx::Result<()> {
    let sql = r#"
        WITH next AS (UPDATE head SET position = position + 1 RETURNING position, recorded_at)
        INSERT INTO events (position, sequence, recorded_at, aggregate_type, aggregate_id, event_type, event_version,
                            payload, metadata)
        SELECT next.position, 1, next.recorded_at, 'payment', $1, 'payment.completed', '1',
               json_build_object('completed', json_build_object(
                   'kind', 'SELF', 'source', $2, 'destination', $3, 'amount', $4, 'currency', 'NGN',
                   'reference', 'FORGED', 'postings', json_build_array(
                       json_build_object('account', $2, 'amount', -$4, 'currency', 'NGN', 'balance', f.balance),
                       json_build_object('account', $3, 'amount', $4, 'currency', 'NGN', 'balance', t.balance)))),
               '{"actor": "system:forger"}'
          FROM next, ledger_accounts f, ledger_accounts t WHERE f.account = $2 AND t.account = $3"#;
    let query = sqlx::query(sql).bind(id).bind(from).bind(to).bind(amount);
    assert_eq!(query.execute(connection).await?.rows_affected(), 1);
    Ok(())
}

/// `count` payments of one kobo in a circle of three accounts, so that a multiple of three of them leaves everybody with what
/// they had. One statement: a million of them take half a minute. No server may be there.
pub async fn circle(connection: &mut PgConnection, accounts: [&str; 3], count: i64) -> sqlx::Result<()> {
    assert_eq!(count % 3, 0);
    let sql = r#"
        WITH before AS MATERIALIZED (
            SELECT array_agg(balance ORDER BY place) AS had
              FROM UNNEST($1::text[]) WITH ORDINALITY AS a (account, place) JOIN ledger_accounts USING (account)),
        next AS (UPDATE head SET position = position + $2 RETURNING position - $2 AS base, recorded_at),
        moved AS (UPDATE ledger_accounts SET last_posted_at = next.recorded_at, last_active_at = next.recorded_at
                    FROM next WHERE account = ANY($1))
        INSERT INTO events (position, sequence, recorded_at, aggregate_type, aggregate_id, event_type, event_version,
                            payload, metadata)
        SELECT base + n, 1, recorded_at, 'payment', 'txn_0192f0c1a00070008' || lpad(to_hex(n), 15, '0'),
               'payment.completed', '1',
               json_build_object('completed', json_build_object(
                   'kind', 'SELF', 'source', source, 'destination', destination, 'amount', 1, 'currency', 'NGN',
                   'reference', 'FORGED', 'postings', json_build_array(
                       json_build_object('account', source, 'amount', -1, 'currency', 'NGN',
                                         'balance', had[step + 1] - CASE step WHEN 0 THEN 1 ELSE 0 END),
                       json_build_object('account', destination, 'amount', 1, 'currency', 'NGN',
                                         'balance', had[(step + 1) % 3 + 1] + CASE step WHEN 2 THEN 0 ELSE 1 END)))),
               '{"actor": "system:forger"}'
          FROM next, before, generate_series(1, $2) AS n,
               LATERAL (SELECT ((n - 1) % 3)::int AS step) s,
               LATERAL (SELECT ($1::text[])[step + 1] AS source, ($1::text[])[(step + 1) % 3 + 1] AS destination) w
         ORDER BY n"#;
    let written =
        sqlx::query(sql).bind(accounts.map(str::to_owned).to_vec()).bind(count).execute(connection).await?;
    assert_eq!(i64::try_from(written.rows_affected()).unwrap(), count);
    Ok(())
}
