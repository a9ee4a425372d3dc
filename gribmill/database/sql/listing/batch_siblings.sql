SELECT id, type, args, status FROM jobs
WHERE group_key = :group_key AND type = :type AND batch_id = :batch_id AND id <> :job_id AND batch_id IS NOT NULL
  AND id BETWEEN :batch_id - 5000 AND :batch_id + 5000
ORDER BY id LIMIT 200
