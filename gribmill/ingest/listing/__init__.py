"""Finds the hours of a run that a mirror has."""

__all__ = ["available_hours"]
