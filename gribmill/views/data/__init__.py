"""What files contain: GRIB messages, tiles, points, regions."""

__all__ = ["area", "grib", "point", "region", "run", "tile"]
