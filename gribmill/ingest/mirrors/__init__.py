"""Upstream mirrors and their hosts."""

__all__ = ["mirror"]
