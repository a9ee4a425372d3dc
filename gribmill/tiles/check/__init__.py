"""Verify tiles and compare them."""

__all__ = ["diff", "verify"]
