WITH RECURSIVE
  up(id, retry_of) AS (SELECT id, retry_of FROM jobs WHERE id = :job_id
    UNION SELECT j.id, j.retry_of FROM jobs j JOIN up ON j.id = up.retry_of),
  down(id) AS (SELECT id FROM up
    UNION SELECT j.id FROM jobs j JOIN down ON j.retry_of = down.id)
SELECT j.id, j.status, j.retry_of, j.created_at FROM jobs j JOIN down ON j.id = down.id ORDER BY j.id LIMIT 200
