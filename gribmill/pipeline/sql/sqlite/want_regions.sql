UPDATE hours SET regions = :regions, state = 'ingested', built_at = NULL
WHERE model_id = :model_id AND run_id = :run_id AND hour = :hour AND state <> 'published'
