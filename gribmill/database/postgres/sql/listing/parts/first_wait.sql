-- The wait of the first attempt, in seconds. The attempt's row is only needed if the job became ready again since.
extract(epoch FROM CASE
  WHEN j.attempt_no = 1 AND j.started_at >= coalesce(j.ready_at, j.created_at)
  THEN j.started_at - coalesce(j.ready_at, j.created_at)
  ELSE (SELECT a.started_at - coalesce(a.ready_at, j.ready_at, j.created_at) FROM job_attempts a
        WHERE a.job_id = j.id AND a.attempt_no = 1) END)
