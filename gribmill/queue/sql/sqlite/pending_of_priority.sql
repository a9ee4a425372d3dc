SELECT id, position FROM jobs WHERE status = 'pending' AND priority = :priority
ORDER BY position, created_at, id
