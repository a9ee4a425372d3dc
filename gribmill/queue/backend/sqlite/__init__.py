"""The queue's database as one SQLite file."""

from gribmill.queue.backend.sqlite.database import SqliteDatabase

__all__ = ["SqliteDatabase", "check_backup", "statements"]
