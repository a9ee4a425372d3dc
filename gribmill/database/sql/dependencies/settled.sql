DELETE FROM ended_parents WHERE job_id = ?
