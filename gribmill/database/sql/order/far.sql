-- Priorities whose positions have grown large, with few enough jobs to renumber at once.
SELECT priority FROM jobs INDEXED BY jobs_moved WHERE status = 'pending' AND position <> 0
GROUP BY priority HAVING max(abs(position)) > :farthest AND count(*) <= :most
