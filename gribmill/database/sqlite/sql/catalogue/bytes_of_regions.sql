SELECT coalesce(sum(bytes), 0) AS n FROM tiles WHERE lost_at IS NULL AND region IN (SELECT value FROM json_each(:regions))
