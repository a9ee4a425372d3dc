-- The attempts of a job and of the failed jobs that it retries.
WITH RECURSIVE chain(attempt_no, follows) AS (
  SELECT attempt_no, CASE WHEN source = 'system' THEN retry_of END FROM jobs WHERE id = :job_id
  UNION ALL SELECT j.attempt_no, CASE WHEN j.source = 'system' THEN j.retry_of END
  FROM chain c JOIN jobs j ON j.id = c.follows)
SELECT sum(attempt_no) AS n FROM chain
