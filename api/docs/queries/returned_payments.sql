-- Of the payments to other institutions, how many came back, and how long the others took to arrive.
SELECT institution, type, count(*) AS payments,
       count(*) FILTER (WHERE status = 'RETURNED') AS returned,
       round(100.0 * count(*) FILTER (WHERE status = 'RETURNED') / count(*), 2) AS percent_returned,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM settled_at - recorded_at)::float8)
           AS median_seconds_to_settle
  FROM read.transactions
 WHERE institution IS NOT NULL
 GROUP BY 1, 2
 ORDER BY payments DESC;
