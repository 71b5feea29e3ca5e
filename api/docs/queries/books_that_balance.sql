-- The last day's trial balance: debits and credits of the day, and a sum of balances that is zero; minor units of currency.
SELECT day, currency, sum(debits)::bigint AS debits_minor, sum(credits)::bigint AS credits_minor,
       sum(balance)::bigint AS must_be_zero
  FROM read.trial_balance
 WHERE day = (SELECT max(day) FROM read.trial_balance)
 GROUP BY 1, 2
 ORDER BY 2;
