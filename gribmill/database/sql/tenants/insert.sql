INSERT INTO tenants (name, title, timezone, regions, max_running, max_pending, max_per_minute, max_disk_bytes, created_at,
  updated_at)
VALUES (:name, :title, :timezone, :regions, :max_running, :max_pending, :max_per_minute, :max_disk_bytes, :now, :now)
ON CONFLICT (name) DO NOTHING
