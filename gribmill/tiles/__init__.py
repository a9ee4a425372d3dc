"""GRIB in, tiles out."""

__all__ = ["build", "check", "format", "read"]
