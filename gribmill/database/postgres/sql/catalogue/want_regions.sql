UPDATE hours SET state = 'ingested', built_at = NULL, keep_grib = greatest(keep_grib, :keep_grib),
  regions = gribmill_union(regions, :regions), asked = gribmill_union(asked, :asked)
WHERE model_id = :model_id AND run_id = :run_id AND hour = :hour AND state <> 'published'
