-- Jobs that were enqueued after a given one. PostgreSQL's ids become visible out of order, so lower ids are read again.
SELECT id, tenant_id, type FROM jobs WHERE id > :after_id ORDER BY id LIMIT :limit
