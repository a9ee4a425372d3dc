"""SQLite's own verbs."""

__all__ = ["claims", "enqueue", "holds"]
