-- What the bank owes its customers at the end of each of the last 90 days with movements; minor units of currency.
SELECT day, currency, amount AS deposits_minor,
       amount - lag(amount) OVER (PARTITION BY currency ORDER BY day) AS change_minor
  FROM read.balance_sheet
 WHERE line = 'customer_deposits' AND day > (SELECT max(day) - 90 FROM read.balance_sheet)
 ORDER BY 1 DESC, 2;
