"""The native kernel: GRIB2 decoding and array encoding in C. The package works without it, more slowly."""

__all__ = ["native"]
