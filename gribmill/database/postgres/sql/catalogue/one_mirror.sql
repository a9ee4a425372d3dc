-- Read before it is written: the row is locked until the transaction ends.
SELECT * FROM mirrors WHERE name = :name FOR UPDATE
