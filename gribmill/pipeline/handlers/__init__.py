"""The handlers: one file per job type, and what they share. Executors import them by name."""

__all__ = ["spooled_hour"]
