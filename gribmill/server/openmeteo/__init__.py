"""Forecasts in the format of Open-Meteo's API, for programs written for it."""

__all__ = ["routes"]
