-- The locks of a claim that promotes nothing: of one job, or of further siblings. See `claims/prepare`.
SELECT
  -- include claims/parts/locks
