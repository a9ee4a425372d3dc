SELECT min(position) AS first, max(position) AS last FROM jobs INDEXED BY jobs_moved
WHERE status = 'pending' AND position <> 0 AND priority = :priority AND id <> :job_id
