-- What the bank earned and spent in each month, by account of its books; minor units of currency. Income is positive.
SELECT date_trunc('month', day)::date AS month, currency, class, ledger_account,
       sum(credits - debits)::bigint AS amount_minor
  FROM read.trial_balance
 WHERE class IN ('INCOME', 'EXPENSE')
 GROUP BY 1, 2, 3, 4
 ORDER BY 1 DESC, 2, 3, 4;
