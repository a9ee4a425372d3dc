SELECT EXISTS (SELECT 1 FROM json_each(:types) t CROSS JOIN jobs j INDEXED BY jobs_ready
               ON j.type = t.value AND j.status = 'pending' AND j.next_run_at IS NULL AND j.deps_left = 0)
    OR EXISTS (SELECT 1 FROM jobs INDEXED BY jobs_due
               WHERE status = 'pending' AND next_run_at IS NOT NULL AND next_run_at <= :now) AS ready
