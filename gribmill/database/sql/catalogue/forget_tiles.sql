-- The tiles of one hour, or of the whole run.
DELETE FROM tiles WHERE model_id = :model_id AND run_id = :run_id AND (hour = :hour OR :hour IS NULL)
