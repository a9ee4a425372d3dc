UPDATE job_templates SET name = :name, description = :description, args = :args, priority = :priority,
  timeout_seconds = :timeout_seconds, max_attempts = :max_attempts, dedupe_key = :dedupe_key, updated_at = :now
WHERE id = :id
