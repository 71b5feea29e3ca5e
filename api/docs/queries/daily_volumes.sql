-- How many payments were made on each UTC day, of each kind, and how much money they moved; minor units of currency.
-- What was reversed or came back is counted apart.
SELECT (recorded_at AT TIME ZONE 'UTC')::date AS day, type, currency,
       count(*) AS payments, sum(amount)::bigint AS amount_minor, sum(fee)::bigint AS fees_minor,
       count(*) FILTER (WHERE status IN ('REVERSED', 'RETURNED')) AS undone
  FROM read.transactions
 GROUP BY 1, 2, 3
 ORDER BY 1 DESC, 2, 3;
