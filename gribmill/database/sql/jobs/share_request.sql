-- What more than one asked for takes nobody's turn, and goes with nobody's group: it must not wait for the limits of one
-- of them, nor be cancelled by one.
UPDATE jobs SET requested_by = NULL, group_id = NULL
WHERE id = :job_id AND status IN ('pending','processing') AND requested_by IS NOT NULL
