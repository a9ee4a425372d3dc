-- The pending jobs of a group that wait, or waited, on a job.
SELECT j.id FROM job_dependencies d JOIN jobs j ON j.id = d.job_id
WHERE d.parent_id = :job_id AND j.status = 'pending' AND j.group_id = :group_id
