"""Parses index files (NOAA's .idx, ECMWF's .index) and selects the wanted entries."""

__all__ = ["entry", "parse", "sample", "search", "select"]
