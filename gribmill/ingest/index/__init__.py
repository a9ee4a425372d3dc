"""Index files (NOAA's .idx, ECMWF's .index), and which of their entries are wanted."""

__all__ = ["entry", "parse", "sample", "search", "select"]
