"""Synthetic weather, encoded as GRIB2 with its index."""

__all__ = ["forecast", "repacked", "thinned_grid"]
