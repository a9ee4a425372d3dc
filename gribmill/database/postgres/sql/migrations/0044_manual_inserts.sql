-- A session keeps the plan of the look for moved jobs. Made while the table is small, it read the whole table for every row:
-- inserting 8,000 rows with one manual statement took 16 seconds. With this setting it is planned with an index.
ALTER FUNCTION gribmill_place_job() SET enable_seqscan = off;
