"""Synthetic weather, encoded as GRIB2 with its index."""

__all__ = ["forecast", "grid_keys", "repacked"]
