"""Finds published runs, and downloads and verifies their messages."""

__all__ = ["available_hours", "download", "errors", "http", "index", "mirror", "models"]
