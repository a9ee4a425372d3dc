-- A tile that was built since the check is not lost.
UPDATE tiles SET lost_at = coalesce(lost_at, :now)
WHERE model_id = :model_id AND run_id = :run_id AND hour = :hour AND built_at <= :seen_at
  AND region IN (SELECT value FROM json_each(:regions))
