INSERT INTO hours (model_id, run_id, hour, state, seen_at, mirror, url, etag, bytes, requested_bytes, requests, sha256,
                   found, missing, regions, asked, keep_grib, generation, ingested_at)
VALUES (:model_id, :run_id, :hour, 'ingested', :now, :mirror, :url, :etag, :bytes, :requested_bytes, :requests, :sha256,
        :found, :missing, :regions, :asked, :keep_grib, :generation, :now)
ON CONFLICT (model_id, run_id, hour) DO UPDATE SET state = 'ingested', mirror = excluded.mirror, url = excluded.url,
  etag = excluded.etag, bytes = excluded.bytes, requested_bytes = excluded.requested_bytes,
  requests = excluded.requests, sha256 = excluded.sha256, found = excluded.found, missing = excluded.missing,
  -- If it is fetched again for one region, the others still belong to the hour.
  regions = (SELECT json_group_array(value) FROM (
    SELECT value FROM json_each(coalesce(regions, '[]')) UNION SELECT value FROM json_each(excluded.regions))),
  asked = (SELECT json_group_array(value) FROM (
    SELECT value FROM json_each(coalesce(asked, '[]')) UNION SELECT value FROM json_each(excluded.asked))),
  keep_grib = max(keep_grib, excluded.keep_grib), generation = max(generation, excluded.generation),
  ingested_at = excluded.ingested_at, built_at = NULL,
  failed_at = NULL, error = NULL
