-- People by the country they registered from and by how far the bank knows them, with the country's name.
SELECT c.country_name, u.status, u.verification_level, count(*) AS people
  FROM read.users u LEFT JOIN reference.countries c USING (country_code)
 GROUP BY 1, 2, 3
 ORDER BY people DESC;
