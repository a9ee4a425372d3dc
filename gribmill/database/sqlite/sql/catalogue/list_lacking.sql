-- Every tile that the run should have but lacks or has lost. Regions outside a file's grid do not count.
SELECT wanted.value AS hour, region.value AS region
FROM runs r JOIN json_each(r.hours) wanted JOIN json_each(:regions) region
LEFT JOIN hours h ON h.model_id = r.model_id AND h.run_id = r.run_id AND h.hour = wanted.value
WHERE r.model_id = :model_id AND r.run_id = :run_id
  AND NOT EXISTS (SELECT 1 FROM tiles t WHERE t.model_id = r.model_id AND t.run_id = r.run_id
    AND t.region = region.value AND t.hour = wanted.value AND t.lost_at IS NULL)
  AND NOT (region.value IN (SELECT value FROM json_each(coalesce(h.asked, '[]')))
    AND region.value NOT IN (SELECT value FROM json_each(coalesce(h.regions, '[]'))))
ORDER BY hour, region
