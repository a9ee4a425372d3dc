INSERT INTO hours (model_id, run_id, hour, published_at, seen_at, mirror, size, url, etag)
VALUES (:model_id, :run_id, :hour, :published_at, :now, :mirror, :size, :url, :etag)
ON CONFLICT (model_id, run_id, hour) DO UPDATE SET
  published_at = coalesce(excluded.published_at, hours.published_at),
  mirror = excluded.mirror, size = excluded.size, url = excluded.url, etag = excluded.etag
WHERE hours.state = 'published'
