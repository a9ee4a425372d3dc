-- Locks the row until the transaction ends, because it is written afterwards.
SELECT * FROM mirrors WHERE name = :name FOR UPDATE
