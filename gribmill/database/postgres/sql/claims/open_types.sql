-- The job types that may start a job.
SELECT open.key FROM (
  -- include claims/parts/open
) AS open
