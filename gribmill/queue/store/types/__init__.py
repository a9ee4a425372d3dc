"""Job types: what the code declares, what operators define, and what is in force."""

__all__ = ["activity", "definitions", "known_types", "templates", "types"]
