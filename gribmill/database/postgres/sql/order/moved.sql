SELECT id, position FROM jobs WHERE status = 'pending' AND position <> 0 AND priority = :priority
ORDER BY position, created_at, id FOR UPDATE
