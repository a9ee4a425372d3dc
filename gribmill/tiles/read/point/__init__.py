"""The forecast at a place."""

__all__ = ["daily", "join_runs", "kept_tiles", "locate", "places", "point", "sample", "series"]
