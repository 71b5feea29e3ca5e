-- Many payments have one reference (rent, salaries). In a hash index these are one chain, which every further one walks from
-- end to end; a B-tree keeps them as one key.
DROP INDEX transactions_by_reference;
CREATE INDEX transactions_by_reference ON transactions (reference);
