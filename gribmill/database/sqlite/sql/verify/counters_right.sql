SELECT NULL AS job_id, type || ' ' || status || ': counted ' || sum(counted) || ', there are ' || sum(real) AS detail
FROM (SELECT type, status, n AS counted, 0 AS real FROM job_counts
      UNION ALL SELECT type, status, 0, count(*) FROM jobs
      WHERE status IN ('completed','failed','cancelled') GROUP BY type, status)
GROUP BY type, status HAVING sum(counted) <> sum(real)
