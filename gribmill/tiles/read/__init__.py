"""Tiles as arrays, xarray datasets and point forecasts."""

__all__ = ["dataset", "point", "run_dataset", "runs_dataset", "tile", "time_zone", "units"]
