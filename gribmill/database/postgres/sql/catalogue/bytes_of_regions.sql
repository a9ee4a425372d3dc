SELECT coalesce(sum(bytes), 0) AS n FROM tiles
WHERE lost_at IS NULL AND region = ANY (ARRAY(SELECT json_array_elements_text(:regions::json)))
