"""Forecasts in the shape of Open-Meteo's API, for programs that are written for it."""

__all__ = ["routes"]
