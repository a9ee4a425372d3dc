-- The types of which a job may start.
SELECT open.key FROM (
  -- include claims/parts/open
) AS open
