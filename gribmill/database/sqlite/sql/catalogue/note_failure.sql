UPDATE hours SET failed_at = :now, error = :error
WHERE model_id = :model_id AND run_id = :run_id AND hour = :hour AND state = 'published'
