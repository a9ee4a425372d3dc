SELECT model_id, region, count(DISTINCT run_id) AS runs, count(*) AS tiles, sum(bytes) AS bytes FROM tiles
WHERE lost_at IS NULL GROUP BY model_id, region ORDER BY model_id, region
