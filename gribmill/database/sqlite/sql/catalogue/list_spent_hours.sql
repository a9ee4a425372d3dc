-- While a job of the hour is active, its messages may just have come again, for a region that was added, or be read.
-- Both kinds are looked for by the keys that equal jobs share: the index of these holds what is active and nothing else.
SELECT hour FROM hours
WHERE model_id = :model_id AND run_id = :run_id AND state = 'built' AND keep_grib = 0
  AND NOT EXISTS (SELECT 1 FROM jobs INDEXED BY jobs_dedupe
    WHERE tenant_id = 'global' AND status IN ('pending','processing') AND dedupe_key IS NOT NULL
      AND dedupe_key = 'ingest_grib::global::{"hour":' || hours.hour || ',"model_id":"' || :model_id
        || '","run_id":"' || :run_id || '"}')
  AND NOT EXISTS (SELECT 1 FROM json_each(hours.regions) region CROSS JOIN jobs INDEXED BY jobs_dedupe
    WHERE tenant_id = 'global' AND status IN ('pending','processing') AND dedupe_key IS NOT NULL
      AND dedupe_key = 'build_tile::global::{"hour":' || hours.hour || ',"model_id":"' || :model_id
        || '","region":"' || region.value || '","run_id":"' || :run_id || '"}')
