"""GRIB in, tiles out."""

__all__ = ["build", "check", "errors", "format", "read"]
