INSERT INTO hours (model_id, run_id, hour, published_at, seen_at, mirror, size)
VALUES (:model_id, :run_id, :hour, :published_at, :now, :mirror, :size)
ON CONFLICT (model_id, run_id, hour) DO UPDATE SET
  published_at = coalesce(excluded.published_at, published_at), mirror = excluded.mirror, size = excluded.size
WHERE state = 'published'
