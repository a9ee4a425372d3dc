"""What files contain: GRIB messages, tiles, points, regions."""

__all__ = ["grib", "point", "region", "tile"]
