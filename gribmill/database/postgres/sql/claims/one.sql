-- The job, if it is pending and can start now.
SELECT j.id, j.claimant FROM jobs j JOIN (
  -- include claims/parts/open
    AND d.key = ANY (:keys::text[])
) AS open ON open.key = j.type
WHERE j.id = :job_id AND j.status = 'pending' AND j.deps_left = 0
