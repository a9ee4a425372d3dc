"""Reads tiles as arrays, xarray datasets and point forecasts."""

__all__ = ["converted", "dataset", "point", "run_choice", "run_dataset", "runs_dataset", "tile", "time_zone", "units"]
