"""gribmill on several hosts: one PostgreSQL, one object store, and workers with their own addresses."""
