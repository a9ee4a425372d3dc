-- The job types that may start a job.
SELECT open.key FROM (
  -- include claims/parts/open
    AND d.key = ANY (ARRAY(SELECT json_array_elements_text(:types::json)))
) AS open
