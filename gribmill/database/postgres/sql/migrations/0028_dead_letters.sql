-- Dead letters are counted for every summary.
CREATE INDEX jobs_dead ON jobs (tenant_id, id) WHERE status = 'failed' AND dead_lettered_at IS NOT NULL;
