SELECT id AS job_id, 'dead letter after ' || retry_count || ' retries of ' || (max_attempts - 1) AS detail FROM jobs
WHERE dead_lettered_at IS NOT NULL AND retry_count + 1 < max_attempts
  AND type IN (SELECT key FROM job_definitions WHERE on_lost = 'retry' AND poll_limit IS NULL)
