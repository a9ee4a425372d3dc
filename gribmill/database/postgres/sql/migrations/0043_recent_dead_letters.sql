-- With the time, so that the dead letters of the last day are found among all of them without reading their rows.
DROP INDEX jobs_dead;
CREATE INDEX jobs_dead ON jobs (tenant_id, id) INCLUDE (dead_lettered_at)
  WHERE status = 'failed' AND dead_lettered_at IS NOT NULL;
