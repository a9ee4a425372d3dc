UPDATE workers SET state = 'stopped', current_job_id = NULL, running_count = 0 WHERE id = :worker_id AND state <> 'stopped'
