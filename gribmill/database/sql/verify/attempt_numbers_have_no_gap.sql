-- From the oldest attempt that is kept to the last; old attempts of a job that keeps snoozing are pruned.
SELECT j.id AS job_id, 'attempt_no is ' || j.attempt_no || ' with ' || count(a.job_id) || ' attempts from '
  || coalesce(min(a.attempt_no), 0) || ' to ' || coalesce(max(a.attempt_no), 0) AS detail
FROM jobs j LEFT JOIN job_attempts a ON a.job_id = j.id
GROUP BY j.id HAVING coalesce(max(a.attempt_no), 0) <> j.attempt_no
  OR count(a.job_id) <> coalesce(max(a.attempt_no) - min(a.attempt_no) + 1, 0)
