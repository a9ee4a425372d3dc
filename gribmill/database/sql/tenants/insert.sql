INSERT INTO tenants (name, title, timezone, regions, max_running, max_pending, max_per_minute, max_disk_bytes, keep_days,
  keep_runs, keep_bytes, created_at, updated_at)
VALUES (:name, :title, :timezone, :regions, :max_running, :max_pending, :max_per_minute, :max_disk_bytes, :keep_days,
  :keep_runs, :keep_bytes, :now, :now)
ON CONFLICT (name) DO NOTHING
