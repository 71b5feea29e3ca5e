-- Of the people who registered in a month, how many paid somebody in that month, in the one after ...
WITH cohorts AS (
    SELECT user_id, date_trunc('month', created_at AT TIME ZONE 'UTC')::date AS cohort FROM read.users
), active AS (
    SELECT DISTINCT payer, date_trunc('month', recorded_at AT TIME ZONE 'UTC')::date AS month
      FROM read.transactions WHERE payer IS NOT NULL
), sizes AS (
    SELECT cohort, count(*) AS people FROM cohorts GROUP BY 1
)
SELECT cohort, people,
       (extract(year FROM age(month, cohort)) * 12 + extract(month FROM age(month, cohort)))::int AS months_later,
       count(*) AS active
  FROM cohorts JOIN active ON active.payer = cohorts.user_id JOIN sizes USING (cohort)
 GROUP BY 1, 2, 3
 ORDER BY 1, 3;
