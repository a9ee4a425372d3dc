UPDATE hours SET state = 'ingested', built_at = NULL, keep_grib = max(keep_grib, :keep_grib),
  regions = (SELECT json_group_array(value) FROM (
    SELECT value FROM json_each(coalesce(regions, '[]')) UNION SELECT value FROM json_each(:regions))),
  asked = (SELECT json_group_array(value) FROM (
    SELECT value FROM json_each(coalesce(asked, '[]')) UNION SELECT value FROM json_each(:asked)))
WHERE model_id = :model_id AND run_id = :run_id AND hour = :hour AND state <> 'published'
