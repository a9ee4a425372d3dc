SELECT id FROM jobs INDEXED BY jobs_group_status
WHERE group_id = :group_id AND group_id IS NOT NULL AND status = 'processing' ORDER BY id
