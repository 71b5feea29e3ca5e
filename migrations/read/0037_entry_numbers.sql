-- Entries of an account are numbered, so that those between two of them are known without being counted.
ALTER TABLE statement_entries ADD COLUMN number bigint;

UPDATE statement_entries e
   SET number = n.number
  FROM (SELECT ctid AS place,
               row_number() OVER (PARTITION BY account_number ORDER BY recorded_at, position, line) AS number
          FROM statement_entries) n
 WHERE e.ctid = n.place;

ALTER TABLE statement_entries ALTER COLUMN number SET NOT NULL;

COMMENT ON COLUMN statement_entries.number IS 'Which entry of the account it is, from 1: as many as there are up to it.';
