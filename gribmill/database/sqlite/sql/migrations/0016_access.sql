-- Who may use the server: tokens, and the console's sessions. Of secrets only SHA-256 digests are stored.
CREATE TABLE access_tokens (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('super_admin','tenant_admin','tenant_viewer','worker')),
  tenant_id TEXT REFERENCES tenants(name) ON DELETE CASCADE,  -- NULL: every tenant
  scopes TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(scopes)),  -- JSON list; empty: all that the role may
  secret_hash TEXT NOT NULL,
  created_by TEXT,
  created_at TEXT NOT NULL,
  expires_at TEXT,
  last_used_at TEXT,
  revoked_at TEXT,
  CHECK ((role IN ('tenant_admin','tenant_viewer')) = (tenant_id IS NOT NULL) OR role = 'worker')
) WITHOUT ROWID;
CREATE TABLE access_sessions (
  id_hash TEXT PRIMARY KEY,
  token_id TEXT NOT NULL REFERENCES access_tokens(id) ON DELETE CASCADE,
  address TEXT NOT NULL DEFAULT '',
  created_at TEXT NOT NULL,
  last_used_at TEXT NOT NULL,
  ended_at TEXT
) WITHOUT ROWID;
CREATE INDEX access_sessions_token ON access_sessions (token_id);

-- Every change that somebody made through the server, and of tokens by command. Never pruned with jobs.
CREATE TABLE audit_entries (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  created_at TEXT NOT NULL,
  actor TEXT NOT NULL,
  token_id TEXT,
  tenant_id TEXT,                            -- of what was changed; NULL: it belongs to no tenant
  operation TEXT NOT NULL,
  object TEXT,
  address TEXT NOT NULL DEFAULT '',
  status INTEGER,                            -- HTTP status; NULL: the server ended before it knew
  before TEXT CHECK (before IS NULL OR json_valid(before)),
  after TEXT CHECK (after IS NULL OR json_valid(after))
);
CREATE INDEX audit_entries_tenant ON audit_entries (tenant_id, id);
CREATE TRIGGER audit_entries_stay BEFORE UPDATE ON audit_entries WHEN OLD.status IS NOT NULL BEGIN
  SELECT RAISE(ABORT, 'an entry of the audit trail cannot be changed');
END;

-- The answers to requests with an Idempotency-Key, so that a repeated one is not done twice.
CREATE TABLE idempotency_keys (
  actor TEXT NOT NULL,
  key TEXT NOT NULL,
  operation TEXT NOT NULL,
  request_hash TEXT NOT NULL,
  status INTEGER,                            -- NULL: being done
  body TEXT,
  created_at TEXT NOT NULL,
  PRIMARY KEY (actor, key)
) WITHOUT ROWID;
CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at);
