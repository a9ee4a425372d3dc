-- Makes due jobs ready. Not part of `claims/prepare`: planning a change costs time even if nothing is due.
UPDATE jobs SET ready_at = greatest(ready_at, next_run_at), next_run_at = NULL,
  -- Jobs of types with `queue_order = due` are placed behind the waiting jobs, in order of their due times.
  position = CASE WHEN position >= 0 AND type IN (SELECT key FROM job_definitions WHERE queue_order = 'due') THEN
    (SELECT coalesce(max(m.position), 0) FROM jobs m
      WHERE m.status = 'pending' AND m.position <> 0 AND m.position > 0 AND m.priority = jobs.priority)
    + 100 * (SELECT 1 + count(*) FROM jobs e
      WHERE e.status = 'pending' AND e.next_run_at IS NOT NULL AND e.priority = jobs.priority
        AND (e.next_run_at, e.id) < (jobs.next_run_at, jobs.id))
    ELSE position END
WHERE id = ANY (ARRAY(
  SELECT id FROM jobs WHERE status = 'pending' AND next_run_at IS NOT NULL AND next_run_at <= :now
  ORDER BY next_run_at LIMIT 500 FOR UPDATE SKIP LOCKED))
