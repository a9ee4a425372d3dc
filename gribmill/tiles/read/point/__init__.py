"""Point forecasts."""

__all__ = ["daily", "join_runs", "kept_tiles", "place", "point", "sample", "series"]
