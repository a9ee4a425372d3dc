SELECT model_id, run_id, hours, final, state, first_seen_at FROM runs
WHERE (model_id = :model_id OR :model_id IS NULL) ORDER BY model_id, run_id DESC LIMIT :limit
