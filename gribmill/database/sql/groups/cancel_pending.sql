UPDATE jobs SET status = 'cancelled', completed_at = :now, error_message = :error, next_run_at = NULL
WHERE group_id = :group_id AND group_id IS NOT NULL AND status = 'pending'
