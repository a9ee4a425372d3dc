"""Job types: declared in code, added or tuned by operators, and as they are in effect."""

__all__ = ["activity", "definitions", "templates", "types"]
