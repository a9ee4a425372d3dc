"""Finds published runs, and downloads and verifies their messages."""

__all__ = ["circuit_breaker", "download", "errors", "http", "index", "listing", "mirrors", "models"]
