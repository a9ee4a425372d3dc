-- Gives a manually claimed job a lease, so that the queue ends its attempt like one of its own.
UPDATE jobs SET lease_expires_at = :lease_expires_at
WHERE id = :job_id AND attempt_no = :attempt_no AND status = 'processing' AND lease_expires_at IS NULL
