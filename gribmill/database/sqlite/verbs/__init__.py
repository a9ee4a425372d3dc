"""The verbs that SQLite has in its own way."""

__all__ = ["claims", "enqueue", "holds"]
