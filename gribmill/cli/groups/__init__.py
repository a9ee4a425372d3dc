"""`gribmill groups`."""

__all__ = ["name"]
