-- Dead letters are counted for every summary. The index has every column of that statement: it reads no row.
CREATE INDEX jobs_dead ON jobs (tenant_id, status, dead_lettered_at)
  WHERE status = 'failed' AND dead_lettered_at IS NOT NULL;
