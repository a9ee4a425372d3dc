-- Every tile that the run should have but lacks or has lost. Regions outside a file's grid do not count.
SELECT wanted.value::int AS hour, region.value AS region
FROM runs r CROSS JOIN json_array_elements_text(r.hours::json) wanted
CROSS JOIN json_array_elements_text(:regions::json) region
LEFT JOIN hours h ON h.model_id = r.model_id AND h.run_id = r.run_id AND h.hour = wanted.value::int
WHERE r.model_id = :model_id AND r.run_id = :run_id
  AND NOT EXISTS (SELECT 1 FROM tiles t WHERE t.model_id = r.model_id AND t.run_id = r.run_id
    AND t.region = region.value AND t.hour = wanted.value::int AND t.lost_at IS NULL)
  AND NOT (region.value IN (SELECT json_array_elements_text(coalesce(h.asked, '[]')::json))
    AND region.value NOT IN (SELECT json_array_elements_text(coalesce(h.regions, '[]')::json)))
ORDER BY hour, region
