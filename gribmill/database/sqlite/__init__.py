"""The queue's database as one SQLite file."""

from gribmill.database.sqlite.database import SqliteDatabase

__all__ = ["SqliteDatabase", "move_side", "status"]
