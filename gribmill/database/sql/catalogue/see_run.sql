INSERT INTO runs (model_id, run_id, hours, final, first_seen_at, updated_at)
VALUES (:model_id, :run_id, :hours, :final, :now, :now)
ON CONFLICT (model_id, run_id) DO UPDATE SET hours = excluded.hours, final = excluded.final, updated_at = :now,
  state = CASE WHEN runs.hours = excluded.hours THEN runs.state ELSE 'arriving' END
