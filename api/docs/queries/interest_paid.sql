-- Interest on savings by month and product; minor units of currency.
SELECT date_trunc('month', p.through_day)::date AS month, a.product_id, p.currency,
       count(*) AS accounts, sum(p.amount)::bigint AS interest_minor
  FROM read.interest_postings p JOIN read.accounts a USING (account_number)
 GROUP BY 1, 2, 3
 ORDER BY 1 DESC, 2;
