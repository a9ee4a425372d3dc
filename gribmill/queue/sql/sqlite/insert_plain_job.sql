-- No parents, no delay, no key to be equal by. What is left out has defaults: binding a NULL costs as much as a value.
INSERT INTO jobs (created_at, type, priority, max_attempts, tenant_id, source, source_ref, correlation_id, created_by,
                  args, group_key)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
