"""Fuzzing of the native kernel: damaged GRIB sections, arbitrary values, arbitrary deflate streams."""
