-- What customers have in the bank, by product; minor units of currency. Overdrawn accounts are counted apart.
SELECT product_id, product_name, currency, count(*) AS accounts,
       sum(greatest(ledger_balance, 0))::bigint AS deposits_minor,
       sum(least(ledger_balance, 0))::bigint AS overdrafts_minor,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY ledger_balance) AS median_minor
  FROM read.accounts
 WHERE status <> 'CLOSED'
 GROUP BY 1, 2, 3
 ORDER BY deposits_minor DESC;
