"""Synthetic weather, encoded as GRIB2 with its index."""
