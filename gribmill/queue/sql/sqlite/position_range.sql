SELECT min(position) AS first, max(position) AS last FROM jobs
WHERE status = 'pending' AND priority = :priority AND id <> :job_id
