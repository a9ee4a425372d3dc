SELECT id, position FROM jobs INDEXED BY jobs_moved
WHERE status = 'pending' AND position <> 0 AND priority = :priority ORDER BY position, created_at, id
