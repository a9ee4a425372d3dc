"""gribmill grinds NOAA and ECMWF GRIB into small per-region NPZ tiles."""

__version__ = "0.1.0"
