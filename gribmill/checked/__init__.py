"""Reads dataclasses from untrusted tables: every value is checked against its annotation.

Replaces pydantic where a command must start fast: `point`, `status`, and all that read settings, models or tiles.
"""

__all__ = ["constraints", "table"]
