UPDATE tenants SET title = :title, timezone = :timezone, regions = :regions, max_running = :max_running,
  max_pending = :max_pending, max_per_minute = :max_per_minute, max_disk_bytes = :max_disk_bytes,
  keep_days = :keep_days, keep_runs = :keep_runs, keep_bytes = :keep_bytes,
  disabled_at = :disabled_at, updated_at = :now
WHERE name = :name
