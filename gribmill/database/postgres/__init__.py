"""The queue's database in PostgreSQL."""

from gribmill.database.postgres.database import PostgresDatabase

__all__ = ["PostgresDatabase", "move_side", "status"]
