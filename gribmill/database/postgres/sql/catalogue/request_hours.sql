-- Some hours of a run were requested. It is final once all of them were; a run that is already final does not change.
INSERT INTO runs (model_id, run_id, hours, final, first_seen_at, updated_at)
VALUES (:model_id, :run_id, :hours, CAST(json_array_length(:hours::text::json) >= :hours_in_run AS integer), :now, :now)
ON CONFLICT (model_id, run_id) DO UPDATE SET
  hours = (SELECT json_agg(value ORDER BY value) FROM (
    SELECT json_array_elements_text(runs.hours::json)::int AS value
    UNION SELECT json_array_elements_text(excluded.hours::json)::int) AS every_hour)::text,
  final = CAST(:hours_in_run <= (SELECT count(*) FROM (
    SELECT json_array_elements_text(runs.hours::json)
    UNION SELECT json_array_elements_text(excluded.hours::json)) AS every_hour) AS integer),
  updated_at = :now
WHERE runs.final = 0
