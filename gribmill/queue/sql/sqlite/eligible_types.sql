SELECT d.key, d.batch_max FROM job_definitions d
WHERE d.key IN (SELECT value FROM json_each(:types)) AND d.is_active = 1 AND d.paused_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM direct_reservations r
                  WHERE r.status = 'ACTIVE' AND r.expires_at > :now AND r.scope IN ('*', d.key))
  AND (d.max_running IS NULL OR d.max_running > (
       SELECT count(DISTINCT batch_id) FROM jobs INDEXED BY jobs_running
       WHERE type = d.key AND status = 'processing'))
