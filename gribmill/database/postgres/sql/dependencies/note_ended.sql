-- Records which of these jobs, completed by this transaction, have dependents. Separate from the statement that completes
-- them, so that it sees dependents added while that one waited.
SELECT 1 AS noted
WHERE EXISTS (SELECT 1 FROM job_dependencies WHERE parent_id = ANY (:ids::bigint[])) AND gribmill_note_ended(:ids::bigint[])
