INSERT INTO job_groups (tenant_id, name, mode, on_failure, created_by, created_at)
VALUES (:tenant_id, :name, :mode, :on_failure, :created_by, :now)
ON CONFLICT (tenant_id, name) DO NOTHING
