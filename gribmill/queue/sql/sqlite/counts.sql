SELECT type, status, n FROM job_counts WHERE n > 0 ORDER BY type, status
