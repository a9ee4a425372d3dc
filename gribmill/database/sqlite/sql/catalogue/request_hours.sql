-- Some hours of a run were requested. It is final once all of them were; a run that is already final does not change.
INSERT INTO runs (model_id, run_id, hours, final, first_seen_at, updated_at)
VALUES (:model_id, :run_id, :hours, json_array_length(:hours) >= :hours_in_run, :now, :now)
ON CONFLICT (model_id, run_id) DO UPDATE SET
  hours = (SELECT json_group_array(value) FROM (
    SELECT value FROM json_each(runs.hours) UNION SELECT value FROM json_each(excluded.hours) ORDER BY value)),
  final = :hours_in_run <= (SELECT count(*) FROM (
    SELECT value FROM json_each(runs.hours) UNION SELECT value FROM json_each(excluded.hours))),
  updated_at = :now
WHERE final = 0
