"""Product definitions of both editions: parameter, level, times, ensemble member."""

__all__ = ["grib1", "grib2", "keys", "levels"]
