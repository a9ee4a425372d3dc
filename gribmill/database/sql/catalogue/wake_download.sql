-- A download that waits for a file which no scan had seen need not wait any longer. Not one that failed.
UPDATE jobs SET next_run_at = NULL, ready_at = :now, changed_at = :now
WHERE id IN (
    SELECT id FROM jobs INDEXED BY jobs_dedupe
    WHERE tenant_id = :tenant_id AND dedupe_key = :dedupe_key AND dedupe_key IS NOT NULL
      AND status IN ('pending','processing'))
  AND status = 'pending' AND next_run_at IS NOT NULL AND retry_count = 0
  AND NOT EXISTS (SELECT 1 FROM hours WHERE model_id = :model_id AND run_id = :run_id AND hour = :hour)
