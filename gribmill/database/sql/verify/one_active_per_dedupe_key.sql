SELECT min(id) AS job_id, count(*) || ' active jobs of ' || tenant_id || ' share ' || dedupe_key AS detail FROM jobs
WHERE dedupe_key IS NOT NULL AND status IN ('pending','processing') GROUP BY tenant_id, dedupe_key HAVING count(*) > 1
