-- Jobs that were enqueued after a certain one. Ids of PostgreSQL become visible out of order: see those below it again.
SELECT id, tenant_id, type FROM jobs WHERE id > :after_id ORDER BY id LIMIT :limit
