"""Point forecasts."""

__all__ = ["daily", "join_runs", "kept_tiles", "place", "point", "point_table", "sample", "series"]
