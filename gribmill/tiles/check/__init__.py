"""Verifies and compares tiles."""

__all__ = ["diff", "verify"]
