"""Views of data: GRIB files, tiles, point forecasts and regions."""

__all__ = ["area", "grib", "point", "region", "run", "tile"]
