-- In order, locked: none of them starts or moves before the transaction ends.
SELECT id, position FROM jobs WHERE status = 'pending' AND priority = :priority
ORDER BY position, created_at, id FOR UPDATE
