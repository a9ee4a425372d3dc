"""Finds published runs, and downloads and verifies their messages."""

__all__ = ["download", "errors", "http", "index", "listing", "mirrors", "models"]
