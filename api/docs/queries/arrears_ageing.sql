-- Loans that are paid out, by how late they are: what is owed, and how much of it should have been paid by now; minor units.
SELECT currency, bucket, count(*) AS loans,
       sum(principal_outstanding)::bigint AS principal_minor,
       sum(interest_outstanding)::bigint AS interest_minor,
       sum(arrears)::bigint AS arrears_minor,
       max(days_past_due) AS most_days_late
  FROM read.loan_portfolio
 GROUP BY 1, 2
 ORDER BY 1, most_days_late;
