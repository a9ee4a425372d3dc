"""The queue's database as one SQLite file."""

from gribmill.queue.sqlite.database import SqliteDatabase

__all__ = ["SqliteDatabase"]
