-- G8: the jobs that one slot of one schedule has created.
SELECT min(id) AS job_id, source_ref || ' has made ' || count(*) || ' jobs' AS detail FROM jobs
WHERE source = 'schedule' AND source_ref LIKE 'trigger %' GROUP BY source_ref HAVING count(*) > 1
