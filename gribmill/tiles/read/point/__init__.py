"""The forecast at a place."""

__all__ = ["daily", "places", "point", "sample", "series"]
