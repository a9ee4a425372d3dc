SELECT j.id AS job_id, 'attempt_no is ' || j.attempt_no || ' with ' || count(a.job_id) || ' attempts up to '
  || coalesce(max(a.attempt_no), 0) AS detail
FROM jobs j LEFT JOIN job_attempts a ON a.job_id = j.id
GROUP BY j.id HAVING count(a.job_id) <> j.attempt_no OR coalesce(max(a.attempt_no), 0) <> j.attempt_no
