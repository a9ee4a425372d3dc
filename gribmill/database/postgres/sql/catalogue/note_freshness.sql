INSERT INTO freshness (model_id, region, state, cause, since, stale_at)
VALUES (:model_id, :region, :state, :cause, :now, CASE WHEN :state = 'stale' THEN :now::timestamptz END)
ON CONFLICT (model_id, region) DO UPDATE SET
  since = CASE WHEN freshness.state = excluded.state THEN freshness.since ELSE excluded.since END,
  stale_at = CASE excluded.state WHEN 'ok' THEN NULL ELSE coalesce(freshness.stale_at, excluded.stale_at) END,
  state = excluded.state, cause = excluded.cause
