"""The forecast at a place."""

__all__ = ["daily", "kept_tiles", "locate", "places", "point", "sample", "series"]
