"""GRIB in, tiles out."""
