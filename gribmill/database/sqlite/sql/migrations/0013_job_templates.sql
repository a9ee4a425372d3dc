-- A template is a named set of arguments and options on top of a definition. NULL as an option: that of the type.
CREATE TABLE job_templates (
  id INTEGER PRIMARY KEY AUTOINCREMENT,             -- never reused: jobs keep it after the template is removed
  tenant_id TEXT NOT NULL DEFAULT 'global',
  name TEXT NOT NULL,
  definition_key TEXT NOT NULL REFERENCES job_definitions(key) ON DELETE RESTRICT,
  description TEXT NOT NULL DEFAULT '',
  args TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(args)),
  priority INTEGER NOT NULL DEFAULT 0,
  timeout_seconds INTEGER CHECK (timeout_seconds > 0),
  max_attempts INTEGER CHECK (max_attempts > 0),
  dedupe_key TEXT,
  created_by TEXT,
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
  updated_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
);
CREATE UNIQUE INDEX job_templates_name ON job_templates (tenant_id, name);

ALTER TABLE jobs ADD COLUMN template_id INTEGER;    -- the template that it was made from, also after that is removed
CREATE INDEX jobs_template ON jobs (template_id, id) WHERE template_id IS NOT NULL;
ALTER TABLE job_triggers ADD COLUMN template_id INTEGER REFERENCES job_templates(id) ON DELETE RESTRICT;
ALTER TABLE job_triggers ADD COLUMN uses_template_priority INTEGER NOT NULL DEFAULT 0;

-- The arguments of a job are the snapshot of every run of it: they stay as they are from its first run on.
DROP TRIGGER jobs_keep_arguments;
CREATE TRIGGER jobs_keep_arguments BEFORE UPDATE OF type, args, created_at, tenant_id, template_id ON jobs
  WHEN (OLD.status <> 'pending' OR OLD.attempt_no > 0) AND (OLD.type IS NOT NEW.type OR OLD.args IS NOT NEW.args
    OR OLD.created_at IS NOT NEW.created_at OR OLD.tenant_id IS NOT NEW.tenant_id
    OR OLD.template_id IS NOT NEW.template_id) BEGIN
  SELECT RAISE(ABORT, 'type, args, created_at, tenant_id and template_id of a job cannot be changed after it has started');
END;

DROP VIEW job_runs;
CREATE VIEW job_runs AS SELECT a.job_id || '-' || a.attempt_no AS run_id, a.job_id, a.attempt_no,
  CASE a.status WHEN 'succeeded' THEN 'COMPLETED' WHEN 'running' THEN 'RUNNING' WHEN 'cancelled' THEN 'CANCELLED'
    WHEN 'skipped' THEN 'SKIPPED' WHEN 'snoozed' THEN 'SKIPPED' ELSE 'FAILED' END AS status,
  j.template_id, j.args AS params_snapshot, a.worker_id, a.started_at, a.finished_at, a.exit_code,
  a.error_text AS error, a.artifacts, a.log_path
FROM job_attempts a JOIN jobs j ON j.id = a.job_id;
