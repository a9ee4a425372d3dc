SELECT * FROM jobs WHERE status = 'pending' AND (:type IS NULL OR type = :type)
ORDER BY priority DESC, position, created_at, id LIMIT :limit
