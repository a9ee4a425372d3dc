SELECT coalesce(sum(CASE WHEN created_at >= :since THEN 1 ELSE 0 END), 0) AS enqueued,
  coalesce(sum(CASE WHEN status = 'completed' THEN 1 ELSE 0 END), 0) AS succeeded,
  coalesce(sum(CASE WHEN status = 'failed' THEN 1 ELSE 0 END), 0) AS failed,
  coalesce(sum(CASE WHEN status = 'cancelled' THEN 1 ELSE 0 END), 0) AS cancelled,
  coalesce(sum(CASE WHEN dead_lettered_at IS NOT NULL THEN 1 ELSE 0 END), 0) AS dead_lettered,
  (SELECT count(*) FROM recent r JOIN job_attempts a ON a.job_id = r.id
   WHERE r.attempt_no > 0 AND a.finished_at >= :since AND a.status IN ('failed','timeout','lost')
     AND NOT (r.status IN ('failed','cancelled') AND a.attempt_no = r.attempt_no AND NOT EXISTS (
       SELECT 1 FROM jobs n WHERE n.retry_of = r.id AND n.retry_of IS NOT NULL AND n.source = 'system'))) AS retried
FROM recent
