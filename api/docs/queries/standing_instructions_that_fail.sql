-- Runs of standing instructions by what came of them, and why they failed; minor units of the mandate's currency.
SELECT m.mandate_type, m.currency, e.status, e.failure, count(*) AS runs, sum(e.amount)::bigint AS amount_minor
  FROM read.mandate_executions e JOIN read.mandates m USING (mandate_id)
 GROUP BY 1, 2, 3, 4
 ORDER BY runs DESC;
