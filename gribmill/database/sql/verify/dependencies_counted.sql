SELECT j.id AS job_id, 'deps_left is ' || j.deps_left || ' with ' || count(p.id) || ' unfinished parents' AS detail
FROM jobs j LEFT JOIN job_dependencies d ON d.job_id = j.id
LEFT JOIN jobs p ON p.id = d.parent_id AND p.status IN ('pending','processing')
WHERE j.status = 'pending' GROUP BY j.id HAVING count(p.id) <> j.deps_left
