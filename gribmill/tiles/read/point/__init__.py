"""Point forecasts."""

__all__ = ["daily", "join_runs", "kept_tiles", "locate", "places", "point", "sample", "series"]
