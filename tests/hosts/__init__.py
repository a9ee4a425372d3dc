"""gribmill on several hosts: one PostgreSQL, one object store, workers with addresses of their own."""
