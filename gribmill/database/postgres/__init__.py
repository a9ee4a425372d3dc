"""The queue's database in PostgreSQL."""

from gribmill.database.postgres.database import PostgresDatabase as PostgresDatabase

__all__: list[str] = []
