SELECT model_id, region, count(*) AS tiles, sum(bytes) AS bytes FROM tiles
WHERE lost_at IS NULL GROUP BY model_id, region
