-- In order; they neither start nor move before the transaction ends.
SELECT id, position FROM jobs WHERE status = 'pending' AND priority = :priority
ORDER BY position, created_at, id FOR UPDATE
