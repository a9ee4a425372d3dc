-- A job that keeps snoozing never finishes and would accumulate attempts forever. Removes the oldest attempts of
-- waiting jobs without leaving a gap, and keeps the last one.
DELETE FROM job_attempts WHERE (job_id, attempt_no) IN (
  WITH kept AS MATERIALIZED (
    SELECT j.id AS job_id, (
      SELECT a.attempt_no FROM job_attempts a
      WHERE a.job_id = j.id AND (a.finished_at >= :before OR a.finished_at IS NULL OR a.attempt_no = j.attempt_no)
      ORDER BY a.attempt_no LIMIT 1) AS first
    FROM jobs j INDEXED BY jobs_due WHERE j.status = 'pending' AND j.next_run_at IS NOT NULL AND j.attempt_no > 1)
  SELECT a.job_id, a.attempt_no FROM kept JOIN job_attempts a ON a.job_id = kept.job_id AND a.attempt_no < kept.first
  LIMIT :limit)
