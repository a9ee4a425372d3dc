-- An hour with lost tiles no longer counts as built.
UPDATE hours SET state = 'ingested', built_at = NULL
WHERE model_id = :model_id AND run_id = :run_id AND hour = :hour AND state = 'built'
  AND EXISTS (SELECT 1 FROM tiles t WHERE t.model_id = :model_id AND t.run_id = :run_id AND t.hour = :hour
    AND t.lost_at IS NOT NULL)
