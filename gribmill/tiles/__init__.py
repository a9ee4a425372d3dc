"""Builds, reads and checks tiles."""

__all__ = ["build", "check", "errors", "format", "read"]
