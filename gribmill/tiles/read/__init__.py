"""Tiles as arrays, xarray datasets and point forecasts."""
