"""Tiles as arrays, xarray datasets and point forecasts."""

__all__ = ["dataset", "point", "run_dataset", "tile", "unit_conversion", "units"]
