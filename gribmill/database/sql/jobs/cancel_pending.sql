UPDATE jobs SET status = 'cancelled', completed_at = :now, error_message = :error, next_run_at = NULL
WHERE id = :job_id AND status = 'pending'
