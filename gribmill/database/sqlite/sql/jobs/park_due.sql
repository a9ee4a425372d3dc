-- Places due jobs of types with `queue_order = due` behind the waiting jobs, in order of their due times.
UPDATE jobs SET position = due.place FROM (
  SELECT j.id, 100 * row_number() OVER (PARTITION BY j.priority ORDER BY j.next_run_at, j.id) + (
    SELECT coalesce(max(m.position), 0) FROM jobs m INDEXED BY jobs_moved
    WHERE m.status = 'pending' AND m.position <> 0 AND m.position > 0 AND m.priority = j.priority) AS place
  FROM jobs j INDEXED BY jobs_due
  WHERE j.status = 'pending' AND j.next_run_at IS NOT NULL AND j.next_run_at <= :now AND j.position >= 0
    AND j.type IN (SELECT key FROM job_definitions WHERE queue_order = 'due')
  ORDER BY j.next_run_at LIMIT 500) AS due
WHERE jobs.id = due.id
