"""Dataclasses from untrusted tables: every value is checked against its annotation.

In place of pydantic where a command must start fast: `point`, `status`, and whatever reads settings, models or tiles.
"""

__all__ = ["constraints", "describe", "plain", "problem", "read"]
