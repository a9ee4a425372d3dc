"""Reads tiles as arrays, xarray datasets and point forecasts."""

__all__ = ["dataset", "point", "run_choice", "run_dataset", "tile", "time_zone", "units"]
