-- Accounts that nobody has used for 90 days and that have money in them, the largest first; minor units of currency.
SELECT account_number, owner, product_id, status, currency, ledger_balance,
       coalesce(last_transaction_at, opened_at) AS last_used_at
  FROM read.accounts
 WHERE status IN ('ACTIVE', 'DORMANT') AND ledger_balance > 0
   AND coalesce(last_transaction_at, opened_at) < now() - interval '90 days'
 ORDER BY ledger_balance DESC;
