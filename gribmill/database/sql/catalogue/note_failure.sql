-- A backfilled hour that no scan has seen has no row before it fails.
INSERT INTO hours (model_id, run_id, hour, seen_at, failed_at, error)
VALUES (:model_id, :run_id, :hour, :now, :now, :error)
ON CONFLICT (model_id, run_id, hour) DO UPDATE SET failed_at = :now, error = excluded.error WHERE hours.state = 'published'
